//! The time within which a job must end.

use makespan_core::Time;

use super::frame::Frame;
use super::strategy::heft;
use crate::free_time::Calendar;

/// Returns the makespan of HEFT for a job on idle processors, in ticks.
pub fn makespan_alone(frame: &Frame) -> i64 {
    let idle = vec![Calendar::default(); frame.problem().processors()];
    heft(frame, &idle).finish() - frame.release()
}

/// Returns the instant by which a job must end, in ticks. If the job states a deadline, this is the later of the
/// deadline and the release. Otherwise, this is the release plus `factor` times the makespan that `alone` returns.
pub fn deadline(stated: Option<Time>, release: i64, alone: impl FnOnce() -> i64, factor: f64) -> i64 {
    let usual = || release.saturating_add((alone() as f64 * factor).ceil() as i64);
    stated.map_or_else(usual, |stated| stated.ticks().max(release))
}
