//! Slurm: its commands are run, what they print is read, and a cluster becomes a platform.
//!
//! [`Commands`] runs Slurm's programs with a time limit and says in words what went wrong. No library of Slurm is
//! linked: the same binary works beside every version.

#![warn(missing_docs)]

mod command;
pub mod engine;
pub mod pilot;

pub use command::{CommandError, Commands, Printed, Program, Refusal, Submitted};
