//! Future events of a network. For lanes, see [`NetworkOptions::lanes`](super::NetworkOptions::lanes).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::Time;

/// A future event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FutureEvent {
    /// The end of the transfer that the port of a node completes next. The event is ignored if the state of the node's
    /// port has changed since the event was added.
    Port { node: u32, version: u32 },
    /// The end of the computation that a node completes next. The event is ignored if the state of the node's
    /// processors has changed since the event was added.
    Processor { node: u32, version: u32 },
    /// A request reaches the parent. `freed` is the kind of the task that left the child's buffer, or `None` if no
    /// task left.
    Request { node: u32, lane: u32, freed: Option<u32> },
    /// The wait of a node's policy ends.
    Wait { node: u32 },
    /// A change of machines, as an index into [`NetworkOptions::changes`](super::NetworkOptions::changes).
    Change(u32),
}

/// Events by time, and then by the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Events {
    heap: BinaryHeap<Reverse<(Time, u64, FutureEvent)>>,
    sequence: u64,
}

impl Events {
    /// Adds an event. Events at [`Time::MAX`] are dropped, because they never happen.
    pub(super) fn push(&mut self, at: Time, due: FutureEvent) {
        if at < Time::MAX {
            self.heap.push(Reverse((at, self.sequence, due)));
            self.sequence += 1;
        }
    }

    pub(super) fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|&Reverse((at, _, _))| at)
    }

    /// Removes and returns the next event that is at or before `now`.
    pub(super) fn pop_at(&mut self, now: Time) -> Option<FutureEvent> {
        let &Reverse((at, _, due)) = self.heap.peek()?;
        if at > now {
            return None;
        }
        self.heap.pop();
        Some(due)
    }

    /// Returns the number of events that were added so far.
    pub(super) fn count(&self) -> u64 {
        self.sequence
    }
}
