//! Runs each attempt of a task as a Slurm job, so that the cluster's policy decides when the attempt starts.
//!
//! All jobs are submitted at once. The edges of a graph become dependencies of the jobs. The jobs continue if the
//! planner ends: inside the job, [`run_job`] runs one attempt and records its end in files.

mod agent;
mod board;
mod cores;
mod engine;
mod occupied;
mod queue;
mod shape;

pub use agent::{JobOptions, run_job};
pub use engine::{JobCluster, JobsOptions, SlurmJobEngine, alone};
pub use occupied::occupied;
pub use shape::{NodeShape, inexpressible, limit_of};

/// Collects processor numbers into a set.
fn set(ids: impl Iterator<Item = u32>) -> makespan_core::ProcSet {
    makespan_core::ProcSet::from_intervals(ids.map(|id| (id, id)).collect())
}
