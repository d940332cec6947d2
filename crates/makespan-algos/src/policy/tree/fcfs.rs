//! First come, first served.

use std::collections::VecDeque;

use makespan_core::network::{Kind, NodeDecision, NodeEvent, NodePolicy, NodeView};

use super::balance::Balance;

/// FCFS of O. Beaumont et al., "Centralized versus distributed schedulers for multiple bag-of-task applications" (IPDPS
/// 2006, DOI 10.1109/IPDPS.2006.1639262), section 4.2. A node serves requests in the order of their arrival, with tasks
/// in the order of their arrival. The root chooses the kind by one-dimensional load balancing, with the weights as
/// frequencies.
///
/// If a processor of the node becomes idle, this is also treated as a request. If several requests come at the same
/// instant, the requests of children come first. The paper does not say whether a request that waits for the port
/// delays the node's own processors. In this policy, such a request does not delay them. An idle processor takes the
/// oldest task, unless the oldest request of the children is older than the request of the processor and can be served.
#[derive(Clone, Debug)]
pub struct Fcfs {
    /// The children with requests, the oldest request first. Each entry is a child, and the position of its request
    /// among all requests.
    requests: VecDeque<(u32, u64)>,
    /// The positions of the requests of idle processors among all requests, the oldest first.
    own: VecDeque<u64>,
    /// Number of requests so far.
    asked: u64,
    /// The kinds of the waiting tasks, the oldest first. The root does not use this field.
    tasks: VecDeque<u32>,
    root: Option<Balance>,
}

impl Fcfs {
    /// Returns the policy of one node.
    pub fn new(kinds: &[Kind], is_root: bool) -> Self {
        let root = is_root.then(|| Balance::new(kinds.iter().map(|kind| kind.weight).collect()));
        Self { requests: VecDeque::new(), own: VecDeque::new(), asked: 0, tasks: VecDeque::new(), root }
    }

    /// Adds a request for each processor that has become idle.
    fn notice(&mut self, idle: usize) {
        self.own.truncate(idle);
        while self.own.len() < idle {
            self.own.push_back(self.asked);
            self.asked += 1;
        }
    }

    fn next_kind(&self, view: &NodeView<'_>) -> Option<usize> {
        match &self.root {
            Some(balance) => balance.next((0..view.kinds.len()).filter(|&kind| view.ready[kind] > 0)),
            None => self.tasks.front().map(|&kind| kind as usize),
        }
    }

    fn taken(&mut self, kind: usize) {
        match &mut self.root {
            Some(balance) => balance.make(kind),
            None => {
                self.tasks.pop_front();
            }
        }
    }
}

impl NodePolicy for Fcfs {
    fn hear(&mut self, event: NodeEvent, _view: &NodeView<'_>) {
        match event {
            NodeEvent::Requested { child, .. } => {
                self.requests.push_back((child as u32, self.asked));
                self.asked += 1;
            }
            NodeEvent::Received { kind } if self.root.is_none() => self.tasks.push_back(kind as u32),
            NodeEvent::Returned { kind } if self.root.is_none() => self.tasks.push_front(kind as u32),
            NodeEvent::ChildRemoved { child } => self.requests.retain(|&(asked, _)| asked as usize != child),
            _ => {}
        }
    }

    fn decide(&mut self, view: &NodeView<'_>) -> Option<NodeDecision> {
        self.notice(view.idle[0] as usize);
        let kind = self.next_kind(view)?;
        let sendable = self.requests.front().filter(|&&(child, _)| view.can_send(child as usize, kind)).copied();
        let decision = match (self.own.front(), sendable) {
            (Some(&own), Some((_, asked))) if own < asked => NodeDecision::Compute { kind },
            (Some(_), None) => NodeDecision::Compute { kind },
            (_, Some((child, _))) => NodeDecision::Send { child: child as usize, kind },
            (None, None) => return None,
        };
        match decision {
            NodeDecision::Compute { .. } => self.own.pop_front().map(|_| ()),
            _ => self.requests.pop_front().map(|_| ()),
        };
        self.taken(kind);
        Some(decision)
    }
}
