//! An engine that starts tasks on hosts with OpenSSH: machines without a batch system.
//!
//! The planner starts the program `ssh` once for each host ([`probe`]). On the host, a shell starts this program, which
//! is copied there once for each version (`program`). The program connects the streams of `ssh` with an agent: a
//! process that outlives the connection and runs the tasks (`agent`). Planner and agent exchange messages (`message`).
//!
//! Leases keep a task from running twice at once. The agent sends beats, and the planner returns each beat. If the
//! last returned beat was sent more than [`FENCE`] ago, the agent ends its tasks. The planner starts tasks elsewhere if
//! it has received no beat for [`LOST`]. So the delays of the network do not matter (`lease`).

mod agent;
mod connector;
mod engine;
mod frame;
mod lease;
mod link;
mod message;
mod paths;
mod probe;
mod program;
mod spec;
mod ssh;

pub use agent::serve as serve_agent;
pub use connector::connect;
pub use engine::{HostOptions, Hosts};
pub use lease::{FENCE, LOST};
pub use probe::{ProbedHost, ProbedHosts, probe};
pub use spec::HostSpec;
