//! The time that the mapping of tasks takes.

use std::time::Duration;

use makespan_core::Time;

/// The time from the beginning of a mapping until its tasks are sent: `t_s` in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulingTime {
    /// The formula of the paper for its hardware: `40 exp(|N| / 1580) - 40` seconds for |N| tasks. Makespan limits the
    /// result to 10^9 s.
    Paper,
    /// The time that the mapping takes on the computer, as measured. Therefore, two simulations may have different
    /// results.
    Measured,
    /// Mappings take no time.
    Zero,
}

impl SchedulingTime {
    /// Returns the expected duration of a mapping of `tasks` tasks. `last` is the duration of the last mapping.
    pub(super) fn expected(self, tasks: usize, last: Time) -> Time {
        match self {
            Self::Paper => {
                let seconds = 40.0 * (tasks as f64 / 1580.0).exp() - 40.0;
                Time::from_seconds_f64(seconds.min(1e9)).unwrap_or(Time::from_seconds(1_000_000_000))
            }
            Self::Measured => last,
            Self::Zero => Time::ZERO,
        }
    }

    /// Returns the duration of a mapping. `expected` is the expected duration, and `real` the measured duration.
    pub(super) fn spent(self, expected: Time, real: Duration) -> Time {
        match self {
            Self::Measured => Time::from_ticks(i64::try_from(real.as_nanos()).unwrap_or(i64::MAX / 4)),
            Self::Paper | Self::Zero => expected,
        }
    }
}

named!(SchedulingTime { "paper" => Paper, "measured" => Measured, "zero" => Zero });
