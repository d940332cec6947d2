//! Converts the times of a log to dates and back.

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{SpanRound, Timestamp, Unit};
use makespan_core::Time;

/// Clock of a log: the instant at which the times of the log begin, and the time zone.
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    /// Time 0 of the log, in seconds after the beginning of 1970.
    begin: i64,
    /// Time zone of the clock, or `None` if the log does not state a zone. Without a zone, the clock is treated as
    /// UTC.
    zone: Option<TimeZone>,
}

impl Clock {
    /// Returns a clock without a time zone, for logs in local time, such as logs of Slurm. Time 0 is `begin` seconds
    /// after the beginning of 1970. Returns `None` if `begin` is out of range.
    pub fn local(begin: i64) -> Option<Self> {
        Self::of(begin, None)
    }

    /// Returns a warning if the time zone of this machine (`TZ`) is unknown. In this case, [`here`](Self::here) uses
    /// UTC.
    pub fn unknown_here() -> Option<String> {
        let stated = std::env::var("TZ").ok().filter(|zone| !zone.trim_start_matches(':').is_empty());
        let named = stated.map_or_else(|| "of this machine".to_owned(), |zone| format!("`{zone}` (TZ)"));
        let is_unknown = TimeZone::try_system().is_err();
        is_unknown.then(|| format!("the time zone {named} is unknown: clock times are in UTC"))
    }

    /// Returns a clock in the time zone of this machine (`TZ`). For `begin`, see [`local`](Self::local).
    pub fn here(begin: i64) -> Option<Self> {
        Self::of(begin, Some(TimeZone::system()))
    }

    /// Returns a clock in a time zone with a name, such as `Europe/Stockholm`. For `begin`, see [`local`](Self::local).
    ///
    /// # Errors
    /// A message if the time zone is unknown.
    pub fn named(begin: i64, zone: &str) -> Result<Option<Self>, String> {
        let zone = TimeZone::get(zone).map_err(|_| format!("the time zone `{zone}` is unknown"))?;
        Ok(Self::of(begin, Some(zone)))
    }

    /// Returns a clock that is ahead of UTC by a constant number of seconds. For `begin`, see [`local`](Self::local).
    pub fn east(begin: i64, seconds: i32) -> Option<Self> {
        Self::of(begin, Some(Offset::from_seconds(seconds).ok()?.to_time_zone()))
    }

    fn of(begin: i64, zone: Option<TimeZone>) -> Option<Self> {
        Timestamp::from_second(begin).ok().map(|_| Self { begin, zone })
    }

    fn zone(&self) -> TimeZone {
        self.zone.clone().unwrap_or(TimeZone::UTC)
    }

    /// Returns the second of the week at time 0. The week begins on Monday at 00:00.
    pub fn week(&self) -> i64 {
        let Ok(instant) = Timestamp::from_second(self.begin) else { return 0 };
        let shown = instant.to_zoned(self.zone());
        let of_day = i64::from(shown.hour()) * 3600 + i64::from(shown.minute()) * 60 + i64::from(shown.second());
        i64::from(shown.weekday().to_monday_zero_offset()) * 86_400 + of_day
    }

    /// Returns the date and time of day at `time`, to the second, such as `1996-10-01 12:30:00`.
    pub fn shows(&self, time: Time) -> String {
        let second = self.begin.saturating_add(time.ticks() / Time::TICKS_PER_SECOND);
        let Ok(instant) = Timestamp::from_second(second) else { return "a date beyond the year 9999".to_owned() };
        let shown = instant.to_zoned(self.zone()).datetime();
        format!("{} {}", shown.date(), shown.time())
    }

    /// Converts a date to a time of the log. A date without an offset, such as `1996-10-01` or `1996-10-01T12:30`, is
    /// in the time zone of the clock. A date may also have an offset from UTC, such as `1996-10-01T12:30Z`. Returns
    /// `None` if the text is not a date.
    ///
    /// # Errors
    /// A message if the date does not exist in this time zone or is out of range, or if the date has an offset and the
    /// clock has no time zone.
    pub fn read(&self, text: &str) -> Option<Result<Time, String>> {
        let text = text.trim();
        let second = if let Ok(instant) = text.parse::<Timestamp>() {
            if self.zone.is_none() {
                let problem = "the log does not state its time zone; write the date without an offset from UTC";
                return Some(Err(problem.to_owned()));
            }
            instant.as_second()
        } else {
            let date: DateTime = text.parse().ok()?;
            match date.to_zoned(self.zone()) {
                Ok(zoned) => zoned.timestamp().as_second(),
                Err(error) => return Some(Err(error.to_string())),
            }
        };
        let time = second.checked_sub(self.begin).filter(|seconds| seconds.abs() < i64::MAX / Time::TICKS_PER_SECOND);
        Some(time.map(Time::from_seconds).ok_or_else(|| "the date is too far from the beginning of the log".to_owned()))
    }
}

/// Formats a duration for people, with one or two units: `12 s`, `3 min`, `2 h 5 min`, `3 d 4 h`.
pub fn length(seconds: f64) -> String {
    let whole = seconds.round().clamp(-9e15, 9e15) as i64;
    let unit = if whole.abs() < 60 {
        return format!("{whole} s");
    } else if whole.abs() < 86_400 {
        Unit::Minute
    } else {
        Unit::Hour
    };
    let rounded = jiff::Span::new()
        .try_seconds(whole)
        .ok()
        .and_then(|span| span.round(SpanRound::new().smallest(unit).largest(Unit::Day).days_are_24_hours()).ok());
    let Some(span) = rounded else { return format!("{whole} s") };
    let parts = [(i64::from(span.get_days()), "d"), (i64::from(span.get_hours()), "h"), (span.get_minutes(), "min")];
    let parts: Vec<String> =
        parts.iter().filter(|part| part.0 != 0).map(|(count, unit)| format!("{count} {unit}")).collect();
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(count: i64) -> Time {
        Time::from_seconds(count)
    }

    #[test]
    fn a_clock_shows_the_time_of_its_zone() {
        // The KTH log begins at 14:00:31 in summer. Daylight saving time ends a month later.
        let clock = Clock::named(843_480_031, "Europe/Stockholm").unwrap().unwrap();
        assert_eq!(clock.shows(Time::ZERO), "1996-09-23 14:00:31");
        let october = clock.read("1996-10-01").unwrap().unwrap();
        assert_eq!(october, seconds(843_480_031_i64.abs_diff(844_120_800) as i64));
        for text in ["1996-10-01 00:00", "1996-12-24T18:30", "1996-12-24T18:30:59"] {
            let at = clock.read(text).unwrap().unwrap();
            assert!(clock.shows(at).starts_with(&text.replace('T', " ")), "{text}");
        }
        let instants =
            ["1996-10-01T12:00:00Z", "1996-10-01T14:00:00+02:00", "1996-10-01T14:00:00"].map(|text| clock.read(text));
        assert!(instants.windows(2).all(|pair| pair[0] == pair[1]) && instants[0].as_ref().is_some_and(Result::is_ok));
        assert!(Clock::local(0).unwrap().read("1996-10-01T12:00:00Z").unwrap().unwrap_err().contains("zone"));
        assert!(clock.read("36h").is_none() && clock.read("1996-02-30").is_none() && clock.read("7").is_none());
        assert!(Clock::named(0, "Middle/Earth").unwrap_err().contains("Middle/Earth"));
        assert_eq!(Clock::east(0, 3600).unwrap().shows(Time::ZERO), "1970-01-01 01:00:00");
        assert!(Clock::local(i64::MAX).is_none());
    }

    #[test]
    fn lengths_have_two_units_at_most() {
        let all = [0.4, 59.0, 61.0, 3_600.0, 7_500.0, 86_400.0, 100_000.0, -120.0].map(length);
        assert_eq!(all, ["0 s", "59 s", "1 min", "1 h", "2 h 5 min", "1 d", "1 d 4 h", "-2 min"]);
        assert!(!length(1e300).is_empty());
    }
}
