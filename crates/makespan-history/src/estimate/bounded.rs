//! Limits run times to the range that plans support.

use makespan_core::Time;

use crate::store::LONGEST;

/// Returns `seconds` as a run time, clamped to the range that plans support.
pub(super) fn bounded(seconds: f64) -> Time {
    let longest = Time::from_ticks(LONGEST);
    let time = if seconds.is_finite() { Time::from_seconds_f64(seconds.max(0.0)).unwrap_or(longest) } else { longest };
    time.clamp(Time::TICK, longest)
}
