//! The time limit of a search.

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
}

impl FromStr for TimeLimit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let time = Time::parse(text).ok().filter(|time| *time > Time::ZERO);
        let time = time.ok_or("it must be a positive time, such as 60s")?;
        Ok(Self { text: text.to_owned(), duration: Duration::from_nanos(time.ticks().unsigned_abs()) })
    }
}
