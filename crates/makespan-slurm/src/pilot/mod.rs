//! Pilots: allocations in which an agent on each node starts tasks for a planner.
//!
//! The planner and the agents share files in the folder of the run (`board`). Each attempt of a task is one file. The
//! file is moved only by renaming, from the planner to the agent of a node and back. So if a process dies, no attempt
//! is lost and none starts twice. A connection (`link`) announces moved files. It only makes the exchange faster.

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
pub(crate) use board::{AgentBeacon, PilotBoard, PilotNode};
pub use head::{HeadOptions, lead};
pub(crate) use order::{AttemptEnd, AttemptOrder, PredecessorAttempt};
pub(crate) use tasks::DOUBT;
