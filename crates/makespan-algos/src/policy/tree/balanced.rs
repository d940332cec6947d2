//! A policy that follows rates by one-dimensional load balancing.

use makespan_core::network::{NodeDecision, NodeEvent, NodePolicy, NodeView};

use super::balance::Balance;

/// Follows the rates of a steady state. A thread is an idle processor of the node, or a child that has sent a request.
/// One-dimensional load balancing chooses the next pair (thread, kind) from the possible pairs.
///
/// Source: O. Beaumont et al. (IPDPS 2006, DOI 10.1109/IPDPS.2006.1639262), section 4.1. The paper uses the rates of
/// the linear programme. Deviation: the paper chooses among all pairs, and then waits until the chosen pair is
/// possible. Such waits reduce the throughput by a factor of 1.3 to 1.4. So this policy chooses among the pairs that
/// are possible now.
///
/// If the rates or the machines have changed, a kind may have no rate at a node. A task of such a kind is computed or
/// sent when no pair with a rate is possible, so that it does not wait forever.
#[derive(Clone, Debug)]
pub struct Balanced {
    /// The choices: first the node's own processors by kind, and then each child by kind.
    balance: Balance,
    /// For each kind, whether at least one thread has a positive rate.
    served: Vec<bool>,
}

impl Balanced {
    /// Returns the policy of a node that follows rates: `compute` by kind, and `sent` by child and kind.
    pub fn new(compute: &[f64], sent: &[f64]) -> Self {
        let balance = Balance::new(compute.iter().chain(sent).copied().collect());
        let mut balanced = Self { served: vec![true; compute.len()], balance };
        balanced.look();
        balanced
    }

    /// Determines for which kinds a thread has a positive rate.
    fn look(&mut self) {
        let kinds = self.served.len();
        for kind in 0..kinds {
            self.served[kind] = (kind..self.balance.len()).step_by(kinds).any(|choice| self.balance.is_made(choice));
        }
    }
}

/// Returns the indices in the balance of the pairs (thread, kind) that are possible now.
fn possible<'a>(view: &'a NodeView<'_>) -> impl Iterator<Item = usize> + 'a {
    let kinds = view.kinds.len();
    let own = (0..kinds).filter(|&kind| view.can_compute(kind));
    let sendable = (0..kinds).filter(|&kind| view.ready[kind] > 0 && view.ports[view.lane(kind)] > 0);
    let sent = sendable.flat_map(move |kind| {
        let asking = (0..view.degree()).filter(move |&child| view.asks(child, view.lane(kind)));
        asking.map(move |child| (child + 1) * kinds + kind)
    });
    own.chain(sent)
}

impl NodePolicy for Balanced {
    fn hear(&mut self, event: NodeEvent, view: &NodeView<'_>) {
        if let NodeEvent::ChildRemoved { child } = event {
            let kinds = view.kinds.len();
            (0..kinds).for_each(|kind| self.balance.stop((child + 1) * kinds + kind));
            self.look();
        }
    }

    fn decide(&mut self, view: &NodeView<'_>) -> Option<NodeDecision> {
        let kinds = view.kinds.len();
        let stray = || possible(view).find(|&choice| !self.served[choice % kinds]);
        let choice = self.balance.next(possible(view)).or_else(stray)?;
        self.balance.make(choice);
        let kind = choice % kinds;
        Some(match choice / kinds {
            0 => NodeDecision::Compute { kind },
            thread => NodeDecision::Send { child: thread - 1, kind },
        })
    }
}
