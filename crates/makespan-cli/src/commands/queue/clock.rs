//! Formats and parses instants in the local time zone.

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};

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

/// Names of days in an instant such as `tuesday 8:00`.
const DAYS: [&str; 9] =
    ["today", "tomorrow", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Returns true if a word names a day, so that a time of day must follow.
pub fn is_day(word: &str) -> bool {
    DAYS.contains(&word.to_lowercase().as_str())
}

/// Parses an instant that is not before `after`, in the local time zone: `now`, a time of day such as `8:00`, a day with
/// a time such as `tomorrow 8:00` or `tuesday 8:00`, or an instant that [`instant`] accepts. A time of day, and a day of
/// the week, mean the next such instant.
pub fn later(text: &str, after: i64) -> Result<i64, String> {
    later_in(text, after, &TimeZone::system())
}

fn later_in(text: &str, after: i64, zone: &TimeZone) -> Result<i64, String> {
    let wrong =
        || format!("`{text}` is not an instant; write now, 8:00, tomorrow 8:00, tuesday 8:00, or 2026-11-22T08:00");
    let lower = text.to_lowercase();
    if lower == "now" {
        return Ok(after);
    }
    let (day, time) = match lower.split_once(' ') {
        Some((day, time)) => (Some(day.trim()), time.trim()),
        None => (None, lower.as_str()),
    };
    let Some(time) = time_of_day(time) else {
        let at = if day.is_none() { instant(text).map_err(|_| wrong())? } else { return Err(wrong()) };
        return if at < after { Err(format!("{text} is in the past; state a later instant")) } else { Ok(at) };
    };
    let present = zoned(after, zone.clone());
    let on = |days: i64| {
        let date = present.date().checked_add(days.days()).ok()?;
        Some(date.to_datetime(time).to_zoned(zone.clone()).ok()?.timestamp().as_second())
    };
    let weekday = |word: &str| DAYS[2..].iter().position(|day| *day == word);
    let mut days = match day {
        None => 0..2,
        Some("today") => 0..1,
        Some("tomorrow") => 1..2,
        Some(word) => {
            let wanted = weekday(word).ok_or_else(wrong)? as i64;
            let first = (wanted - i64::from(present.weekday().to_monday_zero_offset())).rem_euclid(7);
            first..first + 8
        }
    };
    let step = if day.is_some_and(|word| weekday(word).is_some()) { 7 } else { 1 };
    let found = days.by_ref().step_by(step).filter_map(on).find(|&at| at >= after);
    found.ok_or_else(|| format!("{text} is in the past; state a later instant"))
}

/// Parses the value of `sbatch --begin` at the instant `now`, in the local time zone: an instant that [`later`] accepts,
/// `now+90`, `now+30minutes`, `midnight`, `noon`, `fika` (15:00), `teatime` (16:00), `today` (now), `tomorrow` (0:00), or a
/// date. As for `sbatch`, an instant in the past means `now`.
pub fn begin(text: &str, now: i64) -> Result<i64, String> {
    begin_in(text, now, &TimeZone::system())
}

fn begin_in(text: &str, now: i64, zone: &TimeZone) -> Result<i64, String> {
    let lower = text.to_lowercase();
    let clock = match lower.as_str() {
        "midnight" => "0:00",
        "noon" => "12:00",
        "fika" => "15:00",
        "teatime" => "16:00",
        "today" => "now",
        "tomorrow" => "tomorrow 0:00",
        other => other,
    };
    if let Some(distance) = clock.strip_prefix("now+") {
        return Ok(now.saturating_add(from_now(distance)?));
    }
    // For `sbatch`, a short number is a date without separators.
    if clock.parse::<u32>().is_ok_and(|number| number < 1_000_000_000) {
        return Err(format!("`{text}` is not an instant; write a date as 2026-12-05"));
    }
    let at = instant(text).ok().map_or_else(|| later_in(clock, now, zone), Ok);
    at.map(|at| at.max(now))
}

/// Parses a distance from the current time, such as `90` (seconds), `30minutes` or `7days`. Returns seconds.
fn from_now(text: &str) -> Result<i64, String> {
    let (count, unit) = text.split_at(text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len()));
    let seconds = match unit.trim_end_matches('s') {
        "" | "second" => Some(1),
        "minute" => Some(60),
        "hour" => Some(3600),
        "day" => Some(86_400),
        "week" => Some(7 * 86_400),
        _ => None,
    };
    let distance = count.parse::<i64>().ok().zip(seconds).and_then(|(count, seconds)| count.checked_mul(seconds));
    distance
        .ok_or_else(|| format!("`now+{text}` is not an instant; write now+90, now+30minutes, now+2hours or now+7days"))
}

/// Parses a time of day, such as `8:00` or `08:30:15`.
fn time_of_day(text: &str) -> Option<Time> {
    let mut parts = text.split(':').map(|part| part.parse::<i8>().ok().filter(|_| part.len() <= 2));
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().unwrap_or(Some(0))?;
    if parts.next().is_some() { None } else { Time::new(hour, minute, second, 0).ok() }
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
    fn days_and_times_mean_the_next_such_instant() {
        // A Sunday, 02:03:13.
        let now = 1_795_312_993;
        let clock = QueueClock { now: zoned(now, TimeZone::UTC) };
        let words = |text: &str| later_in(text, now, &TimeZone::UTC).map(|at| clock.full(at)).unwrap();
        for (text, expected) in [
            ("now", "2026-11-22 02:03:13"),
            ("8:00", "2026-11-22 08:00:00"),
            ("2:00", "2026-11-23 02:00:00"),
            ("today 02:03:14", "2026-11-22 02:03:14"),
            ("tomorrow 1:30", "2026-11-23 01:30:00"),
            ("Tuesday 8:00", "2026-11-24 08:00:00"),
            ("sunday 8:00", "2026-11-22 08:00:00"),
            ("sunday 2:00", "2026-11-29 02:00:00"),
            ("saturday 23:59:59", "2026-11-28 23:59:59"),
            ("2026-12-01T00:00:00Z", "2026-12-01 00:00:00"),
        ] {
            assert_eq!(words(text), format!("{expected} UTC"), "{text}");
        }
        for text in ["today 2:00", "2026-11-22T00:00:00Z", "5"] {
            assert!(later_in(text, now, &TimeZone::UTC).unwrap_err().contains("is in the past"), "{text}");
        }
        for text in
            ["", "soon", "8", "24:00", "8:60", "8:00:00:00", "someday 8:00", "tomorrow", "tomorrow noon", "8:001"]
        {
            let error = later_in(text, now, &TimeZone::UTC).unwrap_err();
            assert!(error.contains("tomorrow 8:00") || error.contains("past"), "{text}: {error}");
        }
    }

    /// The expected instants are those of sbatch 22.05 in the time zone UTC.
    #[test]
    fn begins_are_those_of_sbatch() {
        let now = 1_795_312_993;
        let clock = QueueClock { now: zoned(now, TimeZone::UTC) };
        for (text, expected) in [
            ("now+90", "2026-11-22 02:04:43"),
            ("now+3second", "2026-11-22 02:03:16"),
            ("NOW+30minutes", "2026-11-22 02:33:13"),
            ("now+1hour", "2026-11-22 03:03:13"),
            ("now+2days", "2026-11-24 02:03:13"),
            ("now+1week", "2026-11-29 02:03:13"),
            ("now", "2026-11-22 02:03:13"),
            ("today", "2026-11-22 02:03:13"),
            ("tomorrow", "2026-11-23 00:00:00"),
            ("midnight", "2026-11-23 00:00:00"),
            ("noon", "2026-11-22 12:00:00"),
            ("fika", "2026-11-22 15:00:00"),
            ("teatime", "2026-11-22 16:00:00"),
            ("16:00", "2026-11-22 16:00:00"),
            ("tomorrow 8:00", "2026-11-23 08:00:00"),
            ("2026-12-05T08:00Z", "2026-12-05 08:00:00"),
            ("2026-01-01T00:00:00Z", "2026-11-22 02:03:13"),
        ] {
            let at = begin_in(text, now, &TimeZone::UTC).unwrap();
            assert_eq!(clock.full(at), format!("{expected} UTC"), "{text}");
        }
        for text in ["now+1min", "now+", "now+hour", "now+-5", "now+99999999999999weeks", "elevenses", "120526", ""] {
            assert!(begin_in(text, now, &TimeZone::UTC).unwrap_err().contains("not an instant"), "{text}");
        }
    }

    proptest::proptest! {
        /// A time of day is less than a day away, and a day of the week less than eight days.
        #[test]
        fn the_next_instant_is_near(now in 0_i64..4_000_000_000, hour in 0_u8..24, minute in 0_u8..60, day in 2_usize..9) {
            let time = format!("{hour}:{minute:02}");
            let at = later_in(&time, now, &TimeZone::UTC).unwrap();
            proptest::prop_assert!((0..86_400).contains(&(at - now)) && at % 86_400 == i64::from(hour) * 3600 + i64::from(minute) * 60);
            let at = later_in(&format!("{} {time}", DAYS[day]), now, &TimeZone::UTC).unwrap();
            proptest::prop_assert!((0..7 * 86_400).contains(&(at - now)));
            proptest::prop_assert_eq!((at / 86_400 + 3) % 7, day as i64 - 2);
        }
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
