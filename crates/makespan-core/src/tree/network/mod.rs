//! Trees of machines for decentralised schedulers: the network, with all values as floats, and the interface of a
//! node's policy.
//!
//! The model is due to O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert, "Centralized versus
//! distributed schedulers for multiple bag-of-task applications" (IPDPS 2006, DOI 10.1109/IPDPS.2006.1639262), sections
//! 2 and 4. At the beginning, all tasks are at the root. A node can receive, send and compute at the same time. Tasks
//! wait at a node in a buffer that holds a few tasks. When a slot in the buffer becomes free, the node requests a task
//! from its parent.

mod macro_tasks;
mod policy;
mod tree;

pub use macro_tasks::MacroTaskError;
pub use policy::{Children, NodeDecision, NodeEvent, NodePolicy, NodeView};
pub use tree::{Kind, Network, NetworkError, NetworkNode};
