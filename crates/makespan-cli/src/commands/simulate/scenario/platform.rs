//! Changes the number of nodes of a platform.

use makespan_core::{Link, Node, Platform, Site, counted};

use super::parse::Amount;

/// Returns the number of nodes that have processors.
fn computing(platform: &Platform) -> u32 {
    platform.nodes().iter().filter(|node| node.processors > 0).count() as u32
}

/// Returns the number of additional nodes, or `None` if no nodes are added.
pub fn more_nodes(platform: &Platform, amount: Amount) -> Option<u32> {
    match amount {
        Amount::All(all) => all.checked_sub(computing(platform)).filter(|&more| more > 0),
        Amount::More(more) => Some(more),
        Amount::Fewer(_) => None,
    }
}

/// Returns true if the platform has only one node. A log that does not state its nodes has such a platform.
fn is_one_node(platform: &Platform) -> bool {
    computing(platform) == 1 && platform.node_count() == 1
}

/// Applies a change to a number, of which at least 1 must remain.
fn changed(before: u32, amount: Amount, what: &str) -> Result<u32, String> {
    let after = match amount {
        Amount::All(all) => Some(all),
        Amount::More(more) => before.checked_add(more),
        Amount::Fewer(fewer) => before.checked_sub(fewer).filter(|&left| left > 0),
    };
    after.ok_or_else(|| format!("the platform has only {}; at least one must remain", counted(before, what)))
}

/// Returns the platform with another number of nodes. New nodes are copies of the last node and belong to its
/// partitions. Nodes are removed from the end, and nodes of reservations after all others.
///
/// # Errors
/// The platform has only one node, so a node has no known size, or its nodes form a tree.
pub fn resized(platform: &Platform, amount: Amount) -> Result<Platform, String> {
    if is_one_node(platform) {
        return Err(format!(
            "the size of a node is unknown, because all {} belong to one node; write `processors=` instead of `nodes=`, or name a --platform \
             with several nodes",
            counted(platform.processors(), "processor")
        ));
    }
    let before = computing(platform);
    let after = changed(before, amount, "node")?;
    if platform.is_tree() {
        return Err(
            "the nodes form a tree, and additional nodes have no known position in the tree; name a --platform".into(),
        );
    }
    let mut nodes = platform.nodes().to_vec();
    let mut site = platform.site().cloned();
    resize(&mut nodes, site.as_mut(), before, after);
    rebuilt(platform, nodes, site, platform.interconnect()).map_err(|error| error.to_string())
}

/// Returns the platform with another number of processors.
///
/// # Errors
/// The platform has several nodes.
pub fn with_processors(platform: &Platform, amount: Amount) -> Result<Platform, String> {
    if !is_one_node(platform) {
        return Err(format!(
            "the platform has {}; write `nodes=` instead of `processors=`",
            counted(computing(platform), "node")
        ));
    }
    let mut nodes = platform.nodes().to_vec();
    nodes[0].processors = changed(platform.processors(), amount, "processor")?;
    rebuilt(platform, nodes, platform.site().cloned(), platform.interconnect()).map_err(|error| error.to_string())
}

fn resize(nodes: &mut Vec<Node>, mut site: Option<&mut Site>, before: u32, after: u32) {
    for _ in after..before {
        // Reserved nodes are removed last, because reservations state their nodes by name.
        let kept: Vec<usize> =
            site.iter().flat_map(|site| &site.reservations).flat_map(|one| one.nodes.iter().copied()).collect();
        let last = |is_free: bool| {
            let mut from_end = (0..nodes.len()).rev();
            from_end.find(|at| nodes[*at].processors > 0 && !(is_free && kept.contains(at)))
        };
        let Some(last) = last(true).or_else(|| last(false)) else { return };
        nodes.remove(last);
        if let Some(site) = site.as_deref_mut() {
            let lists = site.partitions.iter_mut().map(|one| &mut one.nodes);
            for list in lists.chain(site.reservations.iter_mut().map(|one| &mut one.nodes)) {
                list.retain(|&node| node != last);
                list.iter_mut().filter(|node| **node > last).for_each(|node| *node -= 1);
            }
            site.partitions.retain(|one| !one.nodes.is_empty());
            site.reservations.retain(|one| !one.nodes.is_empty());
            if last < site.features.len() {
                site.features.remove(last);
            }
            if last < site.places.len() {
                site.places.remove(last);
            }
        }
    }
    let Some(last) = nodes.iter().rposition(|node| node.processors > 0) else { return };
    let mut number = 0;
    for _ in before..after {
        let at = nodes.len();
        let name = loop {
            number += 1;
            let name = format!("new{number}");
            if nodes.iter().all(|node| node.name != name) {
                break name;
            }
        };
        let new = Node { name, ..nodes[last].clone() };
        nodes.push(new);
        if let Some(site) = site.as_deref_mut() {
            site.partitions.iter_mut().filter(|one| one.nodes.contains(&last)).for_each(|one| one.nodes.push(at));
            if let Some(features) = site.features.get(last).cloned() {
                site.features.resize(at, Vec::new());
                site.features.push(features);
            }
        }
    }
}

fn rebuilt(
    platform: &Platform,
    nodes: Vec<Node>,
    site: Option<Site>,
    link: Option<Link>,
) -> Result<Platform, Box<dyn std::error::Error>> {
    let mut new = Platform::new(nodes)?.with_licences(platform.licences().clone())?;
    new = new.with_consumables(platform.consumables().clone())?;
    if let Some(link) = link {
        new = new.with_interconnect(link)?;
    }
    if platform.has_local_transfers() {
        new = new.with_local_transfers();
    }
    if platform.is_compact() {
        new = new.requiring_compact();
    }
    Ok(match site {
        Some(site) => new.with_site(site)?,
        None => new,
    })
}

#[cfg(test)]
mod tests {
    use makespan_core::{Partition, Resources, SiteReservation, Time};

    use super::*;

    #[test]
    fn nodes_come_and_go_with_what_they_have() {
        let memory = Resources::new([("memory", 64)]).unwrap();
        let platform = Platform::cluster(3, 4).unwrap().with_node_resources(&memory).unwrap();
        let site = Site {
            partitions: vec![Partition::new("all", vec![0, 1, 2]), Partition::new("last", vec![2])],
            features: vec![vec![], vec![], vec!["ib".into()]],
            ..Site::default()
        };
        let platform = platform.with_site(site).unwrap();
        let more = resized(&platform, Amount::More(2)).unwrap();
        assert_eq!((more.node_count(), more.processors()), (5, 20));
        assert_eq!(more.nodes()[4].resources.amount("memory"), 64);
        let site = more.site().unwrap();
        assert_eq!((&site.partitions[1].nodes, site.features[4].len()), (&vec![2, 3, 4], 1));
        let fewer = resized(&platform, Amount::Fewer(1)).unwrap();
        assert_eq!((fewer.node_count(), fewer.site().unwrap().partitions.len()), (2, 1));
        assert!(resized(&platform, Amount::Fewer(3)).is_err());
        let flat = Platform::flat(100).unwrap();
        // Nodes of reservations are removed last.
        let (start, end) = (Time::ZERO, Time::from_seconds(60));
        let kept =
            SiteReservation { name: "r".into(), nodes: vec![2], start, end, users: Vec::new(), accounts: Vec::new() };
        let kept = Site { reservations: vec![kept], ..platform.site().unwrap().clone() };
        let kept = resized(&platform.clone().with_site(kept).unwrap(), Amount::Fewer(2)).unwrap();
        let kept = kept.site().unwrap();
        assert_eq!((&kept.reservations[0].nodes, &kept.partitions[1].nodes), (&vec![0], &vec![0]));
        let more = with_processors(&flat, Amount::More(20)).unwrap();
        assert_eq!((more.processors(), more.node_count()), (120, 1));
        assert_eq!(with_processors(&flat, Amount::All(7)).unwrap().processors(), 7);
        // Each change refuses the other kind of platform and names the right word.
        assert!(resized(&flat, Amount::More(20)).unwrap_err().contains("`processors=`"));
        assert!(with_processors(&platform, Amount::More(20)).unwrap_err().contains("write `nodes=`"));
    }
}
