//! The time that a job is given.

use makespan_core::{Job, Rows, Time};

use super::frame::Frame;
use super::strategy::heft;
use crate::free_time::Calendar;

/// The makespan of HEFT for a job on idle processors, in ticks.
pub fn makespan_alone(frame: &Frame) -> i64 {
    let idle = vec![Calendar::default(); frame.problem().processors()];
    heft(frame, &idle).finish() - frame.release()
}

/// The walltime of a job in ticks: its own where it is compound, and else `factor` times its makespan `alone`. (The walltime
/// of a job of one task is for its run.)
pub fn walltime(job: &Job<Rows>, alone: impl FnOnce() -> i64, factor: f64) -> i64 {
    let stated = job.walltime.filter(|_| job.is_compound());
    stated.map_or_else(|| (alone() as f64 * factor).ceil() as i64, Time::ticks)
}
