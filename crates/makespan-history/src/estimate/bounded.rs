//! Limits run times to the times that a plan can contain.

use makespan_core::Time;

use crate::store::LONGEST;

/// Returns a run time of `seconds` seconds, limited to the times that a plan can contain.
pub(super) fn bounded(seconds: f64) -> Time {
    let longest = Time::from_ticks(LONGEST);
    let time = if seconds.is_finite() { Time::from_seconds_f64(seconds.max(0.0)).unwrap_or(longest) } else { longest };
    time.clamp(Time::TICK, longest)
}
