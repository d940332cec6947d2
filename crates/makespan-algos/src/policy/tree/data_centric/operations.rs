//! The four operations, in the order in which they are tried.

use super::messages::{best_offer, give};
use super::state::DataCentricState;

/// Minimum amount of a trade, as a fraction of the highest throughput.
const LEAST_SHARE: f64 = 1e-4;

/// Performs the first operation that is possible. Returns `false` if no operation is possible. As in the paper, A is
/// the application with the highest weighted throughput, and B the application with the lowest.
pub(super) fn next(state: &mut DataCentricState<'_>, a: usize, b: usize) -> bool {
    let operations = [communication_trading, gap_filling, bus_desaturation, trading_on_the_root];
    operations.iter().any(|operation| operation(state, a, b))
}

/// Returns the difference of the throughputs of A and B, in weighted tasks per second.
fn gap(state: &DataCentricState<'_>, a: usize, b: usize) -> f64 {
    state.throughput(a) - state.throughput(b)
}

fn is_worth(state: &DataCentricState<'_>, a: usize, amount: f64, b: usize) -> bool {
    amount > LEAST_SHARE * state.throughput(a) * state.weight(b)
}

/// Gives x tasks of B to a node with idle processors, in exchange for tasks of A. The busy time of no link may
/// increase. For each link above the node, consider the ratio of the time of a hop of B to the time of a hop of A. The
/// number of tasks of A is x times the largest of these ratios. Thus no link limits the trade.
fn communication_trading(state: &mut DataCentricState<'_>, a: usize, b: usize) -> bool {
    let mut each = vec![0.0_f64; state.network.nodes().len()];
    for node in 1..each.len() {
        let above = state.network.nodes()[node].parent.map_or(0.0, |parent| each[parent]);
        let (hop_a, hop_b) = (state.hop(node, a), state.hop(node, b));
        each[node] = if hop_b > 0.0 { above.max(hop_b / hop_a) } else { above };
    }
    let own = |state: &DataCentricState<'_>, node: usize| {
        let (has, each) = (state.compute[node * state.kinds + a], each[node]);
        let more_work = state.work(b) - each * state.work(a);
        if node == 0 || state.hop(node, a) <= 0.0 || more_work <= 0.0 {
            return 0.0;
        }
        // Limit the trade. After the trade, the throughput of B must not exceed the throughput of A.
        let most = gap(state, a, b) / (1.0 / state.weight(b) + each / state.weight(a));
        let tasks = if each > 0.0 { has / each } else { f64::INFINITY };
        (state.idle(node) / more_work).min(tasks).min(most)
    };
    let offer = best_offer(state, own, |_, _| f64::INFINITY);
    if !is_worth(state, a, offer.amount, b) {
        return false;
    }
    give(state, offer.node, a, -offer.amount * each[offer.node]);
    give(state, offer.node, b, offer.amount);
    true
}

/// Gives more tasks of B to a node with idle processors, if all ports on the way have idle time.
fn gap_filling(state: &mut DataCentricState<'_>, a: usize, b: usize) -> bool {
    let most = gap(state, a, b) * state.weight(b);
    let own = |state: &DataCentricState<'_>, node: usize| (state.idle(node) / state.work(b)).min(most);
    let left: Vec<f64> = (0..state.network.nodes().len()).map(|node| state.port_left(node)).collect();
    let limit = |state: &DataCentricState<'_>, node: usize| {
        let parent = state.network.nodes()[node].parent.unwrap_or(0);
        let hop = state.hop(node, b);
        if hop > 0.0 { left[parent] / hop } else { f64::INFINITY }
    };
    let offer = best_offer(state, own, limit);
    if !is_worth(state, a, offer.amount, b) {
        return false;
    }
    give(state, offer.node, b, offer.amount);
    true
}

/// Removes a tenth of the tasks of A from one branch below the root. Among the branches with tasks of A, the branch
/// with the slowest link is used.
fn bus_desaturation(state: &mut DataCentricState<'_>, a: usize, _b: usize) -> bool {
    let kinds = state.kinds;
    let least = LEAST_SHARE * state.throughput(a) * state.weight(a);
    let branches = state.network.children(0).filter(|&child| state.sent[child * kinds + a] > least);
    let Some(branch) = branches.min_by(|&x, &y| state.by_hop(a, y, x)) else {
        return false;
    };
    let mut inside = vec![false; state.network.nodes().len()];
    inside[branch] = true;
    for node in branch..inside.len() {
        if let Some(parent) = state.network.nodes()[node].parent {
            inside[node] |= inside[parent];
        }
        if inside[node] {
            state.compute[node * kinds + a] *= 0.9;
            state.sent[node * kinds + a] *= 0.9;
        }
    }
    true
}

/// Replaces tasks of A on the root by tasks of B with the same work.
fn trading_on_the_root(state: &mut DataCentricState<'_>, a: usize, b: usize) -> bool {
    let each = state.work(a) / state.work(b);
    let equal = gap(state, a, b) / (1.0 / state.weight(a) + each / state.weight(b));
    let amount = state.compute[a].min(equal);
    if !is_worth(state, a, amount * each, b) {
        return false;
    }
    give(state, 0, a, -amount);
    give(state, 0, b, amount * each);
    true
}
