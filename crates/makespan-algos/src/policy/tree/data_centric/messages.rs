//! One wave up the tree, one down.

use super::state::State;

/// What a subtree can take: how much of the trade, at which node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) amount: f64,
    pub(super) node: usize,
}

/// Every node sends its parent the best offer of its subtree, its own or a child's after the limit of the link to that
/// child; the root gets the best of all, the first of equals.
pub(super) fn best_offer(
    state: &State<'_>,
    own: impl Fn(&State<'_>, usize) -> f64,
    limit: impl Fn(&State<'_>, usize) -> f64,
) -> Offer {
    let nodes = state.network.nodes().len();
    let mut offers: Vec<Offer> = (0..nodes).map(|node| Offer { amount: own(state, node), node }).collect();
    for node in (1..nodes).rev() {
        let Some(parent) = state.network.nodes()[node].parent else { continue };
        let amount = offers[node].amount.min(limit(state, node));
        if amount > offers[parent].amount {
            offers[parent] = Offer { amount, node: offers[node].node };
        }
    }
    offers[0]
}

/// The decision goes down to a node: each on the way changes what it sends by so many tasks of a kind a second, and the node
/// what it computes.
pub(super) fn give(state: &mut State<'_>, to: usize, kind: usize, amount: f64) {
    let kinds = state.kinds;
    let changed = |rate: &mut f64| *rate = (*rate + amount).max(0.0);
    changed(&mut state.compute[to * kinds + kind]);
    let mut node = to;
    while let Some(parent) = state.network.nodes()[node].parent {
        changed(&mut state.sent[node * kinds + kind]);
        node = parent;
    }
}
