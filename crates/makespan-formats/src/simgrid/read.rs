//! From the document to hosts, links and routes.

use makespan_core::{Link, Platform};
use roxmltree::Node;

use super::SimgridPlatform;
use super::cluster::{cabinet, cluster};
use super::tree::{Place, Route, Zone, flat, joined};
use super::units::{bandwidth, latency, speed};
use crate::error::{self, FormatError};
use crate::ignored::Ignored;
use crate::xml;

/// A problem and the byte at which it stands.
pub(super) type Wrong = (usize, String);

/// The versions of the form: 3 names zones `AS` and speeds `power`.
const VERSIONS: [&str; 5] = ["3", "3.0", "4", "4.0", "4.1"];

/// The name of the host on which Batsim runs its resource manager, unless `--master-host` states another.
pub(super) const MASTER: &str = "master_host";

/// Elements and attributes that change nothing here: what programs note, routing, and places for drawing.
const SILENT: &str = " prop config platform.version zone.id zone.routing AS.id AS.routing host.id host.speed host.power host.core \
    host.pstate host.coordinates router.id router.coordinates link.id link.bandwidth link.latency link.sharing_policy route.src \
    route.dst route.symmetrical link_ctn.id link_ctn.direction zoneRoute.src zoneRoute.dst zoneRoute.gw_src zoneRoute.gw_dst \
    zoneRoute.symmetrical ASroute.src ASroute.dst ASroute.gw_src ASroute.gw_dst ASroute.symmetrical ASRoute.src ASRoute.dst ASRoute.gw_src ASRoute.gw_dst ASRoute.symmetrical cluster.id cluster.prefix \
    cluster.suffix cluster.radical cluster.speed cluster.power cluster.core cluster.bw cluster.lat cluster.bb_bw cluster.bb_lat \
    cluster.router_id cluster.loopback_bw cluster.loopback_lat cluster.sharing_policy cluster.bb_sharing_policy cluster.topology \
    cluster.topo_parameters cabinet.id cabinet.prefix cabinet.suffix cabinet.radical cabinet.speed cabinet.power cabinet.core \
    cabinet.bw cabinet.lat peer.id peer.speed peer.power peer.core peer.bw_in peer.bw_out peer.lat peer.coordinates ";

/// What has been read of a platform.
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

/// Reads a platform file of `SimGrid`: its hosts, and its network where that is a tree; `file` names it in errors.
///
/// # Errors
/// [`FormatError`] with the line: broken XML, a host without speed, or no host.
pub fn read_simgrid(file: &str, text: &str) -> Result<SimgridPlatform, FormatError> {
    let text = xml::prepared(text);
    let document = xml::parse(&text)
        .map_err(|broken| FormatError::content(file, error::Place::line(broken.line), broken.problem))?;
    let line = |at: usize| document.text_pos_at(at).row as usize;
    let wrong = |(at, problem): Wrong| FormatError::content(file, error::Place::line(line(at)), problem);
    let root = document.root_element();
    if root.tag_name().name() != "platform" {
        return Err(wrong((root.range().start, "the file is no `platform` of SimGrid".into())));
    }
    if let Some(version) = root.attribute("version").filter(|version| !VERSIONS.contains(version)) {
        let known = VERSIONS.join(", ");
        let problem = format!("version `{version}` of SimGrid's platforms is not known; read are {known}");
        return Err(wrong((root.range().start, problem)));
    }
    let mut reading = Reading { zone: Zone::default(), lost: None, ignored: Ignored::beside(SILENT) };
    reading.ignored.attributes(root);
    children(root, &mut reading).map_err(wrong)?;
    let Reading { zone, lost, ignored } = reading;
    if zone.places.iter().all(|place| place.processors == 0) {
        return Err(wrong((root.range().start, "the platform has no host that runs jobs".into())));
    }
    zone.unique().map_err(wrong)?;
    let is_joined = zone.has_network();
    let tree = match lost {
        None if is_joined => joined(&zone),
        None => Ok(flat(&zone)),
        Some(lost) => Err(lost),
    };
    let mut remarks: Vec<String> = ignored.remark("the platform").into_iter().collect();
    let (nodes, lost) = match tree {
        Ok(nodes) => (nodes, None),
        Err((at, why)) => {
            let why = format!("line {}: {why}", line(at));
            remarks
                .push(format!("the network of the platform is ignored, since it is no tree that can be read: {why}"));
            (flat(&zone), Some(why))
        }
    };
    let platform = Platform::new(nodes).map_err(|error| wrong((root.range().start, error.to_string())))?;
    Ok(SimgridPlatform { platform, remarks, lost })
}

fn elements<'a, 'input>(node: Node<'a, 'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children().filter(Node::is_element)
}

/// Reads the elements of a platform or a zone, and those of the zones in it.
fn children(zone: Node<'_, '_>, into: &mut Reading) -> Result<(), Wrong> {
    for child in elements(zone) {
        let name = child.tag_name().name();
        match name {
            "zone" | "AS" => children(child, into)?,
            "host" | "peer" => {
                let host = host(child, into)?;
                into.zone.places.push(host);
            }
            "router" => into.zone.places.push(Place::switch(needed(child, "id")?, child.range().start)),
            "cluster" => cluster(child, into)?,
            "cabinet" => cabinet(child, into)?,
            "link" => link(child, into),
            "route" | "zoneRoute" | "ASroute" | "ASRoute" => route(child, into),
            "include" | "random" | "foreach" | "set" => {
                let problem = format!("<{name}> stands for elements that are not in this file; write them out");
                return Err((child.range().start, problem));
            }
            "bypassRoute" | "bypassZoneRoute" | "bypassASroute" | "backbone" | "host_link" => {
                into.lose((child.range().start, format!("<{name}> is not read")));
                continue;
            }
            _ => {
                into.ignored.element(name);
                continue;
            }
        }
        into.ignored.attributes(child);
        if name == "peer" {
            into.lose((child.range().start, "the network of <peer> is not read".into()));
        }
        match name {
            "zone" | "AS" => {}
            "route" | "zoneRoute" | "ASroute" | "ASRoute" => {
                let steps = elements(child).filter(|step| step.tag_name().name() == "link_ctn");
                steps.for_each(|step| into.ignored.attributes(step));
            }
            _ => elements(child).for_each(|inner| into.ignored.element(inner.tag_name().name())),
        }
    }
    Ok(())
}

fn host(node: Node<'_, '_>, into: &mut Reading) -> Result<Place, Wrong> {
    let (speed, cores) = (stated_speed(node, into)?, cores(node)?);
    let processors = if runs_jobs(node) { cores } else { 0 };
    Ok(Place { name: needed(node, "id")?, processors, speed, at: node.range().start })
}

/// Returns whether hosts run jobs: Batsim gives none to hosts with the role `master` or `storage`, and none to `master_host`, its usual
/// master, unless a role is stated.
pub(super) fn runs_jobs(node: Node<'_, '_>) -> bool {
    let is_role = |prop: &Node<'_, '_>| prop.tag_name().name() == "prop" && prop.attribute("id") == Some("role");
    let roles = elements(node).filter(is_role).filter_map(|prop| prop.attribute("value"));
    let roles: Vec<&str> = roles.flat_map(|roles| roles.split(',')).map(str::trim).collect();
    let is_master = node.tag_name().name() == "host" && node.attribute("id") == Some(MASTER) && roles.is_empty();
    !is_master && !roles.iter().any(|role| matches!(*role, "master" | "storage"))
}

/// `speed`, which older files name `power`; of several (one a performance state) that of `pstate`, or the first.
pub(super) fn stated_speed(node: Node<'_, '_>, into: &mut Reading) -> Result<f64, Wrong> {
    let key = match (node.has_attribute("power"), node.has_attribute("speed")) {
        (true, true) => return Err((node.range().start, "it has both `power` and `speed`; write `speed`".into())),
        (true, false) => "power",
        (false, _) => "speed",
    };
    let count = node.attribute(key).map_or(0, |text| text.split(',').count());
    let state =
        node.attribute("pstate").map(|state| (state, state.trim().parse().ok().filter(|&at: &usize| at < count)));
    if let Some((state, None)) = state {
        into.ignored
            .add(format!("`pstate` {state}, which is none of the {count} speeds of <{}>", node.tag_name().name()));
    }
    let state = state.and_then(|(_, at)| at).unwrap_or(0);
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

fn link(node: Node<'_, '_>, into: &mut Reading) {
    let at = node.range().start;
    let read = || {
        let link = Link { bandwidth: figure(node, "bandwidth", bandwidth)?, latency: delay(node, "latency")? };
        shared(node, "sharing_policy")?;
        Ok((needed(node, "id")?, link))
    };
    if let Some((name, link)) = into.network(read())
        && into.zone.links.insert(name.clone(), link).is_some()
    {
        into.lose((at, format!("two links are named `{name}`")));
    }
}

/// Refuses links that several transfers use at full speed, or that slow each other down.
pub(super) fn shared(node: Node<'_, '_>, key: &str) -> Result<(), Wrong> {
    match node.attribute(key) {
        None | Some("SHARED" | "SPLITDUPLEX" | "FULLDUPLEX") => Ok(()),
        Some(policy) => {
            Err((node.range().start, format!("links of policy {policy} are not read; write SHARED or leave it out")))
        }
    }
}

/// A route between hosts or routers, or between zones by their gateways. A host's route to itself is no part of the network.
fn route(node: Node<'_, '_>, into: &mut Reading) {
    let (from, to) = if node.tag_name().name() == "route" { ("src", "dst") } else { ("gw_src", "gw_dst") };
    let read = || {
        let mut links = Vec::new();
        for step in elements(node).filter(|step| step.tag_name().name() != "prop") {
            if step.tag_name().name() != "link_ctn" {
                return Err((step.range().start, format!("<{}> of a route is not read", step.tag_name().name())));
            }
            links.push(needed(step, "id")?);
        }
        Ok(Route { from: needed(node, from)?, to: needed(node, to)?, links, at: node.range().start })
    };
    if let Some(route) = into.network(read())
        && route.from != route.to
    {
        into.zone.routes.push(route);
    }
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
