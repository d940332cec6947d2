//! Interface to Slurm: runs Slurm's commands, parses their output, and describes a cluster as a platform. The module
//! [`batch`] submits pilots to other batch systems.
//!
//! [`Commands`] runs the commands with a time limit and explains errors. [`Node`], [`Partition`] and [`Job`] are
//! parsed from the output. The crate links no library of Slurm, so the same binary works with every version of Slurm.

#![warn(missing_docs)]

pub mod batch;
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

pub use cluster::{Config, Job, JobState, Node, NodeState, Partition, QueryReading, Share, jobs_of_json};
pub use command::{CommandError, Commands, Program, ProgramOutput, Refusal};
pub use machines::{Allocated, MachinesError, PlacedRequest, PlanMachines, Pool, check_job_options, fit};
pub use text::{
    Gres, HostlistError, Kind, OptionalLimit, Record, bytes, compress, count, duration, expand, moment, present, range,
    records, requested_time,
};

/// Name of a place in which a run starts its attempts: pilots ([`makespan_exec::engine::Engine::place`]).
const PILOTS: &str = "slurm:pilot";
/// Name of a place in which a run starts its attempts: separate Slurm jobs.
const JOBS: &str = "slurm:jobs";

/// End of the name of a place in which a run starts its attempts: pilots of a batch system other than Slurm.
const OTHER_PILOTS: &str = ": pilot";

/// Returns an error if the run is resumed at the place `own`, and some of its tasks may still run at another place,
/// `place`.
fn follows(own: &str, place: &str) -> Result<(), String> {
    let here = match place {
        "" => return Ok(()),
        place if place == own => return Ok(()),
        place if place.ends_with(OTHER_PILOTS) => "in pilots of another batch system; resume the run with its --on",
        PILOTS => "in pilots of Slurm; resume the run with --on slurm",
        JOBS => "as jobs of Slurm; resume the run with --on slurm:jobs",
        _ => "on the machine where the run began; resume the run on this machine without --on, or end these jobs",
    };
    Err(format!("jobs of this run may still run {here}"))
}
