//! The time that a job is given.

use makespan_core::Time;

use super::frame::Frame;
use super::strategy::heft;
use crate::free_time::Calendar;

/// The makespan of HEFT for a job on idle processors, in ticks.
pub fn makespan_alone(frame: &Frame) -> i64 {
    let idle = vec![Calendar::default(); frame.problem().processors()];
    heft(frame, &idle).finish() - frame.release()
}

/// By when a job has to end, in ticks: as it states, but not before its release, and else so long after it as `factor` times its
/// makespan `alone`.
pub fn deadline(stated: Option<Time>, release: i64, alone: impl FnOnce() -> i64, factor: f64) -> i64 {
    let usual = || release.saturating_add((alone() as f64 * factor).ceil() as i64);
    stated.map_or_else(usual, |stated| stated.ticks().max(release))
}
