//! What is due when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::Time;

/// Something that becomes due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// The next send of a node is over, unless its port has changed since.
    Port { node: u32, version: u32 },
    /// The next task of a node is computed, unless its processors have changed since.
    Processor { node: u32, version: u32 },
    /// A request reaches the parent; `freed` is the kind that left the buffer, if any.
    Request { node: u32, lane: u32, freed: Option<u32> },
    /// A policy waited until now.
    Wait { node: u32 },
    /// A change of the options.
    Change(u32),
}

/// By time, then in the order in which they became known.
#[derive(Debug, Default)]
pub(super) struct Events {
    heap: BinaryHeap<Reverse<(Time, u64, Due)>>,
    sequence: u64,
}

impl Events {
    /// What is due at the end of time never happens.
    pub(super) fn push(&mut self, at: Time, due: Due) {
        if at < Time::MAX {
            self.heap.push(Reverse((at, self.sequence, due)));
            self.sequence += 1;
        }
    }

    pub(super) fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|&Reverse((at, _, _))| at)
    }

    /// The next that is due now.
    pub(super) fn pop_at(&mut self, now: Time) -> Option<Due> {
        let &Reverse((at, _, due)) = self.heap.peek()?;
        if at > now {
            return None;
        }
        self.heap.pop();
        Some(due)
    }

    /// How many there have been.
    pub(super) fn count(&self) -> u64 {
        self.sequence
    }
}
