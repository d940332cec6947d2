//! Chooses the nodes of a job as Slurm does (`select/cons_tres` without a topology).
//!
//! The free nodes form sets of adjacent nodes of equal weight. Slurm takes nodes from the smallest set that is
//! sufficient or, if no set is sufficient, from the largest set, until the job has enough nodes and processors. Sets of
//! lower weight come first. A set with nodes that the job must get comes before other sets of its weight.

use std::cmp::Reverse;

use super::model::ClusterModel;
use super::node_request::NodeRequest;
use super::request::PartitionRequest;

/// A set of adjacent free nodes of equal weight.
#[derive(Clone, Copy, Debug)]
struct AdjacentNodes {
    /// The position of the first node in the list of free nodes.
    first: usize,
    /// The position after the last node.
    end: usize,
    /// The position of the first node that the job must get.
    required: Option<usize>,
    /// The number of nodes that the job does not have yet.
    nodes: i64,
    /// The number of processors of these nodes.
    cpus: i64,
    weight: u64,
}

/// The number of nodes and of processors that a job does not have yet.
#[derive(Clone, Copy, Debug)]
struct Missing {
    /// The number of nodes that complete the request.
    nodes: i64,
    /// The minimum number of nodes with which the job can run.
    least: i64,
    /// The maximum number of nodes that the job accepts.
    most: i64,
    cpus: i64,
}

impl Missing {
    fn of(request: &NodeRequest) -> Self {
        let count = |nodes: usize| i64::try_from(nodes).unwrap_or(i64::MAX);
        let (least, most) = (count(request.nodes.0), count(request.most_nodes()));
        let nodes = if request.takes_all { most.max(least) } else { least };
        Self { nodes, least, most, cpus: i64::try_from(request.processors).unwrap_or(i64::MAX) }
    }

    fn take(&mut self, cpus: u32) {
        self.nodes -= 1;
        self.least -= 1;
        self.most -= 1;
        self.cpus -= i64::from(cpus);
    }

    fn is_complete(&self) -> bool {
        self.most <= 0 || self.nodes <= 0 && self.cpus <= 0
    }

    fn is_met_by(&self, set: &AdjacentNodes) -> bool {
        set.cpus >= self.cpus && set.nodes >= self.least
    }
}

/// A node on which a job can run.
#[derive(Clone, Copy, Debug)]
pub(super) struct FreeNode {
    pub site: usize,
    /// The number of processors that the node can provide. It is at least the number that the job needs on each node.
    pub room: u32,
    /// The number of processors by which Slurm compares nodes. It differs from `room` if the node has too little of
    /// another resource for more processors of the job.
    pub cpus: u32,
}

/// Lists for [`ClusterModel::choose`]. A caller keeps them, so that a choice does not allocate them again.
#[derive(Clone, Debug, Default)]
pub(super) struct ChoiceBuffers {
    /// The free nodes in ascending order.
    pub free: Vec<FreeNode>,
    /// The chosen nodes. The first ones are the nodes that the job must get, in ascending order.
    taken: Vec<FreeNode>,
    sets: Vec<AdjacentNodes>,
}

impl ClusterModel {
    /// Returns the nodes of a job in ascending order, with the number of processors on each. Returns `None`
    /// if the nodes in `buffers.free` are not enough.
    ///
    /// Takes O(s n) time if the n free nodes form s sets.
    pub(super) fn choose(&self, shape: &PartitionRequest, buffers: &mut ChoiceBuffers) -> Option<Vec<(usize, u32)>> {
        let request = shape.nodes();
        let ChoiceBuffers { free, taken, sets } = buffers;
        taken.clear();
        if shape.counted.is_some() {
            let front = self.put_counted_first(shape, free, |node| node.site)?;
            taken.extend_from_slice(&free[..front]);
            taken.sort_unstable_by_key(|node| node.site);
            free.sort_unstable_by_key(|node| node.site);
        }
        let front = taken.len();
        let largest = largest(&request, taken, free)?;
        let mut least = 0;
        while !self.best_fit(&request, free, taken, sets) {
            // Slurm leaves out the nodes with the fewest processors, and tries again.
            taken.truncate(front);
            let others = free.iter().filter(|node| node.cpus > least && !has(&taken[..front], node.site));
            let Some(next) = others.map(|node| node.cpus).min().filter(|_| free.len() > request.nodes.0) else {
                taken.extend_from_slice(&largest);
                break;
            };
            least = next;
            free.retain(|node| node.cpus > least || has(&taken[..front], node.site));
        }
        let mut found: Vec<(usize, u32)> = taken.iter().map(|node| (node.site, node.room)).collect();
        found.sort_unstable();
        request.divide(&mut found);
        Some(found)
    }

    /// Adds nodes to `taken`, in the order in which Slurm takes them, until they are enough. Returns false if they are
    /// not enough. At the call, `taken` contains only the nodes that the job must get.
    fn best_fit(
        &self,
        request: &NodeRequest,
        free: &[FreeNode],
        taken: &mut Vec<FreeNode>,
        sets: &mut Vec<AdjacentNodes>,
    ) -> bool {
        let mut missing = Missing::of(request);
        taken.iter().for_each(|node| missing.take(node.cpus));
        let front = taken.len();
        if !missing.is_complete() {
            self.divide_into_sets(free, taken, sets);
        }
        while !missing.is_complete() {
            let Some(best) = best_of(sets, &missing) else { break };
            take_from(&sets[best], free, front, &mut missing, taken);
            sets[best].nodes = 0;
        }
        missing.least <= 0 && missing.cpus <= 0 && room_of(taken) >= request.processors
    }

    /// Divides the free nodes into sets of adjacent nodes. A node that the job must get belongs to a set, but is not
    /// counted, because the job has this node already.
    fn divide_into_sets(&self, free: &[FreeNode], required: &[FreeNode], sets: &mut Vec<AdjacentNodes>) {
        sets.clear();
        let mut before = None;
        for (at, &FreeNode { site, cpus, .. }) in free.iter().enumerate() {
            if !before.is_some_and(|before| self.are_adjacent(before, site)) {
                let weight = self.sites[site].place.weight;
                sets.push(AdjacentNodes { first: at, end: at, required: None, nodes: 0, cpus: 0, weight });
            }
            before = Some(site);
            let Some(set) = sets.last_mut() else { continue };
            set.end = at + 1;
            if has(required, site) {
                set.required.get_or_insert(at);
            } else {
                set.nodes += 1;
                set.cpus += i64::from(cpus);
            }
        }
    }
}

/// Returns true if a sorted list of nodes contains a node.
fn has(nodes: &[FreeNode], site: usize) -> bool {
    !nodes.is_empty() && nodes.binary_search_by_key(&site, |node| node.site).is_ok()
}

/// Returns the number of processors that nodes can provide together.
fn room_of(nodes: &[FreeNode]) -> u64 {
    nodes.iter().map(|node| u64::from(node.room)).sum()
}

/// Returns the set from which Slurm takes nodes next, or `None` if no set has nodes left.
fn best_of(sets: &[AdjacentNodes], missing: &Missing) -> Option<usize> {
    let mut best: Option<(usize, bool)> = None;
    for (at, set) in sets.iter().enumerate().filter(|(_, set)| set.nodes > 0) {
        let is_sufficient = missing.is_met_by(set);
        let is_better = best.is_none_or(|(other, other_is_sufficient)| {
            let other = &sets[other];
            let comes_first = other.required.is_none() && set.required.is_some() || set.weight < other.weight;
            let fits_better = match (is_sufficient, other_is_sufficient) {
                (true, true) => set.cpus < other.cpus,
                (true, false) => true,
                // Slurm prefers a larger set that is not sufficient even to a sufficient set.
                (false, _) => set.cpus > other.cpus,
            };
            comes_first || set.weight == other.weight && fits_better
        });
        if is_better {
            best = Some((at, is_sufficient));
        }
    }
    best.map(|best| best.0)
}

/// Takes nodes from a set until the request is complete. If the job must get a node of the set, takes the nodes after
/// this node, and then the nodes before it.
fn take_from(set: &AdjacentNodes, free: &[FreeNode], front: usize, missing: &mut Missing, taken: &mut Vec<FreeNode>) {
    let nodes = &free[set.first..set.end];
    let mut take = |node: &FreeNode| {
        if !missing.is_complete() && !has(&taken[..front], node.site) {
            missing.take(node.cpus);
            taken.push(*node);
        }
    };
    if let Some(required) = set.required {
        free[required..set.end].iter().for_each(&mut take);
        return free[set.first..required].iter().rev().for_each(take);
    }
    if missing.nodes <= 1 {
        // One more node may be enough.
        let is_enough = |node: &&FreeNode| i64::from(node.cpus) >= missing.cpus;
        if let Some(node) = nodes.iter().filter(is_enough).min_by_key(|node| (node.cpus, node.site)) {
            missing.take(node.cpus);
            return taken.push(*node);
        }
    }
    for node in nodes {
        if missing.is_complete() {
            break;
        }
        if missing.most > 1 || i64::from(node.cpus) >= missing.cpus {
            missing.take(node.cpus);
            taken.push(*node);
        }
    }
}

/// Returns nodes with the most processors that are enough for a job, in addition to the nodes `taken`. Returns an empty
/// list if any of the nodes are enough. Returns `None` if the job does not fit.
fn largest(request: &NodeRequest, taken: &[FreeNode], free: &[FreeNode]) -> Option<Vec<FreeNode>> {
    let most = request.most_nodes();
    if taken.len() > most || free.len() < request.nodes.0 {
        return None;
    }
    let needed = request.processors.saturating_sub(room_of(taken));
    let least = request.nodes.0.saturating_sub(taken.len());
    if needed <= u64::from(request.per_node) * least as u64 {
        return Some(Vec::new());
    }
    let has_all = free.len() <= most;
    if has_all && room_of(free) < request.processors {
        return None;
    }
    let mut nodes: Vec<FreeNode> = free.iter().copied().filter(|node| !has(taken, node.site)).collect();
    if !has_all {
        nodes.sort_unstable_by_key(|node| (Reverse(node.room), node.site));
        let rooms: Vec<(usize, u32)> = nodes.iter().map(|node| (node.site, node.room)).collect();
        let others = NodeRequest { nodes: (least, usize::MAX), processors: needed, ..*request };
        let prefix = others.prefix(&rooms).filter(|prefix| taken.len() + prefix <= most)?;
        nodes.truncate(if request.takes_all { most - taken.len() } else { prefix });
    }
    Some(nodes)
}

#[cfg(test)]
pub(super) mod tests;
