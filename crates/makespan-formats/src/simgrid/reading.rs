//! The state of a reading, and the attributes that several elements have.

use std::collections::BTreeMap;

use roxmltree::Node;

use super::tree::Zone;
use super::units::{latency, speed};

/// A problem and the byte at which it stands.
pub(super) type Wrong = (usize, String);

/// Elements and attributes that change nothing here: what programs note, routing, and places for drawing.
const SILENT: &str = " prop config platform.version zone.id zone.routing AS.id AS.routing host.id host.speed host.power host.core \
    host.pstate host.coordinates router.id router.coordinates link.id link.bandwidth link.latency link.sharing_policy route.src \
    route.dst route.symmetrical link_ctn.id link_ctn.direction zoneRoute.src zoneRoute.dst zoneRoute.gw_src zoneRoute.gw_dst \
    zoneRoute.symmetrical ASroute.src ASroute.dst ASroute.gw_src ASroute.gw_dst ASroute.symmetrical ASRoute.src ASRoute.dst ASRoute.gw_src ASRoute.gw_dst ASRoute.symmetrical cluster.id cluster.prefix \
    cluster.suffix cluster.radical cluster.speed cluster.power cluster.core cluster.bw cluster.lat cluster.bb_bw cluster.bb_lat \
    cluster.router_id cluster.loopback_bw cluster.loopback_lat cluster.sharing_policy cluster.bb_sharing_policy cluster.topology \
    cluster.topo_parameters cabinet.id cabinet.prefix cabinet.suffix cabinet.radical cabinet.speed cabinet.power cabinet.core \
    cabinet.bw cabinet.lat peer.id peer.speed peer.power peer.core peer.bw_in peer.bw_out peer.lat peer.coordinates ";

/// Elements and attributes that are ignored, with their numbers.
#[derive(Default)]
pub(super) struct Ignored(BTreeMap<String, usize>);

impl Ignored {
    pub(super) fn element(&mut self, name: &str) {
        if !SILENT.contains(&format!(" {name} ")) {
            *self.0.entry(format!("<{name}>")).or_default() += 1;
        }
    }

    /// Counts the attributes of an element that are not read.
    pub(super) fn attributes(&mut self, node: Node<'_, '_>) {
        let element = node.tag_name().name();
        for attribute in node.attributes() {
            let name = format!("{element}.{}", attribute.name());
            if !SILENT.contains(&format!(" {name} ")) {
                *self.0.entry(format!("`{}` of <{element}>", attribute.name())).or_default() += 1;
            }
        }
    }

    pub(super) fn remark(&self) -> Option<String> {
        let names: Vec<String> = self.0.iter().map(|(name, count)| format!("{name} ({count})")).collect();
        (!names.is_empty())
            .then(|| format!("elements and attributes of the platform are ignored: {}", names.join(", ")))
    }
}

/// What has been read of a platform.
#[derive(Default)]
pub(super) struct Reading {
    pub zone: Zone,
    /// Why the network cannot be read, if so.
    pub lost: Option<Wrong>,
    pub ignored: Ignored,
}

impl Reading {
    /// Notes that the network cannot be read; the first reason counts.
    pub(super) fn lose(&mut self, wrong: Wrong) {
        self.lost.get_or_insert(wrong);
    }

    /// A value of the network, unless it cannot be read.
    pub(super) fn network<T>(&mut self, value: Result<T, Wrong>) -> Option<T> {
        value.map_err(|wrong| self.lose(wrong)).ok()
    }
}

pub(super) fn elements<'a, 'input>(node: Node<'a, 'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children().filter(Node::is_element)
}

/// Whether a host runs jobs: Batsim gives none to hosts with the role `master` or `storage`.
pub(super) fn runs_jobs(node: Node<'_, '_>) -> bool {
    let is_role = |prop: &Node<'_, '_>| prop.tag_name().name() == "prop" && prop.attribute("id") == Some("role");
    let roles = elements(node).filter(is_role).filter_map(|prop| prop.attribute("value"));
    !roles.flat_map(|roles| roles.split(',')).any(|role| matches!(role.trim(), "master" | "storage"))
}

/// `speed`, which older files name `power`; of several (one a performance state) that of `pstate`, or the first.
pub(super) fn stated_speed(node: Node<'_, '_>) -> Result<f64, Wrong> {
    let key = match (node.has_attribute("power"), node.has_attribute("speed")) {
        (true, true) => return Err((node.range().start, "it has both `power` and `speed`; write `speed`".into())),
        (true, false) => "power",
        (false, _) => "speed",
    };
    let state = node.attribute("pstate").and_then(|state| state.trim().parse().ok()).unwrap_or(0);
    figure(node, key, |text| speed(text.split(',').nth(state).unwrap_or(text)))
}

pub(super) fn cores(node: Node<'_, '_>) -> Result<u32, Wrong> {
    let text = node.attribute("core").unwrap_or("1");
    text.trim()
        .parse()
        .ok()
        .filter(|&cores: &u32| cores > 0)
        .ok_or_else(|| (node.range().start, format!("`{text}` is not a number of cores; write a whole number from 1")))
}

pub(super) fn needed(node: Node<'_, '_>, key: &str) -> Result<String, Wrong> {
    let missing = || (node.range().start, format!("`{}` lacks the attribute `{key}`", node.tag_name().name()));
    node.attribute(key).map(String::from).ok_or_else(missing)
}

pub(super) fn figure<T>(node: Node<'_, '_>, key: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<T, Wrong> {
    read(&needed(node, key)?).map_err(|problem| (node.range().start, problem))
}

pub(super) fn delay(node: Node<'_, '_>, key: &str) -> Result<makespan_core::Time, Wrong> {
    latency(node.attribute(key).unwrap_or("0")).map_err(|problem| (node.range().start, problem))
}
