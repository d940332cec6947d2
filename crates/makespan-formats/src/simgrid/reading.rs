//! State of the reader of a platform, and functions for attributes that several elements have.

use roxmltree::Node;

use super::tree::PlatformZones;
use super::units::{latency, speed};
use crate::ignored::Ignored;

/// A problem, with its byte offset in the file.
pub(super) type PlatformProblem = (usize, String);

/// Name of the host on which Batsim runs its resource manager by default (without its option `--master-host`).
pub(super) const MASTER: &str = "master_host";
/// Values of the attribute `radical` that declare a single host, with the number 0. A cluster or cabinet for the
/// resource manager has one of these values and the prefix `master_host`. So its only host is `master_host0`.
const ONE: [&str; 2] = ["0", "0-0"];

/// Elements and attributes that need no warning, because they are read elsewhere, are comments, or affect only routing
/// or drawing.
pub(super) const SILENT: &str = " prop config platform.version zone.id zone.routing AS.id AS.routing host.id host.speed host.power host.core \
    host.pstate host.coordinates router.id router.coordinates link.id link.bandwidth link.latency link.sharing_policy route.src \
    route.dst route.symmetrical link_ctn.id link_ctn.direction zoneRoute.src zoneRoute.dst zoneRoute.gw_src zoneRoute.gw_dst \
    zoneRoute.symmetrical ASroute.src ASroute.dst ASroute.gw_src ASroute.gw_dst ASroute.symmetrical ASRoute.src ASRoute.dst ASRoute.gw_src ASRoute.gw_dst ASRoute.symmetrical cluster.id cluster.prefix \
    cluster.suffix cluster.radical cluster.speed cluster.power cluster.core cluster.bw cluster.lat cluster.bb_bw cluster.bb_lat \
    cluster.router_id cluster.loopback_bw cluster.loopback_lat cluster.sharing_policy cluster.bb_sharing_policy cluster.topology \
    cluster.topo_parameters cabinet.id cabinet.prefix cabinet.suffix cabinet.radical cabinet.speed cabinet.power cabinet.core \
    cabinet.bw cabinet.lat peer.id peer.speed peer.power peer.core peer.bw_in peer.bw_out peer.lat peer.coordinates ";

/// Content of a platform that has been read so far.
pub(super) struct PlatformReading {
    pub zone: PlatformZones,
    /// Reason why the network cannot be read, or `None` if no problem has been found so far.
    pub lost: Option<PlatformProblem>,
    pub ignored: Ignored,
}

impl PlatformReading {
    /// Records why the network cannot be read. Only the first reason is kept.
    pub(super) fn lose(&mut self, wrong: PlatformProblem) {
        self.lost.get_or_insert(wrong);
    }

    /// Converts the result of reading a part of the network. If `value` is an error, returns `None` and records that
    /// the network cannot be read.
    pub(super) fn network<T>(&mut self, value: Result<T, PlatformProblem>) -> Option<T> {
        value.map_err(|wrong| self.lose(wrong)).ok()
    }
}

pub(super) fn elements<'a, 'input>(node: Node<'a, 'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children().filter(Node::is_element)
}

/// Returns whether Batsim runs jobs on the hosts that an element declares. Batsim runs no jobs on hosts with the role
/// `master` or `storage`. If hosts have no role, Batsim runs no jobs on `master_host`. If `master_host0` is the only
/// host of a cluster or cabinet, Batsim runs no jobs on it either.
fn runs_jobs(node: Node<'_, '_>) -> bool {
    let is_role = |prop: &Node<'_, '_>| prop.tag_name().name() == "prop" && prop.attribute("id") == Some("role");
    let roles = elements(node).filter(is_role).filter_map(|prop| prop.attribute("value"));
    let roles: Vec<&str> = roles.flat_map(|roles| roles.split(',')).map(str::trim).collect();
    let has = |key: &str| node.attribute(key).unwrap_or_default();
    let is_usual_master = match node.tag_name().name() {
        "host" => has("id") == MASTER,
        _ => has("prefix") == MASTER && has("suffix").is_empty() && ONE.contains(&has("radical").trim()),
    };
    let is_master = is_usual_master && roles.is_empty();
    !is_master && !roles.iter().any(|role| matches!(*role, "master" | "storage"))
}

/// Returns the number of processors and the speed of each host that an element declares. Hosts of speed 0, such as
/// batteries, run no jobs and are counted as ignored elements.
pub(super) fn computing(node: Node<'_, '_>, into: &mut PlatformReading) -> Result<(u32, f64), PlatformProblem> {
    let (speed, cores) = (stated_speed(node, into)?, cores(node)?);
    if speed == 0.0 {
        into.ignored.add(format!("a speed of <{}> is 0, so its processors run no jobs", node.tag_name().name()));
        return Ok((0, 1.0));
    }
    Ok((if runs_jobs(node) { cores } else { 0 }, speed))
}

/// Returns the speed in the attribute `speed`, or in the attribute `power` of older files. If the attribute lists one
/// speed per performance state, `pstate` selects one of these speeds, by default the first.
fn stated_speed(node: Node<'_, '_>, into: &mut PlatformReading) -> Result<f64, PlatformProblem> {
    let key = match (node.has_attribute("power"), node.has_attribute("speed")) {
        (true, true) => return Err((node.range().start, "`power` and `speed` are both stated; remove `power`".into())),
        (true, false) => "power",
        (false, _) => "speed",
    };
    let count = node.attribute(key).map_or(0, |text| text.split(',').count());
    let state =
        node.attribute("pstate").map(|state| (state, state.trim().parse().ok().filter(|&at: &usize| at < count)));
    if let Some((state, None)) = state {
        into.ignored.add(format!(
            "`pstate` is {state}, but <{}> has only {count} speeds (numbered from 0)",
            node.tag_name().name()
        ));
    }
    let state = state.and_then(|(_, at)| at).unwrap_or(0);
    figure(node, key, |text| speed(text.split(',').nth(state).unwrap_or(text)))
}

fn cores(node: Node<'_, '_>) -> Result<u32, PlatformProblem> {
    let text = node.attribute("core").unwrap_or("1");
    text.trim()
        .parse()
        .ok()
        .filter(|&cores: &u32| cores > 0)
        .ok_or_else(|| (node.range().start, format!("`{text}` is not a number of cores; write a whole number from 1")))
}

/// Refuses links with an unsupported sharing policy, such as `FATPIPE` (transfers do not share the bandwidth) or `WIFI`
/// (transfers slow each other down).
pub(super) fn shared(node: Node<'_, '_>, key: &str) -> Result<(), PlatformProblem> {
    match node.attribute(key) {
        None | Some("SHARED" | "SPLITDUPLEX" | "FULLDUPLEX") => Ok(()),
        Some(policy) => Err((
            node.range().start,
            format!("links with the sharing policy {policy} are not supported; write SHARED or omit the attribute"),
        )),
    }
}

pub(super) fn needed(node: Node<'_, '_>, key: &str) -> Result<String, PlatformProblem> {
    let missing = || (node.range().start, format!("`{}` lacks the attribute `{key}`", node.tag_name().name()));
    node.attribute(key).map(String::from).ok_or_else(missing)
}

pub(super) fn figure<T>(
    node: Node<'_, '_>,
    key: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<T, PlatformProblem> {
    read(&needed(node, key)?).map_err(|problem| (node.range().start, problem))
}

pub(super) fn delay(node: Node<'_, '_>, key: &str) -> Result<makespan_core::Time, PlatformProblem> {
    latency(node.attribute(key).unwrap_or("0")).map_err(|problem| (node.range().start, problem))
}
