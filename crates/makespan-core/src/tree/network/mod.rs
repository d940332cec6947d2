//! Trees of machines as a decentralised scheduler knows them: the network in floats, and the interface of the policy of
//! one node.
//!
//! The model is that of O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert, "Centralized versus
//! distributed schedulers for multiple bag-of-task applications" (IPDPS 2006, DOI 10.1109/IPDPS.2006.1639262), sections
//! 2 and 4: all tasks start at the root; a node receives, sends and computes at the same time; what it holds waits in a
//! buffer of a few tasks; and whenever a place in the buffer becomes free the node asks its parent for a task.

mod macro_tasks;
mod policy;
mod tree;

pub use macro_tasks::MacroTaskError;
pub use policy::{Children, NodeDecision, NodeEvent, NodePolicy, NodeView};
pub use tree::{Kind, Network, NetworkError, NetworkNode};
