//! Reads XML elements that declare several hosts: clusters and cabinets.

use makespan_core::Link;
use roxmltree::Node;

use super::reading::{PlatformProblem, PlatformReading, computing, delay, figure, needed, shared};
use super::tree::{HostOrRouter, Route};
use super::units::bandwidth;

/// Maximum number of hosts in one cluster. Without a limit, a few bytes of XML could declare billions of hosts.
const MAX_HOSTS: usize = 100_000;

/// Adds the hosts that an element declares, and returns their names.
fn hosts(node: Node<'_, '_>, into: &mut PlatformReading) -> Result<Vec<String>, PlatformProblem> {
    let at = node.range().start;
    let [prefix, suffix] = ["prefix", "suffix"].map(|key| node.attribute(key).unwrap_or_default());
    let (processors, speed) = computing(node, into)?;
    let numbers = radical(&needed(node, "radical")?).map_err(|problem| (at, problem))?;
    let names: Vec<String> = numbers.into_iter().map(|number| format!("{prefix}{number}{suffix}")).collect();
    into.zone.places.extend(names.iter().map(|name| HostOrRouter { name: name.clone(), processors, speed, at }));
    Ok(names)
}

/// Reads the hosts of a cabinet. The network of the cabinet is ignored, because another element declares its backbone.
pub(super) fn cabinet(node: Node<'_, '_>, into: &mut PlatformReading) -> Result<(), PlatformProblem> {
    into.lose((node.range().start, "the network of <cabinet> is not supported".into()));
    hosts(node, into).map(drop)
}

/// Reads a cluster. All hosts of the cluster are connected to a switch. The switch is connected to the cluster's
/// router if the cluster has a backbone. Otherwise the router itself is the switch. The router is the root, the source
/// of all data.
pub(super) fn cluster(node: Node<'_, '_>, into: &mut PlatformReading) -> Result<(), PlatformProblem> {
    let at = node.range().start;
    let (id, prefix) = (needed(node, "id")?, node.attribute("prefix").unwrap_or_default());
    let suffix = node.attribute("suffix").unwrap_or_default();
    let router = node.attribute("router_id").map_or_else(|| format!("{prefix}{id}_router{suffix}"), String::from);
    let topology = node.attribute("topology").filter(|topology| *topology != "FLAT");
    if let Some(topology) = topology {
        into.lose((at, format!("the topology {topology} of a cluster is not supported")));
    }
    for key in ["sharing_policy", "bb_sharing_policy"] {
        into.network(shared(node, key));
    }
    into.zone.places.push(HostOrRouter::switch(router.clone(), at));
    let one = || Ok(Link { bandwidth: figure(node, "bw", bandwidth)?, latency: delay(node, "lat")? });
    let one = into.network(one());
    let mut above = router.clone();
    let join = |from: &str, to: &str, link: Link, into: &mut PlatformReading| {
        let name = format!("{from} to {to}");
        into.zone.links.insert(name.clone(), link);
        into.zone.routes.push(Route { from: from.into(), to: to.into(), links: vec![name], at });
    };
    if node.has_attribute("bb_bw") {
        let backbone = || Ok(Link { bandwidth: figure(node, "bb_bw", bandwidth)?, latency: delay(node, "bb_lat")? });
        if let Some(backbone) = into.network(backbone()) {
            above = format!("{id}_backbone");
            into.zone.places.push(HostOrRouter::switch(above.clone(), at));
            join(&router, &above, backbone, into);
        }
    }
    for (key, without) in [("bb_lat", "bb_bw"), ("topo_parameters", "topology")] {
        if node.has_attribute(key) && !node.has_attribute(without) {
            into.ignored.add(format!("`{key}` without `{without}` of <cluster>"));
        }
    }
    for name in hosts(node, into)? {
        if let Some(one) = one {
            join(&above, &name, one, into);
        }
    }
    Ok(())
}

/// Returns the numbers in an attribute such as `0-3,8`. Semicolons are treated as commas, because a few files contain
/// them.
fn radical(text: &str) -> Result<Vec<u32>, String> {
    let wrong = || format!("`{text}` is not a radical (a list of numbers); write numbers such as 0-99,120");
    let mut numbers = Vec::new();
    for part in text.split([',', ';']) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
        let (first, last) = (number(first)?, number(last)?);
        if last < first {
            return Err(wrong());
        }
        if (last - first) as usize >= MAX_HOSTS - numbers.len() {
            return Err(format!("the radical `{text}` declares more than {MAX_HOSTS} hosts, the maximum"));
        }
        numbers.extend(first..=last);
    }
    Ok(numbers)
}
