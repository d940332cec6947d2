//! Times that can be planned with.

use makespan_core::Time;

use crate::store::LONGEST;

/// Returns a time that can be planned with.
pub(super) fn bounded(seconds: f64) -> Time {
    let longest = Time::from_ticks(LONGEST);
    let time = if seconds.is_finite() { Time::from_seconds_f64(seconds.max(0.0)).unwrap_or(longest) } else { longest };
    time.clamp(Time::TICK, longest)
}
