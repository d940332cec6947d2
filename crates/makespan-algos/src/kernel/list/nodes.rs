//! The list algorithm on platforms that require best placement.

mod around;
pub(in crate::kernel) mod free;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{Instance, ProcSet, Time};

use super::AllottedTask;
use crate::kernel::leaves::Tree;
use free::{Free, FreeCounts, NodePart};

/// The start of a job, and its processors.
pub(super) type JobStart = (Time, Vec<u32>);

/// Applies Graham's rule with best placement. At each instant, the list is read from its head. A job starts if enough
/// processors for a best placement are free and open until its end: whole nodes and a part of at most one more node.
/// Returns the starts in the order of the list.
///
/// If a best placement of n processors exists, best placements of fewer processors exist, too. Therefore, at each
/// instant, a job fits if and only if it needs at most a certain number of processors. On a platform that is always
/// open, the list is searched as in [`super::ListSweep`]. For n jobs, all searches together take O(n (log n + nodes)),
/// plus the time to list the ids. On a platform with unavailable processors, every waiting job is checked at every
/// instant.
pub(super) fn starts(instance: &Instance, list: &[AllottedTask], from: Time) -> Vec<JobStart> {
    if instance.availability().is_always_open() {
        Sweep::of(instance, list, from).with_ids()
    } else {
        around::starts(instance, list, from)
    }
}

/// Writes the ends of the jobs into `ends`, in the order of the list.
pub(super) fn ends(instance: &Instance, list: &[AllottedTask], from: Time, ends: &mut Vec<Time>) {
    let end = |(allotted, start): (&AllottedTask, Time)| start + allotted.time(instance);
    ends.clear();
    if instance.availability().is_always_open() {
        ends.extend(list.iter().zip(Sweep::of(instance, list, from).starts).map(end));
    } else {
        let starts = around::starts(instance, list, from);
        ends.extend(list.iter().zip(starts.iter().map(|start| start.0)).map(end));
    }
}

/// Returns the set of these ids.
pub(super) fn set(ids: &[u32]) -> ProcSet {
    ProcSet::from_intervals(ids.iter().map(|&id| (id, id)).collect())
}

/// The list algorithm on a platform that is always open. It only counts processors.
struct Sweep<'a> {
    instance: &'a Instance,
    list: &'a [AllottedTask],
    now: Time,
    free: FreeCounts,
    waiting: Tree<u32>,
    /// Positions in the list by decreasing release date.
    arrivals: Vec<usize>,
    ends: BinaryHeap<Reverse<(Time, usize)>>,
    starts: Vec<Time>,
    /// The parts of nodes that the jobs hold, one job after another.
    parts: Vec<NodePart>,
    /// The range of each job in `parts`.
    held: Vec<(usize, usize)>,
}

impl<'a> Sweep<'a> {
    fn of(instance: &'a Instance, list: &'a [AllottedTask], from: Time) -> Self {
        let release = |index: usize| instance.release(list[index].task);
        let mut waiting = Tree::default();
        waiting.refill(0, list.len(), |index| if release(index) <= from { list[index].processors } else { u32::MAX });
        let mut arrivals: Vec<usize> = (0..list.len()).filter(|&index| release(index) > from).collect();
        arrivals.sort_unstable_by_key(|&index| Reverse((release(index), index)));
        let mut sweep = Self {
            instance,
            list,
            now: from,
            free: FreeCounts::new(instance),
            waiting,
            arrivals,
            ends: BinaryHeap::with_capacity(list.len()),
            starts: vec![from; list.len()],
            parts: Vec::with_capacity(list.len()),
            held: vec![(0, 0); list.len()],
        };
        sweep.start_tasks();
        while sweep.advance() {
            sweep.start_tasks();
        }
        sweep
    }

    fn start_tasks(&mut self) {
        while let Some(index) = self.waiting.first(|width| width <= self.free.widest()) {
            let begin = self.parts.len();
            self.free.take(self.list[index].processors, &mut self.parts);
            self.held[index] = (begin, self.parts.len());
            self.waiting.set(index, u32::MAX);
            self.starts[index] = self.now;
            self.ends.push(Reverse((self.now + self.list[index].time(self.instance), index)));
        }
    }

    /// Advances to the next release or end. Returns `false` if there is none.
    fn advance(&mut self) -> bool {
        let (instance, list) = (self.instance, self.list);
        let release = |index: usize| instance.release(list[index].task);
        let arrival = self.arrivals.last().map(|&index| release(index));
        let end = self.ends.peek().map(|Reverse((end, _))| *end);
        let Some(now) = arrival.into_iter().chain(end).min() else { return false };
        self.now = now;
        while let Some(&Reverse((end, index))) = self.ends.peek()
            && end <= now
        {
            self.ends.pop();
            let (from, until) = self.held[index];
            self.free.give_back(&self.parts[from..until]);
        }
        while let Some(index) = self.arrivals.pop_if(|index| release(*index) <= now) {
            self.waiting.set(index, list[index].processors);
        }
        true
    }

    /// Assigns processor ids to the jobs in the order of their starts.
    fn with_ids(self) -> Vec<JobStart> {
        let ends: Vec<Time> =
            self.list.iter().zip(&self.starts).map(|(allotted, &start)| start + allotted.time(self.instance)).collect();
        let mut by_start: Vec<usize> = (0..self.list.len()).collect();
        by_start.sort_by_key(|&index| self.starts[index]);
        let mut by_end = by_start.clone();
        by_end.sort_by_key(|&index| ends[index]);
        let mut ending = by_end.into_iter().peekable();
        let mut free = Free::new(self.instance);
        let mut ids: Vec<Vec<u32>> = vec![Vec::new(); self.list.len()];
        for index in by_start {
            while let Some(ended) = ending.next_if(|&other| ends[other] <= self.starts[index]) {
                free.give_back_ids(&ids[ended]);
            }
            let (from, until) = self.held[index];
            ids[index] = free.take_parts(&self.parts[from..until]);
        }
        self.starts.into_iter().zip(ids).collect()
    }
}
