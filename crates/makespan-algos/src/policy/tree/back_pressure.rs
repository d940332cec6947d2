//! Tasks flow where the pressure is lowest.

use makespan_core::network::{Kind, NodeDecision, NodePolicy, NodeView};

/// Back-pressure: an idle processor of the node itself first; otherwise the port sends the (child, kind) with the
/// steepest fall of queue lengths times the rate of the hop, `(Q_u - Q_child) * bandwidth / data`.
///
/// L. Tassiulas and A. Ephremides, "Stability properties of constrained queueing systems and scheduling policies for
/// maximum throughput in multihop radio networks" (IEEE Transactions on Automatic Control 37(12), 1992, DOI
/// 10.1109/9.182479): sending along the largest weighted differences of queues is stable whenever anything is, with
/// unbounded queues. Here a queue is a buffer of a few tasks, and the root's queues are made up: B + 1 tasks for the kind
/// that is behind, and as many fewer for another kind as it is ahead in weighted tasks, which makes throughput fair.
/// The last few tasks of a kind would wait beside longer queues until these end; what was passed over `PATIENCE` buffers
/// long goes first.
///
/// A node needs to know the queues of its children, which they tell with their requests, and nothing else.
/// A decision takes a time of the order of children times kinds.
#[derive(Clone, Debug)]
pub struct BackPressure {
    /// What the root gave of each kind; none elsewhere.
    given: Vec<f64>,
    top: f64,
    /// Least weight of a kind over the weight of each.
    step: Vec<f64>,
    /// How often another kind was computed, and sent, while one waited.
    passed: [Vec<u32>; 2],
    /// How often that may be.
    patience: u32,
}

/// How many buffers of other tasks may pass a task.
const PATIENCE: u32 = 2;
/// Positions in `passed`.
const COMPUTE: usize = 0;
const SEND: usize = 1;

impl BackPressure {
    /// The policy of one node of a network whose buffers hold `buffer` tasks.
    pub fn new(kinds: &[Kind], buffer: u32, is_root: bool) -> Self {
        let passed = [vec![0; kinds.len()], vec![0; kinds.len()]];
        let patience = PATIENCE.saturating_mul(buffer.saturating_add(1));
        if !is_root {
            return Self { given: Vec::new(), top: 0.0, step: Vec::new(), passed, patience };
        }
        let least = kinds.iter().map(|kind| kind.weight).fold(f64::INFINITY, f64::min);
        let step = kinds.iter().map(|kind| least / kind.weight).collect();
        Self { given: vec![0.0; kinds.len()], top: f64::from(buffer) + 1.0, step, passed, patience }
    }

    /// Queue length of a kind; at the root, how far it is behind.
    fn level(&self, view: &NodeView<'_>, kind: usize, behind: f64) -> f64 {
        match self.given.get(kind) {
            None => f64::from(view.ready[kind]),
            Some(given) => self.top - (given * self.step[kind] - behind),
        }
    }
}

impl BackPressure {
    /// The best task for an idle processor: the longest queue over the time of its tasks.
    fn computed(&self, view: &NodeView<'_>, behind: f64) -> Option<usize> {
        let mut best = Best::default();
        for kind in (0..view.kinds.len()).filter(|&kind| view.can_compute(kind)) {
            let value = self.level(view, kind, behind) / view.kinds[kind].work;
            best.offer(self.urgency(COMPUTE, kind), value, kind);
        }
        best.choice
    }

    /// The best child and kind for the port.
    fn sent(&self, view: &NodeView<'_>, behind: f64) -> Option<(usize, usize)> {
        let mut best = Best::default();
        for kind in (0..view.kinds.len()).filter(|&kind| view.ready[kind] > 0) {
            let lane = view.lane(kind);
            if view.ports[lane] == 0 {
                continue;
            }
            let level = self.level(view, kind, behind);
            // Tasks without data cost nothing to send: the smallest divisor there is.
            let data = view.kinds[kind].data.max(f64::MIN_POSITIVE);
            for child in (0..view.degree()).filter(|&child| view.asks(child, lane)) {
                let fall = level - f64::from(view.level(child, kind));
                let urgency = self.urgency(SEND, kind);
                if fall > 0.0 || urgency > 0 {
                    best.offer(urgency, fall * view.children.bandwidth[child] / data, (child, kind));
                }
            }
        }
        best.choice
    }

    /// How far a kind has been passed over beyond patience. The root keeps its kinds in step by itself.
    fn urgency(&self, what: usize, kind: usize) -> u32 {
        if self.given.is_empty() { self.passed[what][kind].saturating_sub(self.patience) } else { 0 }
    }

    /// The least that the root gave of a kind that it still has, in weighted tasks.
    fn behind(&self, view: &NodeView<'_>) -> f64 {
        let kinds = self.given.iter().enumerate().filter(|&(kind, _)| view.ready[kind] > 0);
        kinds.map(|(kind, given)| given * self.step[kind]).fold(f64::INFINITY, f64::min)
    }
}

/// The choice of the largest urgency, and of these of the largest value; the first of equals.
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
    fn offer(&mut self, urgency: u32, value: f64, choice: T) {
        if (urgency, value) > (self.urgency, self.value) {
            *self = Self { urgency, value, choice: Some(choice) };
        }
    }
}

impl NodePolicy for BackPressure {
    fn decide(&mut self, view: &NodeView<'_>) -> Option<NodeDecision> {
        let behind = self.behind(view);
        let (what, kind, decision) = match self.computed(view, behind) {
            Some(kind) => (COMPUTE, kind, NodeDecision::Compute { kind }),
            None => self.sent(view, behind).map(|(child, kind)| (SEND, kind, NodeDecision::Send { child, kind }))?,
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
