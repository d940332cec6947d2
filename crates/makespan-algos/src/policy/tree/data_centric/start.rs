//! The bandwidth-centric rates of one application.

use super::state::DataCentricState;

/// Sets the rates of every node for one kind: the kind with the largest ratio of data to work. First, each node reports
/// to its parent the amount that its subtree could take. Then each node distributes its amount. The node's own
/// processors come first, and then its children, by increasing time of the hop to each child.
pub(super) fn bandwidth_centric(state: &mut DataCentricState<'_>) {
    let ratio = |kind: usize| state.data(kind) / state.work(kind);
    let kind = (0..state.kinds).max_by(|&a, &b| ratio(a).total_cmp(&ratio(b)).then(b.cmp(&a))).unwrap_or(0);
    let (nodes, kinds) = (state.network.nodes().len(), state.kinds);
    let mut takes = vec![0.0; nodes];
    for node in (0..nodes).rev() {
        let own = state.capacity[node] / state.work(kind);
        let below: f64 = shared(state, node, kind, &takes, f64::INFINITY).iter().map(|&(_, rate)| rate).sum();
        takes[node] = own + below;
    }
    let mut gets = vec![0.0; nodes];
    gets[0] = takes[0];
    for node in 0..nodes {
        let own = gets[node].min(state.capacity[node] / state.work(kind));
        state.compute[node * kinds + kind] = own;
        for (child, rate) in shared(state, node, kind, &takes, gets[node] - own) {
            gets[child] = rate;
            state.sent[child * kinds + kind] = rate;
        }
    }
}

/// Returns the children of a node with their rates, if together they get at most the rate `all`. The rate of a child
/// is at most its number in `takes`. The port serves the child with the shortest hop first.
fn shared(state: &DataCentricState<'_>, node: usize, kind: usize, takes: &[f64], mut all: f64) -> Vec<(usize, f64)> {
    let mut children: Vec<usize> = state.network.children(node).collect();
    children.sort_by(|&a, &b| state.by_hop(kind, a, b));
    let mut port = 1.0;
    let mut give = |child: usize| {
        let each = state.hop(child, kind);
        let most = if each > 0.0 { port / each } else { f64::INFINITY };
        let rate = takes[child].min(most).min(all).max(0.0);
        all -= rate;
        port = (port - rate * each).max(0.0);
        (child, rate)
    };
    children.into_iter().map(&mut give).collect()
}
