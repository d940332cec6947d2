//! Tests of the choice of nodes.

use makespan_core::{FeatureChoice, NodePlace};
use proptest::prelude::*;

use super::super::model::{ModelNode, NodeConditions};
use super::*;

type Free = Vec<(usize, u32)>;

/// Returns the nodes that Slurm chooses for a job with one possible number of nodes, each of which has enough
/// processors. In contrast to the implementation, splits lists of nodes.
pub(in super::super) fn fitted(
    model: &ClusterModel,
    shape: &PartitionRequest,
    free: &[(usize, u32)],
) -> Option<Vec<usize>> {
    let place = |node: &(usize, u32)| (model.sites[node.0].place.weight, model.sites[node.0].place.index);
    let is_adjacent =
        |one: &(usize, u32), next: &(usize, u32)| place(one).0 == place(next).0 && place(one).1 + 1 == place(next).1;
    let mut sets: Vec<Free> = free.chunk_by(is_adjacent).map(<[_]>::to_vec).collect();
    let sum = |set: &Free| set.iter().map(|node| i64::from(node.1)).sum::<i64>();
    let (mut chosen, mut cpus) = (Vec::new(), shape.cpus as i64);
    if free.len() < shape.min_nodes as usize {
        return None;
    }
    while chosen.len() < shape.min_nodes as usize {
        let lacks = shape.min_nodes as usize - chosen.len();
        let weight = sets.iter().map(|set| place(&set[0]).0).min()?;
        let fits = |set: &Free| set.len() >= lacks && sum(set) >= cpus;
        let mut best: Option<usize> = None;
        for at in (0..sets.len()).filter(|&at| place(&sets[at][0]).0 == weight) {
            let Some(other) = best else {
                best = Some(at);
                continue;
            };
            let (own, other) = (&sets[at], &sets[other]);
            let is_smaller = sum(own) < sum(other);
            let is_better = if fits(own) { is_smaller || !fits(other) } else { sum(own) > sum(other) };
            best = if is_better { Some(at) } else { best };
        }
        let mut set = sets.remove(best?);
        if lacks == 1 {
            set.retain(|node| i64::from(node.1) >= cpus);
            set.sort_by_key(|node| node.1);
        }
        for node in set.into_iter().take(lacks) {
            cpus -= i64::from(node.1);
            chosen.push(node.0);
        }
    }
    chosen.sort_unstable();
    Some(chosen)
}

/// Returns the nodes and processors that a job gets on nodes with these free processors and weights. A node without
/// free processors is not free.
fn chosen(free: &[(u32, u64)], required: &[usize], change: impl FnOnce(&mut PartitionRequest)) -> Option<Free> {
    let node = |(index, &(_, weight)): (usize, &(u32, u64))| ModelNode {
        cpus: 8,
        memory: 0,
        grain: 1,
        place: NodePlace { weight, index },
        closed: Vec::new(),
    };
    let mut model = ClusterModel::new(free.iter().enumerate().map(node).collect(), (0, Vec::new()), 0, 60);
    let is_required = (required.len(), |site: usize| required.contains(&site));
    let none: &[&str] = &[];
    let conditions = NodeConditions::of(free.len(), &FeatureChoice::default(), is_required, |_| none);
    model.counted.extend(conditions);
    let mut shape = PartitionRequest {
        set: 0,
        tested: 0,
        counted: (!required.is_empty()).then_some(0),
        min_nodes: 1,
        max_nodes: None,
        takes_all: false,
        cpus: 1,
        per_node: 1,
        most_per_node: u32::MAX,
        memory: None,
        gres: Vec::new(),
        shares: Vec::new(),
        whole: false,
        reservation: None,
        lasts: 1,
    };
    change(&mut shape);
    let node = |(site, &(cpus, _)): (usize, &(u32, u64))| FreeNode { site, room: cpus, cpus };
    let free = free.iter().enumerate().map(node).filter(|node| node.room > 0).collect();
    model.choose(&shape, &mut ChoiceBuffers { free, ..ChoiceBuffers::default() })
}

fn nodes(least: u32, most: u32, cpus: u64) -> impl Fn(&mut PartitionRequest) {
    move |shape| {
        (shape.min_nodes, shape.max_nodes, shape.cpus, shape.per_node) = (least, Some(most), cpus, 1);
        shape.takes_all = least < most;
    }
}

fn sites(found: Option<Free>) -> Vec<usize> {
    found.unwrap_or_default().into_iter().map(|one| one.0).collect()
}

#[test]
fn jobs_get_the_smallest_sufficient_set() {
    // The sets have 3, 1, 2 and 1 nodes.
    let free = [8, 8, 8, 0, 8, 0, 8, 8, 0, 8].map(|cpus| (cpus, 1));
    let of = |count: u32| sites(chosen(&free, &[], nodes(count, count, count.into())));
    assert_eq!(of(1), [4]);
    assert_eq!(of(2), [6, 7]);
    assert_eq!(of(3), [0, 1, 2]);
    // No set is sufficient. The largest set comes first, and then the smallest set that is sufficient for the rest.
    assert_eq!(of(4), [0, 1, 2, 4]);
    assert_eq!(of(5), [0, 1, 2, 6, 7]);
    assert_eq!(of(7), [0, 1, 2, 4, 6, 7, 9]);
    assert_eq!(of(8), [0; 0]);
    // A job for a range of nodes takes as many nodes as possible, from sets that suffice for its minimum.
    assert_eq!(sites(chosen(&free, &[], nodes(2, 3, 8))), [4, 6, 7]);
}

#[test]
fn lower_weights_and_required_nodes_come_first() {
    let free = [(8, 1), (8, 1), (8, 2), (8, 2), (0, 2), (8, 2), (8, 1)];
    let of = |count: u32, required: &[usize]| sites(chosen(&free, required, nodes(count, count, count.into())));
    assert_eq!(of(1, &[]), [6]);
    assert_eq!(of(3, &[]), [0, 1, 6]);
    assert_eq!(of(4, &[]), [0, 1, 5, 6]);
    // From the set of a required node, the job takes the nodes after it, and then the nodes before it.
    let free = [8; 5].map(|cpus| (cpus, 1));
    let of = |count: u32, required: &[usize]| sites(chosen(&free, required, nodes(count, count, count.into())));
    assert_eq!(of(2, &[2]), [2, 3]);
    assert_eq!(of(4, &[2]), [1, 2, 3, 4]);
    assert_eq!(of(3, &[4]), [2, 3, 4]);
}

#[test]
fn one_node_is_preferred_if_it_is_enough() {
    let free = [2, 8, 5, 0, 3, 3].map(|cpus| (cpus, 1));
    let of = |cpus: u64, most: u32| {
        chosen(&free, &[], |shape| {
            nodes(1, most, cpus)(shape);
            shape.takes_all = false;
        })
    };
    assert_eq!(of(3, 9), Some(vec![(4, 3)]));
    assert_eq!(of(6, 9), Some(vec![(4, 3), (5, 3)]));
    assert_eq!(of(7, 9), Some(vec![(1, 7)]));
    assert_eq!(of(10, 9), Some(vec![(0, 2), (1, 8)]));
    // Slurm leaves out the smallest nodes until the rest is enough.
    assert_eq!(of(13, 2), Some(vec![(1, 8), (2, 5)]));
    assert_eq!(of(14, 2), None);
}

proptest! {
    /// A job fits exactly if the required nodes and the largest other nodes are enough.
    #[test]
    fn a_choice_is_enough_for_the_job(
        free in prop::collection::vec((0_u32..9, 1_u64..3), 1..20),
        (least, more, cpus) in (1_u32..6, 0_u32..4, 1_u64..30),
        required in prop::collection::btree_set(0_usize..20, 0..3),
    ) {
        let free: Vec<(u32, u64)> = { let mut free = free; free.sort_by_key(|node| node.1); free };
        let required: Vec<usize> = required.into_iter().filter(|&at| at < free.len()).collect();
        let found = chosen(&free, &required, nodes(least, least + more, cpus));
        let request = NodeRequest { nodes: (least as usize, (least + more) as usize), takes_all: false, processors: cpus, per_node: 1 };
        let mut sizes: Vec<u32> = (0..free.len()).filter(|at| !required.contains(at)).map(|at| free[at].0).filter(|&cpus| cpus > 0).collect();
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        let own = || required.iter().map(|&at| free[at].0);
        let all: Vec<((), u32)> = own().chain(sizes).map(|cpus| ((), cpus)).collect();
        let prefix = request.prefix(&all).map(|prefix| prefix.max(required.len()));
        let fits = own().all(|cpus| cpus > 0) && prefix.is_some_and(|prefix| prefix <= request.most_nodes());
        prop_assert_eq!(found.is_some(), fits, "{:?}", found);
        if let Some(found) = found {
            prop_assert!(found.len() >= least as usize && found.len() <= request.most_nodes().max(least as usize));
            prop_assert!(found.iter().all(|&(site, cpus)| cpus >= 1 && cpus <= free[site].0));
            prop_assert!(found.iter().map(|one| u64::from(one.1)).sum::<u64>() >= cpus.max(found.len() as u64));
            prop_assert!(required.iter().all(|at| found.iter().any(|one| one.0 == *at)));
        }
    }
}
