//! Jobs: each attempt at a task is a job of Slurm, so that the cluster's own policy decides when it starts.
//!
//! All is submitted at once, with the order of a graph as dependencies, and goes on while no planner is there: [`run_job`], in the job,
//! runs one attempt and leaves in files how it ended.

mod agent;
mod board;
mod cores;
mod engine;
mod occupied;
mod queue;
mod shape;

pub use agent::{JobOptions, run_job};
pub use engine::{Jobs, JobsOptions};
pub use occupied::occupied;
pub use shape::{Shape, inexpressible, limit_of};

/// Processors of these numbers.
fn set(ids: impl Iterator<Item = u32>) -> makespan_core::ProcSet {
    makespan_core::ProcSet::from_intervals(ids.map(|id| (id, id)).collect())
}
