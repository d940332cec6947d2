//! The messages of the nodes: a wave up the tree, and a wave down.

use super::state::DataCentricState;

/// An offer to take part in a trade: the amount, and the node that offers it.
#[derive(Clone, Copy, Debug)]
pub(super) struct TradeOffer {
    pub(super) amount: f64,
    pub(super) node: usize,
}

/// Returns the best offer of the tree. Every node sends the best offer of its subtree to its parent. The best offer is
/// the largest of the node's own offer and the offers of its children. An offer of a child is limited by the link to
/// the child. Among equal offers, the first offer is best.
pub(super) fn best_offer(
    state: &DataCentricState<'_>,
    own: impl Fn(&DataCentricState<'_>, usize) -> f64,
    limit: impl Fn(&DataCentricState<'_>, usize) -> f64,
) -> TradeOffer {
    let nodes = state.network.nodes().len();
    let mut offers: Vec<TradeOffer> = (0..nodes).map(|node| TradeOffer { amount: own(state, node), node }).collect();
    for node in (1..nodes).rev() {
        let Some(parent) = state.network.nodes()[node].parent else { continue };
        let amount = offers[node].amount.min(limit(state, node));
        if amount > offers[parent].amount {
            offers[parent] = TradeOffer { amount, node: offers[node].node };
        }
    }
    offers[0]
}

/// Sends a decision down to the node `to`. Each node on the way changes its send rate of a kind by `amount` tasks per
/// second. The node `to` changes its compute rate.
pub(super) fn give(state: &mut DataCentricState<'_>, to: usize, kind: usize, amount: f64) {
    let kinds = state.kinds;
    let changed = |rate: &mut f64| *rate = (*rate + amount).max(0.0);
    changed(&mut state.compute[to * kinds + kind]);
    let mut node = to;
    while let Some(parent) = state.network.nodes()[node].parent {
        changed(&mut state.sent[node * kinds + kind]);
        node = parent;
    }
}
