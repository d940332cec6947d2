//! The wall clock.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Returns the current time of the wall clock, in seconds since 1970.
pub fn wall() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Returns an instant in seconds since 1970 as a date and a time of the local time zone.
pub fn shown_instant(instant: f64) -> String {
    let zoned = Timestamp::from_second(instant.round() as i64).map(|at| at.to_zoned(TimeZone::system()));
    zoned.map_or_else(|_| format!("{instant} s after 1970"), |at| at.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string())
}
