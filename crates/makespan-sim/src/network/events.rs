//! Future events of a network.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::Time;

/// A future event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// The next send of a node ends, unless its port has changed in the meantime.
    Port { node: u32, version: u32 },
    /// The next task of a node is computed, unless its processors have changed in the meantime.
    Processor { node: u32, version: u32 },
    /// A request reaches the parent. `freed` is the kind of task that left the buffer, if any.
    Request { node: u32, lane: u32, freed: Option<u32> },
    /// The waiting time of a policy ends.
    Wait { node: u32 },
    /// A change from the options.
    Change(u32),
}

/// Events by time, and then by the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Events {
    heap: BinaryHeap<Reverse<(Time, u64, Due)>>,
    sequence: u64,
}

impl Events {
    /// Adds an event. Events at the end of time are dropped.
    pub(super) fn push(&mut self, at: Time, due: Due) {
        if at < Time::MAX {
            self.heap.push(Reverse((at, self.sequence, due)));
            self.sequence += 1;
        }
    }

    pub(super) fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|&Reverse((at, _, _))| at)
    }

    /// Removes and returns the next event that is due.
    pub(super) fn pop_at(&mut self, now: Time) -> Option<Due> {
        let &Reverse((at, _, due)) = self.heap.peek()?;
        if at > now {
            return None;
        }
        self.heap.pop();
        Some(due)
    }

    /// Returns the number of events that were added.
    pub(super) fn count(&self) -> u64 {
        self.sequence
    }
}
