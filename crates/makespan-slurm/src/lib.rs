//! Slurm: its commands are run, what they print is read, and a cluster becomes a platform.
//!
//! [`Commands`] runs Slurm's programs with a time limit and says in words what went wrong; [`Node`], [`Partition`] and [`Job`] are
//! what it reads with them. No library of Slurm is linked: the same binary works beside every version.

#![warn(missing_docs)]

mod cluster;
mod command;
pub mod doctor;
pub mod engine;
mod machines;
pub mod pilot;
mod text;

pub use cluster::{Config, Job, JobState, Node, NodeState, Partition, Reading, Share, jobs_of_json};
pub use command::{CommandError, Commands, Printed, Program, Refusal, Submitted};
pub use machines::{Allocated, Machines, MachinesError, Placed, Pool, fit};
pub use text::{
    Gres, HostlistError, Kind, Limit, Record, bytes, count, duration, expand, moment, present, range, records,
};
