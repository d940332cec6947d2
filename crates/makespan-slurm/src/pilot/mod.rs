//! The pilot: an allocation in which an agent runs on each node, and starts the tasks that it is given.
//!
//! Planner and agents share the folder of the run, and files in it are the truth (`board`): each attempt at a task is one file, which
//! moves by renaming alone, from the planner to the agent of a node and back. Whoever dies, nothing is lost and nothing is
//! started twice. A connection (`link`) says that a file has moved; nothing depends on it but speed.

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
