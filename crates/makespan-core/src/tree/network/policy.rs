//! What one node sees and decides.

use super::Kind;
use crate::model::Time;

/// What one node hears. Kinds are numbered as in [`super::Network::kinds`], children from 0 in the order of
/// [`super::Network::children`]. A lane is 0 where all kinds share a buffer, and the kind where each has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeEvent {
    /// A task arrived from the parent, or came back to the root from a node that was removed.
    Received {
        /// Of which kind.
        kind: usize,
    },
    /// A child has room for one more task.
    Requested {
        /// Which child.
        child: usize,
        /// In which lane.
        lane: usize,
    },
    /// A task that was being sent to a child that was removed is here as before.
    Returned {
        /// Of which kind.
        kind: usize,
    },
    /// The link to a child has another bandwidth.
    BandwidthChanged {
        /// Which child.
        child: usize,
    },
    /// This node computes at another speed.
    SpeedChanged,
    /// A child is gone, with all nodes below it.
    ChildRemoved {
        /// Which child.
        child: usize,
    },
}

/// What one node does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeDecision {
    /// Compute a task that waits here.
    Compute {
        /// Of which kind.
        kind: usize,
    },
    /// Send a task that waits here to a child that asked for one.
    Send {
        /// To which child.
        child: usize,
        /// Of which kind.
        kind: usize,
    },
    /// Nothing for now; the policy is asked again when something happens, or else at this later instant.
    Wait {
        /// When.
        until: Time,
    },
}

/// What one node knows of its children: what they asked for and what they were sent. A child tells with each request
/// which task left its buffer.
#[derive(Clone, Copy, Debug)]
pub struct Children<'a> {
    /// Bytes a second to each child.
    pub bandwidth: &'a [f64],
    /// Seconds that a task on its way to each child takes besides.
    pub latency: &'a [f64],
    /// Requests that are not answered, by child and lane.
    pub requests: &'a [u32],
    /// Tasks in the child's buffer or on their way to it as far as this node has heard, by child and kind.
    pub levels: &'a [u32],
    /// Whether something is on its way to the child, by child and lane.
    pub receiving: &'a [bool],
}

/// What one node knows: itself and its children.
#[derive(Clone, Copy, Debug)]
pub struct NodeView<'a> {
    /// The present instant.
    pub now: Time,
    /// The kinds of tasks there are.
    pub kinds: &'a [Kind],
    /// Tasks that wait here by kind, without those that are being sent. The root has those that nobody got.
    pub ready: &'a [u32],
    /// How many tasks of each lane may be started here now.
    pub idle: &'a [u32],
    /// How many sends of each lane may be started here now.
    pub ports: &'a [u32],
    /// Work units a second of one processor here.
    pub speed: f64,
    /// The children.
    pub children: Children<'a>,
}

/// The decentralised scheduler of one node: it sees its node and the node's children, nothing else.
///
/// It hears each event as it happens. When all events of an instant are over it is asked what to do, again and again
/// until it wants nothing more.
pub trait NodePolicy {
    /// Takes note of an event. Nothing is decided here.
    fn hear(&mut self, event: NodeEvent, view: &NodeView<'_>) {
        let _ = (event, view);
    }

    /// What this node does now; it is done at once and seen in the next view.
    fn decide(&mut self, view: &NodeView<'_>) -> Option<NodeDecision>;
}

impl NodeView<'_> {
    /// How many lanes there are: one, or one a kind.
    pub fn lanes(&self) -> usize {
        self.idle.len()
    }

    /// The lane of a kind.
    pub fn lane(&self, kind: usize) -> usize {
        if self.lanes() == 1 { 0 } else { kind }
    }

    /// Whether a task of this kind can be computed now.
    pub fn can_compute(&self, kind: usize) -> bool {
        self.ready[kind] > 0 && self.idle[self.lane(kind)] > 0
    }

    /// Whether the child waits for a task of this lane and receives none.
    pub fn asks(&self, child: usize, lane: usize) -> bool {
        let at = child * self.lanes() + lane;
        self.children.requests[at] > 0 && !self.children.receiving[at]
    }

    /// Whether a task of this kind can be sent to this child now.
    pub fn can_send(&self, child: usize, kind: usize) -> bool {
        let lane = self.lane(kind);
        self.ready[kind] > 0 && self.ports[lane] > 0 && self.asks(child, lane)
    }

    /// How many tasks of a kind this node supposes in a child's buffer.
    pub fn level(&self, child: usize, kind: usize) -> u32 {
        self.children.levels[child * self.kinds.len() + kind]
    }

    /// Seconds that the port needs to send a piece of this kind to this child, alone: a latency a task, and the bytes over
    /// the bandwidth.
    pub fn hop(&self, child: usize, kind: usize) -> f64 {
        let kind = &self.kinds[kind];
        self.children.latency[child] * f64::from(kind.size()) + kind.data / self.children.bandwidth[child]
    }

    /// How many children there are, with those that were removed.
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
