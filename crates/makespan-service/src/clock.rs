//! The wall clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the current time of the wall clock, in seconds since 1970.
pub fn wall() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
