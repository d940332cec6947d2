//! Events, views and decisions of the scheduler of one node.

use super::Kind;
use crate::model::Time;

/// An event at one node. Kinds are numbered as in [`super::Network::kinds`], and children from 0 in the order of
/// [`super::Network::children`]. A lane is a buffer: lane 0 if all kinds share one buffer, otherwise the lane with the
/// number of the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeEvent {
    /// A task arrived from the parent, or returned to the root from a node that was removed.
    Received {
        /// Kind of the task.
        kind: usize,
    },
    /// A child has room for one more task in its buffer, and requests a task.
    Requested {
        /// Number of the child.
        child: usize,
        /// Lane in which the child has room.
        lane: usize,
    },
    /// A task was being sent to a child that was removed, and is now back in this node's buffer.
    Returned {
        /// Kind of the task.
        kind: usize,
    },
    /// The bandwidth of the link to a child changed.
    BandwidthChanged {
        /// Number of the child.
        child: usize,
    },
    /// The speed of this node changed.
    SpeedChanged,
    /// A child was removed, with all nodes below it.
    ChildRemoved {
        /// Number of the child.
        child: usize,
    },
}

/// A decision of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeDecision {
    /// Compute a waiting task.
    Compute {
        /// Kind of the task.
        kind: usize,
    },
    /// Send a waiting task to a child that requested one.
    Send {
        /// Number of the child.
        child: usize,
        /// Kind of the task.
        kind: usize,
    },
    /// Do nothing now. The policy is called again after the next event, but at the latest at the instant `until`.
    Wait {
        /// The latest instant of the next call.
        until: Time,
    },
}

/// The state of a node's children as far as the node knows it: their requests, and the tasks that were sent to them.
/// In each request, a child reports the kind of the task that left its buffer.
#[derive(Clone, Copy, Debug)]
pub struct Children<'a> {
    /// Bytes per second to each child.
    pub bandwidth: &'a [f64],
    /// For each child, the latency of the link in seconds. Each sent task takes the latency once.
    pub latency: &'a [f64],
    /// For each child and lane, the number of unanswered requests.
    pub requests: &'a [u32],
    /// For each child and kind, the number of tasks that are in the child's buffer or are being sent to the child, as
    /// far as this node knows.
    pub levels: &'a [u32],
    /// For each child and lane, true if the node is sending a task to the child on this lane.
    pub receiving: &'a [bool],
}

/// The state of a node, and of its children as far as the node knows it.
#[derive(Clone, Copy, Debug)]
pub struct NodeView<'a> {
    /// The current instant.
    pub now: Time,
    /// The kinds of tasks.
    pub kinds: &'a [Kind],
    /// For each kind, the number of tasks that wait at this node and are not being sent. At the root, all tasks that
    /// were not sent or computed wait.
    pub ready: &'a [u32],
    /// For each lane, the number of computations that this node can start now.
    pub idle: &'a [u32],
    /// For each lane, the number of sends that this node can start now.
    pub ports: &'a [u32],
    /// Work units per second of one processor of this node.
    pub speed: f64,
    /// The state of the children, as far as this node knows it.
    pub children: Children<'a>,
}

/// The decentralised scheduler of one node. A policy sees only its own node and the children of this node. The policy
/// receives each event at the instant of the event. After all events of an instant, the policy is called repeatedly
/// until it returns no further decision.
pub trait NodePolicy {
    /// Receives an event. The policy makes decisions later, in [`NodePolicy::decide`].
    fn hear(&mut self, event: NodeEvent, view: &NodeView<'_>) {
        let _ = (event, view);
    }

    /// Returns the next decision of this node, if there is one. The decision is executed at once, and the view of the
    /// next call shows the result.
    fn decide(&mut self, view: &NodeView<'_>) -> Option<NodeDecision>;
}

impl NodeView<'_> {
    /// Returns the number of lanes: one if all kinds share a buffer, otherwise one per kind.
    pub fn lanes(&self) -> usize {
        self.idle.len()
    }

    /// Returns the lane of a kind.
    pub fn lane(&self, kind: usize) -> usize {
        if self.lanes() == 1 { 0 } else { kind }
    }

    /// Returns true if a task of this kind can be computed now.
    pub fn can_compute(&self, kind: usize) -> bool {
        self.ready[kind] > 0 && self.idle[self.lane(kind)] > 0
    }

    /// Returns true if the child has requested a task of this lane and no task of this lane is being sent to the
    /// child.
    pub fn asks(&self, child: usize, lane: usize) -> bool {
        let at = child * self.lanes() + lane;
        self.children.requests[at] > 0 && !self.children.receiving[at]
    }

    /// Returns true if a task of this kind can be sent to this child now.
    pub fn can_send(&self, child: usize, kind: usize) -> bool {
        let lane = self.lane(kind);
        self.ready[kind] > 0 && self.ports[lane] > 0 && self.asks(child, lane)
    }

    /// Returns the number of tasks of a kind that are in a child's buffer or are being sent to the child, as far as
    /// this node knows.
    pub fn level(&self, child: usize, kind: usize) -> u32 {
        self.children.levels[child * self.kinds.len() + kind]
    }

    /// Returns the time in seconds that the port needs to send a piece of this kind to this child if the port sends
    /// nothing else at the same time. This time is the latency multiplied by the number of tasks in the piece, plus the
    /// bytes of the piece divided by the bandwidth.
    pub fn hop(&self, child: usize, kind: usize) -> f64 {
        let kind = &self.kinds[kind];
        self.children.latency[child] * f64::from(kind.size()) + kind.data / self.children.bandwidth[child]
    }

    /// Returns the number of children, including children that were removed.
    pub fn degree(&self) -> usize {
        self.children.bandwidth.len()
    }
}

impl<P: NodePolicy + ?Sized> NodePolicy for Box<P> {
    fn hear(&mut self, event: NodeEvent, view: &NodeView<'_>) {
        (**self).hear(event, view);
    }

    fn decide(&mut self, view: &NodeView<'_>) -> Option<NodeDecision> {
        (**self).decide(view)
    }
}
