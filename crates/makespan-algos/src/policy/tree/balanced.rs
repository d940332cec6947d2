//! Rates followed by one-dimensional load balancing.

use makespan_core::network::{NodeDecision, NodePolicy, NodeView};

use super::balance::Balance;

/// Follows rates: of the pairs (thread, kind) that are possible now, a thread being an idle processor of the node or a child
/// that asked, the one whose turn it is by one-dimensional load balancing.
///
/// O. Beaumont et al. (IPDPS 2006, DOI 10.1109/IPDPS.2006.1639262), section 4.1. The paper's algorithm also chooses among pairs
/// that do not ask and then waits; waiting for the ideal pair is 1.3 to 1.4 times worse, so those that ask compete.
#[derive(Clone, Debug)]
pub struct Balanced {
    /// Of the own processors by kind, then of each child by kind.
    balance: Balance,
}

impl Balanced {
    /// The policy of a node that computes and sends at these rates.
    pub fn new(compute: &[f64], sent: &[f64]) -> Self {
        Self { balance: Balance::new(compute.iter().chain(sent).copied().collect()) }
    }
}

impl NodePolicy for Balanced {
    fn decide(&mut self, view: &NodeView<'_>) -> Option<NodeDecision> {
        let kinds = view.kinds.len();
        let own = (0..kinds).filter(|&kind| view.can_compute(kind));
        let sendable = (0..kinds).filter(|&kind| view.ready[kind] > 0 && view.ports[view.lane(kind)] > 0);
        let sent = sendable.flat_map(|kind| {
            let asking = (0..view.degree()).filter(move |&child| view.asks(child, view.lane(kind)));
            asking.map(move |child| (child + 1) * kinds + kind)
        });
        let choice = self.balance.next(own.chain(sent))?;
        self.balance.make(choice);
        let kind = choice % kinds;
        Some(match choice / kinds {
            0 => NodeDecision::Compute { kind },
            thread => NodeDecision::Send { child: thread - 1, kind },
        })
    }
}
