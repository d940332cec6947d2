//! Bags of tasks on a tree of machines, where each node has its own scheduler.
//!
//! A node can receive, send and compute at the same time. A node sends one task at a time, and only after the whole
//! task has arrived (store and forward). A hop, the transfer of a task over one link, takes the link's latency plus the
//! data divided by the bandwidth. During this time, the sender's port is busy. A macro-task is a group of tasks that is
//! sent as one; its hop takes the latency once for each of its tasks. A buffer at each node holds a few waiting tasks.
//! A task that is being sent leaves the sender's buffer when the send ends. A task that the node computes itself leaves
//! the node's buffer when the computation begins. Whenever a slot of the buffer becomes free, the node requests a task
//! of any kind from its parent. So no more tasks arrive than fit into the buffer.
//!
//! ```
//! use makespan_core::network::{Kind, Network, NetworkNode, NodeDecision, NodePolicy, NodeView};
//! use makespan_core::Time;
//! use makespan_sim::network::{NetworkOptions, Silent, simulate};
//!
//! struct Greedy;
//! impl NodePolicy for Greedy {
//!     fn decide(&mut self, view: &NodeView<'_>) -> Option<NodeDecision> {
//!         if view.can_compute(0) {
//!             return Some(NodeDecision::Compute { kind: 0 });
//!         }
//!         let child = (0..view.degree()).find(|&child| view.can_send(child, 0))?;
//!         Some(NodeDecision::Send { child, kind: 0 })
//!     }
//! }
//!
//! let root = NetworkNode { parent: None, processors: 1, speed: 1.0, bandwidth: 1.0, latency: Time::ZERO };
//! let child = NetworkNode { parent: Some(0), bandwidth: 4.0, ..root };
//! let kind = Kind { data: 2.0, work: 1.0, weight: 1.0, count: 10, tasks: vec![(0, 1)] };
//! let network = Network::new(&[root, child], vec![kind])?;
//! let options = NetworkOptions { buffer: 1, ..NetworkOptions::default() };
//! let run = simulate(&network, &mut [Greedy, Greedy], &options, &mut Silent)?;
//! // The child starts half a second later than the root, because a hop takes half a second.
//! assert_eq!(run.end, Time::from_ticks(5_500_000_000));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod changes;
mod engine;
mod events;
mod moves;
mod observer;
mod options;
mod run;
mod server;
mod state;

pub use engine::simulate;
pub use observer::{NetworkObserver, NetworkRecord, Silent};
pub use options::{ChangeError, EndCondition, NetworkChange, NetworkOptions, NodeChange};
pub use run::{MeasuredThroughput, NetworkRun, SimulationDefect};

#[cfg(test)]
mod tests;
