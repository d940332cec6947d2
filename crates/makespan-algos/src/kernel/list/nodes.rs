//! The list algorithm on platforms that require best placement.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{Instance, ProcSet, Time};

use super::{Allotted, WidthTree};

/// A start and processors.
pub(super) type Start = (Time, Vec<u32>);

/// Graham's rule with best placement: at each instant the list is read from its head, and a job starts when there are
/// whole nodes and a part of at most one more for it, free and open until its end. In the order of the list.
///
/// If some processors are a best placement, so are some of any smaller number of them. So there is a widest job that
/// fits at an instant, and every narrower one fits as well: on a platform that is always open the search in the list is
/// that of [`super::ListSweep`], and all of it takes O(n (log n + nodes + width)). Around unavailable processors every
/// waiting job is asked at every instant.
pub(super) fn starts(instance: &Instance, list: &[Allotted], from: Time) -> Vec<Start> {
    let mut sweep = Sweep::new(instance, list, from);
    while sweep.left > 0 {
        sweep.release();
        if instance.availability().is_always_open() {
            sweep.start_widths();
        } else {
            sweep.start_around();
        }
        sweep.advance();
    }
    sweep.starts
}

/// Ids as a set.
pub(super) fn set(ids: &[u32]) -> ProcSet {
    ProcSet::from_intervals(ids.iter().map(|&id| (id, id)).collect())
}

struct Sweep<'a> {
    instance: &'a Instance,
    list: &'a [Allotted],
    now: Time,
    nodes: Nodes,
    waiting: WidthTree,
    is_waiting: Vec<bool>,
    /// Positions in the list by falling release date.
    arrivals: Vec<usize>,
    ends: BinaryHeap<Reverse<(Time, usize)>>,
    /// Starts and ends of closed periods, the latest first.
    changes: Vec<Time>,
    starts: Vec<Start>,
    left: usize,
}

impl<'a> Sweep<'a> {
    fn new(instance: &'a Instance, list: &'a [Allotted], from: Time) -> Self {
        let mut arrivals: Vec<usize> = (0..list.len()).collect();
        arrivals.sort_unstable_by_key(|&index| Reverse((instance.job(list[index].job).release, index)));
        let mut waiting = WidthTree::default();
        waiting.reset(list.len());
        let mut changes: Vec<Time> =
            instance.unavailable().iter().map(|period| period.end).filter(|&end| end > from).collect();
        changes.sort_unstable_by_key(|&change| Reverse(change));
        Self {
            instance,
            list,
            now: from,
            nodes: Nodes::new(instance),
            waiting,
            is_waiting: vec![false; list.len()],
            arrivals,
            ends: BinaryHeap::new(),
            changes,
            starts: vec![(Time::ZERO, Vec::new()); list.len()],
            left: list.len(),
        }
    }

    fn release(&mut self) {
        let (instance, list, now) = (self.instance, self.list, self.now);
        while let Some(index) = self.arrivals.pop_if(|index| instance.job(list[*index].job).release <= now) {
            self.waiting.update(index, list[index].processors);
            self.is_waiting[index] = true;
        }
    }

    fn start_widths(&mut self) {
        while let Some(index) = self.waiting.first_at_most(self.nodes.widest()) {
            let ids = self.nodes.take(self.list[index].processors);
            self.start(index, ids);
        }
    }

    fn start_around(&mut self) {
        for index in 0..self.list.len() {
            let Allotted { processors, .. } = self.list[index];
            if !self.is_waiting[index] || processors > self.nodes.widest() {
                continue;
            }
            let end = self.now + self.list[index].time(self.instance);
            let shut = self.nodes.set_aside(self.instance, self.now, end);
            let ids = (processors <= self.nodes.widest()).then(|| self.nodes.take(processors));
            self.nodes.give_back(shut);
            if let Some(ids) = ids {
                self.start(index, ids);
            }
        }
    }

    fn start(&mut self, index: usize, ids: Vec<u32>) {
        self.waiting.update(index, u32::MAX);
        self.is_waiting[index] = false;
        self.left -= 1;
        self.ends.push(Reverse((self.now + self.list[index].time(self.instance), index)));
        self.starts[index] = (self.now, ids);
    }

    /// To the next instant at which something may become possible.
    fn advance(&mut self) {
        let release = self.arrivals.last().map(|&index| self.instance.job(self.list[index].job).release);
        let end = self.ends.peek().map(|Reverse((end, _))| *end);
        let Some(next) = [release, end, self.changes.last().copied()].into_iter().flatten().min() else { return };
        self.now = next;
        while let Some(&Reverse((end, index))) = self.ends.peek()
            && end <= next
        {
            self.ends.pop();
            self.nodes.give_back(self.starts[index].1.clone());
        }
        while self.changes.pop_if(|change| *change <= next).is_some() {}
    }
}

/// The free processors of every node.
struct Nodes {
    sizes: Vec<u32>,
    /// Ids, falling.
    free: Vec<Vec<u32>>,
    /// Positions by falling size.
    by_size: Vec<usize>,
    node_of: Vec<usize>,
}

impl Nodes {
    fn new(instance: &Instance) -> Self {
        let platform = instance.platform();
        let sizes: Vec<u32> = platform.nodes().iter().map(|node| node.processors).collect();
        let ids = |node: usize| platform.processors_of(node).iter().collect::<Vec<u32>>();
        let free = (0..sizes.len()).map(|node| ids(node).into_iter().rev().collect()).collect();
        let mut by_size: Vec<usize> = (0..sizes.len()).filter(|&node| sizes[node] > 0).collect();
        by_size.sort_by_key(|&node| Reverse(sizes[node]));
        let node_of = (0..platform.processors()).map(|id| platform.node_of(id)).collect();
        Self { sizes, free, by_size, node_of }
    }

    fn count(&self, node: usize) -> u32 {
        self.free[node].len() as u32
    }

    fn is_whole(&self, node: usize) -> bool {
        self.count(node) == self.sizes[node]
    }

    /// The most processors that are free in a best placement.
    fn widest(&self) -> u32 {
        let (mut whole, mut part) = (0, 0);
        for node in 0..self.sizes.len() {
            if self.is_whole(node) { whole += self.sizes[node] } else { part = part.max(self.count(node)) }
        }
        whole + part
    }

    /// At most [`Nodes::widest`] processors: whole nodes while they fit, the largest first, and the rest where the fewest
    /// are free, if possible not in a whole node.
    fn take(&mut self, width: u32) -> Vec<u32> {
        let mut rest = width;
        let mut ids = Vec::with_capacity(width as usize);
        for &node in &self.by_size {
            if self.is_whole(node) && self.sizes[node] <= rest {
                rest -= self.sizes[node];
                ids.append(&mut self.free[node]);
            }
        }
        let fitting = self.by_size.iter().copied().filter(|&node| self.count(node) >= rest);
        if rest > 0
            && let Some(node) = fitting.min_by_key(|&node| (self.is_whole(node), self.count(node), node))
        {
            let keep = self.free[node].len() - rest as usize;
            ids.extend(self.free[node].drain(keep..));
        }
        ids
    }

    /// Takes the free processors that are closed at some time from `start` to `end`.
    fn set_aside(&mut self, instance: &Instance, start: Time, end: Time) -> Vec<u32> {
        let meets = |closed: &[(Time, Time)]| closed.iter().any(|&(from, until)| from < end && start < until);
        let classes = instance.availability().classes().iter().filter(|class| meets(&class.closed));
        let mut shut = Vec::new();
        for id in classes.flat_map(|class| class.processors.iter()) {
            let free = &mut self.free[self.node_of[id as usize]];
            if let Some(at) = free.iter().position(|&other| other == id) {
                free.remove(at);
                shut.push(id);
            }
        }
        shut
    }

    fn give_back(&mut self, ids: Vec<u32>) {
        for id in ids {
            let free = &mut self.free[self.node_of[id as usize]];
            let at = free.partition_point(|&other| other > id);
            free.insert(at, id);
        }
    }
}

#[cfg(test)]
mod tests;
