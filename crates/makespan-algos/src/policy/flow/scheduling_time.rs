//! How long a mapping takes.

use std::time::Duration;

use makespan_core::Time;

/// The time between the beginning of a mapping and the sending of its tasks, `t_s` in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulingTime {
    /// As printed for the hardware of its day: `40 exp(|N| / 1580) - 40` seconds for |N| tasks. It has no limit, and is cut
    /// at 10^9 s here.
    Paper,
    /// What it takes on this machine. Two simulations are then not alike.
    Measured,
    /// Nothing.
    Zero,
}

impl SchedulingTime {
    /// What is expected for so many tasks, when the last mapping took `last`.
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

    /// What it is, when this was expected and the mapper really took `real`.
    pub(super) fn spent(self, expected: Time, real: Duration) -> Time {
        match self {
            Self::Measured => Time::from_ticks(i64::try_from(real.as_nanos()).unwrap_or(i64::MAX / 4)),
            Self::Paper | Self::Zero => expected,
        }
    }
}

named!(SchedulingTime { "paper" => Paper, "measured" => Measured, "zero" => Zero });
