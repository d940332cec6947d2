//! Back-pressure: tasks flow to where queues are short.

use makespan_core::Time;
use makespan_core::network::{Kind, NodeDecision, NodeEvent, NodePolicy, NodeView};

use super::appetite::{ChildDemands, Hop};

/// Back-pressure. An idle processor of the node is served first. Otherwise, the port sends a task of some kind to some
/// child. The chosen pair of child and kind is the pair with the largest value of `(Q_u - Q_child) / (latency + data /
/// bandwidth)`: the queue length of the kind at the node minus its queue length at the child, divided by the time of
/// the hop.
///
/// Source: L. Tassiulas and A. Ephremides, "Stability properties of constrained queueing systems and scheduling
/// policies for maximum throughput in multihop radio networks" (IEEE Transactions on Automatic Control 37(12), 1992,
/// DOI 10.1109/9.182479). If queues are unbounded, sending along the largest weighted differences of queues is stable
/// whenever some policy is stable. In this policy, a queue is a buffer of up to B tasks. The queues of the root are
/// virtual. The progress of a kind is the weighted number of its tasks that the root has given away. The queue of the
/// kind with the least progress has B + 1 tasks. If the progress of another kind is larger by x, its queue has x fewer
/// tasks. This makes the throughput fair. The last few tasks of a kind would wait while other queues are longer.
/// Therefore, if a kind has waited while about `PATIENCE` buffers of tasks of other kinds were chosen, this kind is
/// sent first.
///
/// A hop is not interrupted. With small buffers, one long hop may starve all other children. So a node observes from
/// the requests of its children how fast they take work. If another child would run out of work during a hop, and would
/// lose more work than the hop brings, the node waits.
///
/// A node needs only the queue lengths of its children, which the children report with their requests. A decision
/// takes O(children * kinds), or O(children^2) if hops are long.
#[derive(Clone, Debug)]
pub struct BackPressure {
    /// At the root, the number of tasks of each kind that the root has given away. The list is empty at other nodes.
    given: Vec<f64>,
    top: f64,
    /// For each kind, the minimum weight of all kinds divided by the weight of this kind.
    step: Vec<f64>,
    /// For each kind, the number of times that the kind waited while another kind was chosen. The first list is for
    /// the node's own processors (`COMPUTE`), the second for sends (`SEND`).
    passed: [Vec<u32>; 2],
    /// Number of times that a kind may be passed over before it is chosen first.
    patience: u32,
    appetites: ChildDemands,
    /// Kinds that may be sent now.
    offered: Vec<bool>,
    /// The instant until which the port was last left idle intentionally.
    until: Time,
}

/// Maximum number of tasks of other kinds that may be chosen while a task waits, as a multiple of B + 1 for buffers of
/// B tasks.
const PATIENCE: u32 = 2;
/// Time that is assumed for a hop that takes no time, in seconds: one tick.
const SHORTEST: f64 = 1e-9;
/// Index of the node's own processors in `passed`.
const COMPUTE: usize = 0;
/// Index of sends in `passed`.
const SEND: usize = 1;

impl BackPressure {
    /// Returns the policy of one node in a network with buffers for `buffer` tasks.
    pub fn new(kinds: &[Kind], buffer: u32, is_root: bool) -> Self {
        let passed = [vec![0; kinds.len()], vec![0; kinds.len()]];
        let patience = PATIENCE.saturating_mul(buffer.saturating_add(1));
        let appetites = ChildDemands::new(buffer);
        let (given, top, until) = (Vec::new(), f64::from(buffer) + 1.0, Time::ZERO);
        let any = Self {
            given,
            top,
            step: Vec::new(),
            passed,
            patience,
            appetites,
            offered: vec![false; kinds.len()],
            until,
        };
        if !is_root {
            return any;
        }
        let least = kinds.iter().map(|kind| kind.weight).fold(f64::INFINITY, f64::min);
        let step = kinds.iter().map(|kind| least / kind.weight).collect();
        Self { given: vec![0.0; kinds.len()], step, ..any }
    }

    /// Returns the queue length of a kind. At the root, the length is computed from `behind`, the result of
    /// [`BackPressure::behind`].
    fn level(&self, view: &NodeView<'_>, kind: usize, behind: f64) -> f64 {
        match self.given.get(kind) {
            None => f64::from(view.ready[kind]),
            Some(given) => self.top - (given * self.step[kind] - behind),
        }
    }
}

impl BackPressure {
    /// Returns the best kind for an idle processor. The best kind has the largest quotient of queue length and work of
    /// a task.
    fn computed(&self, view: &NodeView<'_>, behind: f64) -> Option<usize> {
        let mut best = Best::default();
        for kind in (0..view.kinds.len()).filter(|&kind| view.can_compute(kind)) {
            let value = self.level(view, kind, behind) / view.kinds[kind].work;
            best.offer(self.urgency(COMPUTE, kind), value, kind);
        }
        best.choice
    }

    /// Determines which kinds may be sent now.
    fn offer(&mut self, view: &NodeView<'_>, behind: f64) {
        for kind in 0..view.kinds.len() {
            let is_high = self.level(view, kind, behind) > 0.0 || self.urgency(SEND, kind) > 0;
            self.offered[kind] = view.ready[kind] > 0 && is_high;
        }
    }

    /// Returns the best child and kind for the port. If sends should wait, also returns the earliest instant at which
    /// one of these sends no longer needs to wait.
    fn sent(&self, view: &NodeView<'_>, behind: f64) -> (Option<(usize, usize)>, Option<Time>) {
        let (mut best, mut wait): (_, Option<Time>) = (Best::default(), None);
        let offered = (0..view.kinds.len()).filter(|&kind| self.offered[kind] && view.ports[view.lane(kind)] > 0);
        for kind in offered {
            let (level, urgency) = (self.level(view, kind, behind), self.urgency(SEND, kind));
            // If a send of a kind should wait, do not make a longer hop of the same kind.
            let (mut of_kind, mut shortest_wait) = (Best::default(), f64::INFINITY);
            for child in (0..view.degree()).filter(|&child| view.asks(child, view.lane(kind))) {
                let fall = level - f64::from(view.level(child, kind));
                let seconds = view.hop(child, kind).max(SHORTEST);
                let value = fall / seconds;
                if (fall <= 0.0 && urgency == 0)
                    || !best.is_beaten(urgency, value)
                    || !of_kind.is_beaten(urgency, value)
                {
                    continue;
                }
                let hop = Hop { work: view.kinds[kind].work, seconds, shortest: SHORTEST };
                match self.appetites.wait(view, &self.offered, child, hop) {
                    None => of_kind.offer(urgency, value, (child, seconds)),
                    Some(until) => {
                        wait = Some(wait.map_or(until, |earlier| earlier.min(until)));
                        shortest_wait = shortest_wait.min(seconds);
                    }
                }
            }
            if let Some((child, seconds)) = of_kind.choice
                && seconds <= shortest_wait
            {
                best.offer(of_kind.urgency, of_kind.value, (child, kind));
            }
        }
        (best.choice, wait)
    }

    /// Leaves the port idle until an instant. Requests a call at this instant, unless a call at this instant or earlier
    /// was already requested.
    fn waits(&mut self, now: Time, until: Time) -> Option<NodeDecision> {
        if now < self.until && self.until <= until {
            return None;
        }
        self.until = until;
        Some(NodeDecision::Wait { until })
    }

    /// Returns the number of times that a kind was passed over, minus the patience, but at least 0. At the root,
    /// returns 0, because its virtual queues balance the kinds.
    fn urgency(&self, what: usize, kind: usize) -> u32 {
        if self.given.is_empty() { self.passed[what][kind].saturating_sub(self.patience) } else { 0 }
    }

    /// Returns the least weighted number of tasks that the root has given away, over the kinds that still have tasks.
    /// The weighted number is the number of tasks times `step`.
    fn behind(&self, view: &NodeView<'_>) -> f64 {
        let kinds = self.given.iter().enumerate().filter(|&(kind, _)| view.ready[kind] > 0);
        kinds.map(|(kind, given)| given * self.step[kind]).fold(f64::INFINITY, f64::min)
    }
}

/// The best choice: the largest urgency, then the largest value. Among equal choices, the first one is best.
struct Best<T> {
    urgency: u32,
    value: f64,
    choice: Option<T>,
}

impl<T> Default for Best<T> {
    fn default() -> Self {
        Self { urgency: 0, value: f64::NEG_INFINITY, choice: None }
    }
}

impl<T> Best<T> {
    fn is_beaten(&self, urgency: u32, value: f64) -> bool {
        (urgency, value) > (self.urgency, self.value)
    }

    fn offer(&mut self, urgency: u32, value: f64, choice: T) {
        if self.is_beaten(urgency, value) {
            *self = Self { urgency, value, choice: Some(choice) };
        }
    }
}

impl NodePolicy for BackPressure {
    fn hear(&mut self, event: NodeEvent, view: &NodeView<'_>) {
        match event {
            NodeEvent::Requested { child, .. } => self.appetites.look(view, child),
            NodeEvent::ChildRemoved { child } => self.appetites.forget(child),
            _ => {}
        }
    }

    fn decide(&mut self, view: &NodeView<'_>) -> Option<NodeDecision> {
        let behind = self.behind(view);
        let (what, kind, decision) = if let Some(kind) = self.computed(view, behind) {
            (COMPUTE, kind, NodeDecision::Compute { kind })
        } else {
            self.offer(view, behind);
            let (choice, wait) = self.sent(view, behind);
            let Some((child, kind)) = choice else { return self.waits(view.now, wait?) };
            self.appetites.sent(view, child, view.kinds[kind].work);
            (SEND, kind, NodeDecision::Send { child, kind })
        };
        for (other, passed) in self.passed[what].iter_mut().enumerate() {
            *passed = if other == kind || view.ready[other] == 0 { 0 } else { passed.saturating_add(1) };
        }
        if let Some(given) = self.given.get_mut(kind) {
            *given += 1.0;
        }
        Some(decision)
    }
}
