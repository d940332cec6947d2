//! Rates that nodes find by trading tasks along the tree.

mod messages;
mod operations;
mod policy;
mod start;
mod state;

pub use policy::DataCentric;

use makespan_core::network::Network;

use self::state::DataCentricState;
use super::rates::NodeRates;

/// Returns the rates of DATA-CENTRIC for the current bandwidths and speeds of a network. Each application is one kind.
///
/// Source: O. Beaumont et al., "Centralized versus distributed schedulers for multiple bag-of-task applications"
/// (IPDPS 2006, DOI 10.1109/IPDPS.2006.1639262), section 4.5. The search begins with one application: the application
/// with the largest ratio of communication to computation. The initial rates of this application are
/// bandwidth-centric. Let A be the application with the highest weighted throughput, and B the application with the
/// lowest. The search ends when the throughputs of A and B differ by less than a twentieth. In each step, the first
/// operation of this list that is possible is performed:
///
/// 1. communication trading: an underused node gets tasks of B instead of tasks of A with the same communication time;
/// 2. gap filling: a node with unused processor time, below links with unused time, gets tasks of B;
/// 3. bus de-saturation: the branch with the smallest bandwidth that has tasks of A loses a tenth of these tasks;
/// 4. task trading on the root: the root gets tasks of B instead of tasks of A with the same work.
///
/// A node knows its own rates and capacities, and the rates and capacities of the links to its children. An operation
/// also needs data of remote nodes. Nodes send these data up the tree as offers. Each node sends its parent the best
/// offer of its subtree, limited by each link on the way. Decisions are sent down the tree from node to node. One
/// operation takes one wave of messages up the tree and one down.
///
/// In every operation, a task occupies a port for the latency of the link plus the bytes of the task divided by the
/// bandwidth.
///
/// Deviations: if several nodes could take part in a trade, the node with the largest gain takes part. Throughputs are
/// scaled by weight. If links have latencies, the communication times of A and B have different ratios on different
/// links. Operation 1 uses the link with the largest ratio. Let c be the work of a task, and b its bytes. The
/// denominator of operation 4 is 1 + c(A)/c(B). With the printed b(A)/b(B), the trade would not make the throughputs
/// equal. The search ends when the paper's limits allow no further trade, or after `waves` operations.
///
/// No guarantee. Complexity: O(waves * nodes * kinds).
pub fn data_centric_rates(network: &Network, bandwidth: &[f64], speed: &[f64], waves: usize) -> NodeRates {
    let mut state = DataCentricState::new(network, bandwidth, speed);
    start::bandwidth_centric(&mut state);
    for _ in 0..waves {
        let (most, least) = state.extremes();
        if state.balanced(most, least) || !operations::next(&mut state, most, least) {
            break;
        }
    }
    NodeRates::from_compute(network, state.compute)
}
