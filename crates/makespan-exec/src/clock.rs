//! The time of a run.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use makespan_core::Time;

use crate::engine::Engine;

/// Time since the first session of a run began. Within a session it never goes back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    begun: Duration,
    offset: Time,
}

impl Clock {
    /// Continues a run of this origin (nanoseconds after 1970), not before `latest` although the wall clock may say so.
    pub fn since(origin: i64, latest: Time, engine: &dyn Engine) -> Self {
        let offset = since_origin(engine.wall(), origin).max(latest);
        Self { begun: engine.now(), offset }
    }

    pub fn now(&self, engine: &dyn Engine) -> Time {
        self.offset + ticks(engine.now().saturating_sub(self.begun))
    }
}

/// An instant of the wall clock in the time of a run.
pub(crate) fn since_origin(wall: SystemTime, origin: i64) -> Time {
    ticks(wall.duration_since(UNIX_EPOCH).unwrap_or_default()).saturating_since(Time::from_ticks(origin))
}

/// The wall clock at an instant of a run.
pub(crate) fn began(origin: i64, at: Time) -> SystemTime {
    UNIX_EPOCH + Duration::from_nanos(u64::try_from(origin.saturating_add(at.ticks())).unwrap_or(0))
}

/// A duration in ticks.
pub(crate) fn ticks(duration: Duration) -> Time {
    Time::from_ticks(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
}
