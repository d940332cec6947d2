//! Pilots: allocations in which an agent on each node starts the tasks that it is given.
//!
//! The planner and the agents share the folder of the run. Its files (`board`) contain the state: each attempt of a
//! task is one file, which only moves by renaming, from the planner to the agent of a node and back. If a process dies,
//! nothing is lost and nothing starts twice. A connection (`link`) announces moved files. It only makes the exchange
//! faster.

mod agent;
mod begun;
mod board;
mod head;
mod inherited;
pub(crate) mod link;
mod order;
mod tasks;

pub use agent::{AgentOptions, serve};
pub(crate) use agent::{LEAVING, REMARK};
pub(crate) use board::{Beacon, Board, Place};
pub use head::{HeadOptions, lead};
pub(crate) use order::{Before, Fate, Order};
pub(crate) use tasks::DOUBT;
