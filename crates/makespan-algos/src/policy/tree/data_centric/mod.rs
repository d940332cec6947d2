//! Rates found by trading tasks along the tree.

mod messages;
mod operations;
mod policy;
mod start;
mod state;

pub use policy::DataCentric;

use makespan_core::network::Network;

use self::state::State;
use super::rates::NodeRates;

/// The rates of DATA-CENTRIC, for the present bandwidths and speeds of a network of one kind an application.
///
/// O. Beaumont et al., "Centralized versus distributed schedulers for multiple bag-of-task applications" (IPDPS 2006, DOI
/// 10.1109/IPDPS.2006.1639262), section 4.5. All start with the bandwidth-centric rates of the application with the
/// largest ratio of communication to computation. Then, A being the application with the highest weighted
/// throughput and B that with the lowest, the first possible of four operations is done, until they differ by less
/// than a twentieth:
///
/// 1. communication trading: an underused node gets tasks of B for tasks of A of the same communication time;
/// 2. gap filling: a node with processor time left, under links with time left, gets tasks of B;
/// 3. bus de-saturation: the tasks of A in the branch of the smallest bandwidth that has some become a tenth fewer;
/// 4. task trading on the root: tasks of B for tasks of A of the same work.
///
/// A node knows its own rates and capacities and those of the links to its children. What an operation needs of a remote
/// node comes up as an offer, from each node to its parent the best of its subtree, limited by each link that it passes;
/// what is decided goes down the same way. One operation is one wave of messages up and one down.
///
/// A task takes a port for the latency of the link and its bytes over the bandwidth, in every operation.
///
/// Deviations: of all nodes that could take part in a trade the one that gains most does so. Throughputs are scaled by
/// weight. Where links have latencies the communication times of A and B differ in their ratio from link to link, and
/// operation 1 keeps that of the link where it is largest. The denominator of operation 4 is 1 + c(A)/c(B): with the printed b(A)/b(B) the trade does not equal the
/// throughputs. Where the paper's limits leave nothing to trade, or `waves` have passed, the rates stay as they are.
///
/// No guarantee. Takes a time of the order of waves times nodes times kinds.
pub fn data_centric_rates(network: &Network, bandwidth: &[f64], speed: &[f64], waves: usize) -> NodeRates {
    let mut state = State::new(network, bandwidth, speed);
    start::bandwidth_centric(&mut state);
    for _ in 0..waves {
        let (most, least) = state.extremes();
        if state.balanced(most, least) || !operations::next(&mut state, most, least) {
            break;
        }
    }
    NodeRates::from_compute(network, state.compute)
}
