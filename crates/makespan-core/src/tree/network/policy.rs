//! Events, views and decisions of one node.

use super::Kind;
use crate::model::Time;

/// An event at one node. Kinds are numbered as in [`super::Network::kinds`], children from 0 in the order of
/// [`super::Network::children`]. A lane is 0 if all kinds share a buffer, and the kind if each kind has its own buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeEvent {
    /// A task arrived from the parent, or returned to the root from a node that was removed.
    Received {
        /// Kind of the task.
        kind: usize,
    },
    /// A child has room for one more task.
    Requested {
        /// The child.
        child: usize,
        /// The lane.
        lane: usize,
    },
    /// A task was being sent to a child that was removed, and is now back in this node's buffer.
    Returned {
        /// Kind of the task.
        kind: usize,
    },
    /// The bandwidth of the link to a child changed.
    BandwidthChanged {
        /// The child.
        child: usize,
    },
    /// The speed of this node changed.
    SpeedChanged,
    /// A child was removed, with all nodes below it.
    ChildRemoved {
        /// The child.
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
        /// The child.
        child: usize,
        /// Kind of the task.
        kind: usize,
    },
    /// Do nothing now. The policy is called again after the next event, or at this later instant if no event occurs
    /// before.
    Wait {
        /// The latest time of the next call.
        until: Time,
    },
}

/// A node's knowledge of its children: their requests, and the tasks that were sent to them. With each request, a child
/// reports which task left its buffer.
#[derive(Clone, Copy, Debug)]
pub struct Children<'a> {
    /// Bytes per second to each child.
    pub bandwidth: &'a [f64],
    /// Latency in seconds of each task on its way to each child.
    pub latency: &'a [f64],
    /// Number of unanswered requests, by child and lane.
    pub requests: &'a [u32],
    /// Number of tasks in the child's buffer or on their way to it, as known to this node, by child and kind.
    pub levels: &'a [u32],
    /// True if a task is on its way to the child, by child and lane.
    pub receiving: &'a [bool],
}

/// A node's knowledge of itself and its children.
#[derive(Clone, Copy, Debug)]
pub struct NodeView<'a> {
    /// The current instant.
    pub now: Time,
    /// The kinds of tasks.
    pub kinds: &'a [Kind],
    /// Number of waiting tasks by kind, without tasks that are being sent. At the root, these are the tasks that were
    /// not sent.
    pub ready: &'a [u32],
    /// Number of tasks of each lane that may start here now.
    pub idle: &'a [u32],
    /// Number of sends of each lane that may start here now.
    pub ports: &'a [u32],
    /// Work units per second of one processor of this node.
    pub speed: f64,
    /// The children.
    pub children: Children<'a>,
}

/// The decentralised scheduler of one node. It sees only its node and the children of this node.
///
/// It receives each event when it happens. After all events of an instant, it is called repeatedly until it returns no
/// more decisions.
pub trait NodePolicy {
    /// Receives an event. Decisions are made later in [`NodePolicy::decide`].
    fn hear(&mut self, event: NodeEvent, view: &NodeView<'_>) {
        let _ = (event, view);
    }

    /// Returns the next decision of this node, if any. It is executed at once and visible in the next view.
    fn decide(&mut self, view: &NodeView<'_>) -> Option<NodeDecision>;
}

impl NodeView<'_> {
    /// Returns the number of lanes: one, or one per kind.
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

    /// Returns true if the child has requested a task of this lane and receives none.
    pub fn asks(&self, child: usize, lane: usize) -> bool {
        let at = child * self.lanes() + lane;
        self.children.requests[at] > 0 && !self.children.receiving[at]
    }

    /// Returns true if a task of this kind can be sent to this child now.
    pub fn can_send(&self, child: usize, kind: usize) -> bool {
        let lane = self.lane(kind);
        self.ready[kind] > 0 && self.ports[lane] > 0 && self.asks(child, lane)
    }

    /// Returns the number of tasks of a kind that this node assumes in a child's buffer.
    pub fn level(&self, child: usize, kind: usize) -> u32 {
        self.children.levels[child * self.kinds.len() + kind]
    }

    /// Returns the seconds that the port needs to send a piece of this kind to this child, without other sends: the
    /// latency of each task, plus the bytes divided by the bandwidth.
    pub fn hop(&self, child: usize, kind: usize) -> f64 {
        let kind = &self.kinds[kind];
        self.children.latency[child] * f64::from(kind.size()) + kind.data / self.children.bandwidth[child]
    }

    /// Returns the number of children, including removed ones.
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
