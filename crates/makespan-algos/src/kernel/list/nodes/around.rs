//! Best placement on a platform with unavailable processors. Every waiting task is checked at every instant.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{Instance, Time};

use super::super::AllottedTask;
use super::JobStart;
use super::free::Free;

pub(super) fn starts(instance: &Instance, list: &[AllottedTask], from: Time) -> Vec<JobStart> {
    let mut sweep = Sweep::new(instance, list, from);
    while sweep.left > 0 {
        sweep.release();
        sweep.start_tasks();
        sweep.advance();
    }
    sweep.starts
}

struct Sweep<'a> {
    instance: &'a Instance,
    list: &'a [AllottedTask],
    now: Time,
    free: Free,
    is_waiting: Vec<bool>,
    /// Positions in the list by decreasing release date.
    arrivals: Vec<usize>,
    ends: BinaryHeap<Reverse<(Time, usize)>>,
    /// Ends of unavailable periods, the latest first.
    changes: Vec<Time>,
    starts: Vec<JobStart>,
    left: usize,
}

impl<'a> Sweep<'a> {
    fn new(instance: &'a Instance, list: &'a [AllottedTask], from: Time) -> Self {
        let mut arrivals: Vec<usize> = (0..list.len()).collect();
        arrivals.sort_unstable_by_key(|&index| Reverse((instance.release(list[index].task), index)));
        let mut changes: Vec<Time> =
            instance.unavailable().iter().map(|period| period.end).filter(|&end| end > from).collect();
        changes.sort_unstable_by_key(|&change| Reverse(change));
        Self {
            instance,
            list,
            now: from,
            free: Free::new(instance),
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
        while let Some(index) = self.arrivals.pop_if(|index| instance.release(list[*index].task) <= now) {
            self.is_waiting[index] = true;
        }
    }

    fn start_tasks(&mut self) {
        for index in 0..self.list.len() {
            let AllottedTask { processors, .. } = self.list[index];
            if !self.is_waiting[index] || processors > self.free.widest() {
                continue;
            }
            let end = self.now + self.list[index].time(self.instance);
            let shut = self.free.set_aside(self.instance, self.now, end);
            let ids = (processors <= self.free.widest()).then(|| self.free.take(processors));
            self.free.give_back(&shut);
            if let Some(ids) = ids {
                self.start(index, ids);
            }
        }
    }

    fn start(&mut self, index: usize, ids: Vec<u32>) {
        self.is_waiting[index] = false;
        self.left -= 1;
        self.ends.push(Reverse((self.now + self.list[index].time(self.instance), index)));
        self.starts[index] = (self.now, ids);
    }

    /// Advances to the next instant at which another task may fit.
    fn advance(&mut self) {
        let release = self.arrivals.last().map(|&index| self.instance.release(self.list[index].task));
        let end = self.ends.peek().map(|Reverse((end, _))| *end);
        let Some(next) = [release, end, self.changes.last().copied()].into_iter().flatten().min() else { return };
        self.now = next;
        while let Some(&Reverse((end, index))) = self.ends.peek()
            && end <= next
        {
            self.ends.pop();
            self.free.give_back(&self.starts[index].1);
        }
        while self.changes.pop_if(|change| *change <= next).is_some() {}
    }
}
