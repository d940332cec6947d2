//! Interface to Slurm: runs its commands, parses their output, and describes a cluster as a platform.
//!
//! [`Commands`] runs Slurm's programs with a time limit, and its errors explain what went wrong. [`Node`],
//! [`Partition`] and [`Job`] are parsed from the output. The crate links no library of Slurm, so the same binary works
//! with every version.

#![warn(missing_docs)]

mod cluster;
mod command;
pub mod doctor;
pub mod engine;
pub mod forecast;
pub mod jobs;
mod machines;
pub mod pilot;
pub mod queue;
mod text;

pub use cluster::{Config, Job, JobState, Node, NodeState, Partition, Reading, Share, jobs_of_json};
pub use command::{CommandError, Commands, Printed, Program, Refusal, Submitted};
pub use machines::{Allocated, Machines, MachinesError, Placed, Pool, fit};
pub use text::{
    Gres, HostlistError, Kind, Limit, Record, bytes, compress, count, duration, expand, moment, present, range, records,
};

/// Names of the places where attempts of a run are started: by agents of pilots, or as jobs of their own
/// ([`makespan_exec::engine::Engine::place`]).
const PILOTS: &str = "slurm:pilot";
const JOBS: &str = "slurm:jobs";

/// Checks that a run may continue at the place `own` although its tasks may still run at `place`.
fn follows(own: &str, place: &str) -> Result<(), String> {
    let here = match place {
        "" => return Ok(()),
        place if place == own => return Ok(()),
        PILOTS => "in pilots of Slurm; resume it with --on slurm",
        JOBS => "as jobs of Slurm; resume it with --on slurm:jobs",
        _ => "on the machine where it was begun; resume it there without --on, or end them",
    };
    Err(format!("jobs of this run may still run {here}"))
}
