//! Durations as values of options.

use std::str::FromStr;
use std::time::Duration;

use makespan_core::Time;

/// A positive duration, such as `60s`.
#[derive(Clone, Debug)]
pub struct TimeLimit {
    text: String,
    duration: Duration,
}

impl TimeLimit {
    /// Returns the time limit as the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub const fn duration(&self) -> Duration {
        self.duration
    }

    pub fn time(&self) -> Time {
        Time::from_ticks(i64::try_from(self.duration.as_nanos()).unwrap_or(i64::MAX))
    }
}

impl FromStr for TimeLimit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.ends_with('%') {
            return Err("a percentage of the run times of other jobs is not supported; state a time, such as 60s");
        }
        let duration = duration(text).filter(|duration| !duration.is_zero());
        let duration = duration.ok_or("it must be a positive time, such as 60s")?;
        Ok(Self { text: text.to_owned(), duration })
    }
}

/// A duration that may be 0, such as `0.5` or `2m`.
#[derive(Clone, Copy, Debug)]
pub struct WaitTime(pub Duration);

impl FromStr for WaitTime {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        duration(text).map(Self).ok_or("it must be a time of 0 or more, such as 0.5 or 2m")
    }
}

/// Reads a time that is not negative.
fn duration(text: &str) -> Option<Duration> {
    u64::try_from(Time::parse(text).ok()?.ticks()).ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_times_that_are_not_negative_are_durations() {
        for (text, millis) in [("0", 0), ("0.5", 500), ("2m", 120_000), ("1h30m", 5_400_000), ("250ms", 250)] {
            let duration = Duration::from_millis(millis);
            assert_eq!(text.parse::<WaitTime>().unwrap().0, duration, "{text}");
            let limit = text.parse::<TimeLimit>();
            assert_eq!(limit.ok().map(|limit| limit.duration()), Some(duration).filter(|_| millis > 0), "{text}");
        }
        for text in ["", "x", "-1", "-0.5s", "1sauto", "1e999", "nan"] {
            assert!(text.parse::<WaitTime>().is_err() && text.parse::<TimeLimit>().is_err(), "{text}");
        }
    }
}
