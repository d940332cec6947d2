//! The free processors of every node, as counts and as ids.

use std::cmp::Reverse;

use makespan_core::{Instance, Platform, ProcSet, Time};

/// A node, and the number of its processors that a task holds.
pub(super) type NodePart = (u32, u32);

/// Takes `width` of the processors `free` in best placement. Returns `None` if `free` contains no such placement. The
/// nodes are chosen as in the list algorithm. From each node, the lowest ids are taken.
pub(crate) fn take_compact(platform: &Platform, free: &mut ProcSet, width: u32) -> Option<ProcSet> {
    let (mut counts, mut here) = by_node(platform, free);
    if width > counts.widest() {
        return None;
    }
    let mut parts = Vec::new();
    counts.take(width, &mut parts);
    let taken = parts.into_iter().map(|(node, count)| here[node as usize].take(count));
    let taken = taken.collect::<Option<Vec<ProcSet>>>()?.iter().fold(ProcSet::new(), |all, part| all.union(part));
    *free = free.difference(&taken);
    Some(taken)
}

/// Returns the maximum number of the processors `free` that form a best placement.
pub(crate) fn widest_compact(platform: &Platform, free: &ProcSet) -> u32 {
    by_node(platform, free).0.widest()
}

/// Splits the set by nodes.
fn by_node(platform: &Platform, free: &ProcSet) -> (FreeCounts, Vec<ProcSet>) {
    let mut counts = FreeCounts::of(platform);
    counts.free.fill(0);
    let mut here: Vec<ProcSet> = vec![ProcSet::new(); counts.sizes.len()];
    for &(first, last) in free.intervals() {
        let nodes = platform.node_of(first)..=platform.node_of(last);
        for (node, here) in here.iter_mut().enumerate().take(nodes.end() + 1).skip(*nodes.start()) {
            let part = ProcSet::range(first, last).intersection(&platform.processors_of(node));
            counts.free[node] += part.len();
            *here = here.union(&part);
        }
    }
    (counts, here)
}

/// The number of free processors of each node.
pub(super) struct FreeCounts {
    sizes: Vec<u32>,
    free: Vec<u32>,
    /// The nodes that have processors, by decreasing size.
    by_size: Vec<u32>,
    smallest: u32,
    largest: u32,
}

impl FreeCounts {
    pub(super) fn new(instance: &Instance) -> Self {
        Self::of(instance.platform())
    }

    /// Returns the counts for an idle platform.
    fn of(platform: &Platform) -> Self {
        let sizes: Vec<u32> = platform.nodes().iter().map(|node| node.processors).collect();
        let mut by_size: Vec<u32> = (0..).zip(&sizes).filter(|&(_, &size)| size > 0).map(|(node, _)| node).collect();
        by_size.sort_by_key(|&node| Reverse(sizes[node as usize]));
        let smallest = by_size.last().map_or(0, |&node| sizes[node as usize]);
        let largest = by_size.first().map_or(0, |&node| sizes[node as usize]);
        Self { free: sizes.clone(), sizes, by_size, smallest, largest }
    }

    /// Returns the maximum number of free processors in a best placement. Usually, this is the largest number of free
    /// processors on one node. If a node of the largest size is entirely free, a best placement may use all entirely
    /// free nodes, and the partly free node with the most free processors. The result is then the number of free
    /// processors on all these nodes.
    pub(super) fn widest(&self) -> u32 {
        let (mut whole, mut part, mut most) = (0, 0, 0);
        for (&free, &size) in self.free.iter().zip(&self.sizes) {
            let is_whole = free == size;
            whole += if is_whole { size } else { 0 };
            part = part.max(if is_whole { 0 } else { free });
            most = most.max(free);
        }
        if most == self.largest { whole + part } else { most }
    }

    /// Takes `width` processors in best placement, and adds their nodes to `parts`. `width` must be at most
    /// [`FreeCounts::widest`]. If the processors fit on one node, takes them from one node. Otherwise, takes entirely
    /// free nodes as a whole while they fit, the largest first, and the remaining processors from one more node. For
    /// this last node, partly used nodes are preferred to free nodes, and then nodes with fewer free processors.
    pub(super) fn take(&mut self, width: u32, parts: &mut Vec<NodePart>) {
        let mut rest = width;
        let wide = if width < self.largest { &[] } else { &self.by_size[..] };
        for &node in wide {
            if rest < self.smallest {
                break;
            }
            let size = self.sizes[node as usize];
            if size <= rest && self.free[node as usize] == size {
                rest -= size;
                self.free[node as usize] = 0;
                parts.push((node, size));
            }
        }
        if rest == 0 {
            return;
        }
        let fitting = (0..).zip(self.free.iter().zip(&self.sizes)).filter(|&(_, (&free, _))| free >= rest);
        let ranked = fitting.map(|(node, (&free, &size)): (u32, _)| (free == size, free, node));
        if let Some((_, _, node)) = ranked.min() {
            self.free[node as usize] -= rest;
            parts.push((node, rest));
        }
    }

    pub(super) fn give_back(&mut self, parts: &[NodePart]) {
        for &(node, count) in parts {
            self.free[node as usize] += count;
        }
    }
}

/// The free processors of each node, with their ids.
pub(super) struct Free {
    counts: FreeCounts,
    /// The ids for each node, in descending order.
    ids: Vec<Vec<u32>>,
    node_of: Vec<u32>,
    parts: Vec<NodePart>,
}

impl Free {
    pub(super) fn new(instance: &Instance) -> Self {
        let platform = instance.platform();
        let ids = |node: usize| platform.processors_of(node).iter().collect::<Vec<u32>>();
        let ids = (0..platform.nodes().len()).map(|node| ids(node).into_iter().rev().collect()).collect();
        let node_of = (0..platform.processors()).map(|id| platform.node_of(id) as u32).collect();
        Self { counts: FreeCounts::new(instance), ids, node_of, parts: Vec::new() }
    }

    pub(super) fn widest(&self) -> u32 {
        self.counts.widest()
    }

    /// Takes processors from the nodes that [`FreeCounts::take`] chooses, and returns their ids. Takes the lowest ids
    /// of each node.
    pub(super) fn take(&mut self, width: u32) -> Vec<u32> {
        self.parts.clear();
        self.counts.take(width, &mut self.parts);
        let mut taken = Vec::with_capacity(width as usize);
        for &part in &self.parts {
            taken.extend(lowest(&mut self.ids, part));
        }
        taken
    }

    /// Takes, for each part in `parts`, the lowest free ids of its node. Enough ids must be free.
    pub(super) fn take_parts(&mut self, parts: &[NodePart]) -> Vec<u32> {
        parts.iter().flat_map(|&part| lowest(&mut self.ids, part).collect::<Vec<u32>>()).collect()
    }

    /// Takes all free processors that are closed at some time from `start` to `end`.
    pub(super) fn set_aside(&mut self, instance: &Instance, start: Time, end: Time) -> Vec<u32> {
        let meets = |closed: &[(Time, Time)]| closed.iter().any(|&(from, until)| from < end && start < until);
        let classes = instance.availability().classes().iter().filter(|class| meets(&class.closed));
        let mut shut = Vec::new();
        for id in classes.flat_map(|class| class.processors.iter()) {
            let node = self.node_of[id as usize] as usize;
            if let Ok(at) = self.ids[node].binary_search_by(|other| id.cmp(other)) {
                self.ids[node].remove(at);
                self.counts.free[node] -= 1;
                shut.push(id);
            }
        }
        shut
    }

    pub(super) fn give_back(&mut self, ids: &[u32]) {
        for &id in ids {
            let node = self.node_of[id as usize] as usize;
            let at = self.ids[node].partition_point(|&other| other > id);
            self.ids[node].insert(at, id);
            self.counts.free[node] += 1;
        }
    }

    /// Releases ids that [`Free::take_parts`] took. Neither method changes the counts.
    pub(super) fn give_back_ids(&mut self, ids: &[u32]) {
        for &id in ids {
            let free = &mut self.ids[self.node_of[id as usize] as usize];
            let at = free.partition_point(|&other| other > id);
            free.insert(at, id);
        }
    }
}

fn lowest(ids: &mut [Vec<u32>], (node, count): NodePart) -> impl Iterator<Item = u32> + '_ {
    let ids = &mut ids[node as usize];
    let keep = ids.len() - count as usize;
    ids.drain(keep..).rev()
}
