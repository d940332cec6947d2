//! The clock of a run.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use makespan_core::Time;

use crate::engine::Engine;

/// Measures the time since the first session of a run began. The time never decreases within a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    begun: Duration,
    offset: Time,
}

impl Clock {
    /// Continues the clock of a run that began at `origin` (nanoseconds since 1970). The time is at least `latest`,
    /// even if the wall clock was set back.
    pub fn since(origin: i64, latest: Time, engine: &dyn Engine) -> Self {
        let offset = since_origin(engine.wall(), origin).max(latest);
        Self { begun: engine.now(), offset }
    }

    pub fn now(&self, engine: &dyn Engine) -> Time {
        self.offset + ticks(engine.now().saturating_sub(self.begun))
    }
}

/// Converts an instant of the wall clock to the time of a run.
pub(crate) fn since_origin(wall: SystemTime, origin: i64) -> Time {
    ticks(wall.duration_since(UNIX_EPOCH).unwrap_or_default()).saturating_since(Time::from_ticks(origin))
}

/// Converts an instant of a run to the wall clock time.
pub(crate) fn began(origin: i64, at: Time) -> SystemTime {
    UNIX_EPOCH + Duration::from_nanos(u64::try_from(origin.saturating_add(at.ticks())).unwrap_or(0))
}

/// Converts a duration to ticks.
pub(crate) fn ticks(duration: Duration) -> Time {
    Time::from_ticks(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
}
