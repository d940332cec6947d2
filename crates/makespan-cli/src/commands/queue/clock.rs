//! Formats and parses instants in the local time zone.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Formats instants relative to the present.
pub struct QueueClock {
    now: Zoned,
}

impl QueueClock {
    /// Creates a clock. `now` is the present, in seconds after 1970.
    pub fn new(now: i64) -> Self {
        Self { now: zoned(now, TimeZone::system()) }
    }

    /// Formats an instant: `14:05:10` if it is less than an hour away, `14:05` if it is on the same day, `Nov 23 14:05`
    /// if it is in the same year, and otherwise `2028-02-28`.
    pub fn words(&self, seconds: i64) -> String {
        let at = zoned(seconds, self.now.time_zone().clone());
        let near = (seconds - self.now.timestamp().as_second()).abs() < 3600;
        let form = match (near, at.date() == self.now.date(), at.year() == self.now.year()) {
            (true, true, _) => "%H:%M:%S",
            (false, true, _) => "%H:%M",
            (_, false, true) => "%b %d %H:%M",
            (_, false, false) => "%Y-%m-%d",
        };
        at.strftime(form).to_string()
    }

    /// Formats an instant with date, time and time zone.
    pub fn full(&self, seconds: i64) -> String {
        zoned(seconds, self.now.time_zone().clone()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
    }

    /// Formats an instant as in JSON output, with the offset of the local time zone.
    pub fn iso(&self, seconds: i64) -> String {
        zoned(seconds, self.now.time_zone().clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }
}

/// Converts an instant to a date and time. An instant outside the calendar becomes the first or the last instant of
/// the calendar.
fn zoned(seconds: i64, zone: TimeZone) -> Zoned {
    let within = seconds.clamp(Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
    Timestamp::from_second(within).unwrap_or(Timestamp::MAX).to_zoned(zone)
}

/// Parses an instant as seconds after 1970: a number such as `1795311793`, or a date such as `2026-11-22T02:04:10`, in
/// the local time zone unless an offset follows.
pub fn instant(text: &str) -> Result<i64, String> {
    let beyond = || format!("`{text}` is beyond the calendar; state an instant before the end of the year 9999");
    if let Ok(seconds) = text.parse::<i64>() {
        return Timestamp::from_second(seconds).map(Timestamp::as_second).map_err(|_| beyond());
    }
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Ok(instant.as_second());
    }
    let local: DateTime = text.parse().map_err(|_| {
        format!("`{text}` is not an instant; write 2026-11-22T02:04:10, with Z or +01:00 at the end if it is not local time, or seconds after 1970")
    })?;
    let zoned = local.to_zoned(TimeZone::system()).map_err(|_| beyond())?;
    Ok(zoned.timestamp().as_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read_in_every_form() {
        assert_eq!(instant("1795311793"), Ok(1_795_311_793));
        assert_eq!(instant("1970-01-02T00:00:05Z"), Ok(86_405));
        assert_eq!(instant("1970-01-02T01:00:05+01:00"), Ok(86_405));
        for far in ["9999-12-31T23:59:59", "9999-12-31", "999999999999", "-999999999999", "9223372036854775807"] {
            assert!(instant(far).unwrap_err().contains("beyond the calendar; state"), "{far}");
        }
        assert!(instant("tomorrow").unwrap_err().contains("2026-11-22T02:04:10"));
    }

    #[test]
    fn what_is_near_has_seconds_and_what_is_far_a_date() {
        let now = 1_795_311_793;
        let clock = QueueClock { now: zoned(now, TimeZone::UTC) };
        let words = [10, 7200, 100_000, 40_000_000, i64::MAX - now].map(|later| clock.words(now + later));
        assert_eq!(words[..4], ["01:43:23", "03:43", "Nov 23 05:29", "2028-02-28"]);
        assert_eq!(words[4], "9999-12-30");
    }
}
