//! Reads the values of cells: instants, durations and counts.

/// Splits off the time zone at the end of an instant, such as `Z`, `+0100` or `-05:30`. Returns the text before the
/// zone, and the zone in seconds east of Greenwich, if there is one.
pub(super) fn zone(text: &str) -> (&str, Option<i64>) {
    if let Some(before) = text.strip_suffix(['Z', 'z']) {
        return (before, Some(0));
    }
    let Some((date, clock)) = text.split_once('T') else { return (text, None) };
    let Some(at) = clock.find(['+', '-']) else { return (text, None) };
    let (sign, offset) = (if clock[at..].starts_with('-') { -1 } else { 1 }, clock[at + 1..].replace(':', ""));
    let number = digits(&offset).filter(|number| matches!(offset.len(), 2 | 4) && number % 100 < 60);
    let seconds = number.map(|number| match offset.len() {
        2 => number * 3600,
        _ => number / 100 * 3600 + number % 100 * 60,
    });
    match seconds.filter(|&seconds| seconds <= 18 * 3600) {
        Some(seconds) => (&text[..date.len() + 1 + at], Some(sign * seconds)),
        None => (text, None),
    }
}

/// Returns the seconds since the beginning of 1970. Slurm writes local times without a zone by default. A time without
/// a zone is treated like UTC, so daylight saving time is ignored. A time with a zone (`SLURM_TIME_FORMAT`) is
/// converted to UTC.
pub(super) fn instant(text: &str) -> Result<Option<i64>, String> {
    let (local, east) = zone(text);
    let seconds = local_instant(local).map_err(|_| wrong(text))?;
    Ok(seconds.map(|seconds| seconds - east.unwrap_or(0)))
}

fn local_instant(text: &str) -> Result<Option<i64>, String> {
    if matches!(text, "" | "Unknown" | "None" | "N/A") {
        return Ok(None);
    }
    // Slurm prints seconds after the beginning of 1970 for `SLURM_TIME_FORMAT=%s`.
    if text.len() > 4 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let seconds = text.parse().ok().filter(|&seconds: &i64| seconds < 1 << 40);
        return seconds.map(Some).ok_or_else(|| wrong(text));
    }
    let (date, clock) = text.split_once('T').ok_or_else(|| wrong(text))?;
    let numbers = |text: &str, separator| -> Option<[i64; 3]> {
        let parts: Vec<i64> = text.split(separator).map(digits).collect::<Option<_>>()?;
        parts.try_into().ok()
    };
    let [year, month, day] = numbers(date, '-').ok_or_else(|| wrong(text))?;
    let [hour, minute, second] = numbers(clock, ':').ok_or_else(|| wrong(text))?;
    let real = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=length_of(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    let seconds = || days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    real.then(|| Some(seconds())).ok_or_else(|| wrong(text))
}

fn wrong(text: &str) -> String {
    format!("`{text}` is not an instant such as 2024-01-31T23:59:00, Unknown or None")
}

fn digits(text: &str) -> Option<i64> {
    (!text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| text.parse().ok())?
}

/// Returns the number of days of a month in the Gregorian calendar.
fn length_of(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the number of days between 1970-01-01 and a day of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the leap day is the last day of the year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year / 4 - year / 100 + year / 400;
    365 * year + leaps + (153 * month + 2) / 5 + day - 1 - 719_468
}

/// Returns the seconds of a duration `[D-]HH:MM:SS[.mmm]` or `MM:SS`, or `None` if the text means no limit or no
/// value.
pub(super) fn duration(text: &str) -> Result<Option<i64>, String> {
    if matches!(text, "" | "UNLIMITED" | "Partition_Limit" | "INVALID" | "Unknown" | "None" | "N/A") {
        return Ok(None);
    }
    let wrong = || format!("`{text}` is not a duration such as 1-02:30:00, UNLIMITED or Partition_Limit");
    let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
    let (days, clock) = match whole.split_once('-') {
        Some((days, clock)) => (digits(days).ok_or_else(wrong)?, clock),
        None => (0, whole),
    };
    let parts: Vec<i64> = clock.split(':').map(digits).collect::<Option<_>>().ok_or_else(wrong)?;
    let (hours, minutes, seconds) = match *parts.as_slice() {
        [hours, minutes, seconds] => (hours, minutes, seconds),
        [minutes, seconds] if days == 0 => (minutes / 60, minutes % 60, seconds),
        _ => return Err(wrong()),
    };
    if minutes >= 60 || seconds >= 60 || (days > 0 && hours >= 24) {
        return Err(wrong());
    }
    let seconds = hours * 3600 + minutes * 60 + seconds;
    Ok(Some(days * 86_400 + seconds))
}

/// Returns a whole number, or `None` if the text means that there is no value.
pub(super) fn count(text: &str) -> Result<Option<i64>, String> {
    if matches!(text, "" | "UNLIMITED" | "Partition_Limit" | "INVALID" | "Unknown" | "None" | "N/A") {
        return Ok(None);
    }
    digits(text).map(Some).ok_or_else(|| format!("`{text}` is not a whole number"))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn instants_are_seconds_of_the_calendar() {
        assert_eq!(instant("1970-01-01T00:00:00"), Ok(Some(0)));
        assert_eq!(instant("2024-02-29T12:34:56"), Ok(Some(1_709_210_096)));
        assert_eq!(instant("2000-03-01T00:00:00"), Ok(Some(951_868_800)));
        assert_eq!(instant("1709210096"), Ok(Some(1_709_210_096)));
        assert_eq!((instant("Unknown"), instant("None"), instant("")), (Ok(None), Ok(None), Ok(None)));
        let no_days = ["2024-02-30", "2023-02-29", "1900-02-29", "2024-04-31", "2024-00-10", "2024-06-00"];
        for bad in no_days.map(|day| format!("{day}T00:00:00")) {
            assert!(instant(&bad).is_err(), "{bad}");
        }
        for bad in ["2024-13-01T00:00:00", "2024-01-01", "2024-01-01T25:00:00", "x", "-3", "99999999999999999999"] {
            assert!(instant(bad).is_err(), "{bad}");
        }
    }

    /// Checks that consecutive days differ by one day over 400 years, and that impossible dates are refused.
    #[test]
    fn days_follow_each_other() {
        let mut last = None;
        for year in 1970..2370 {
            for (month, day) in (1..=12).flat_map(|month| (1..=31).map(move |day| (month, day))) {
                let text = format!("{year:04}-{month:02}-{day:02}T00:00:00");
                let Ok(Some(at)) = instant(&text) else { continue };
                assert!(last.is_none_or(|last: i64| at - last == 86_400), "{text}");
                last = Some(at);
            }
        }
        assert_eq!(last, Some(146_097 * 86_400 - 86_400), "400 years have 146,097 days");
    }

    #[test]
    fn instants_may_have_zones() {
        for text in
            ["2024-02-29T12:34:56Z", "2024-02-29T13:34:56+0100", "2024-02-29T07:04:56-05:30", "2024-02-29T13:34:56+01"]
        {
            assert_eq!(instant(text), Ok(Some(1_709_210_096)), "{text}");
        }
        for bad in ["2024-02-29T12:34:56+", "2024-02-29T12:34:56+1", "2024-02-29T12:34:56+0160", "2024-02-29+0100"] {
            assert!(instant(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_have_days_and_words() {
        assert_eq!(duration("1-02:03:04"), Ok(Some(93_784)));
        assert_eq!(duration("00:00:10.250"), Ok(Some(10)));
        assert_eq!(duration("05:30"), Ok(Some(330)));
        assert_eq!((duration("UNLIMITED"), duration("Partition_Limit")), (Ok(None), Ok(None)));
        for bad in ["10", "1-5", "a:b:c", "00:60:00", "00:00:61", "1-24:00:00", "1-1:1:1:1", "-1:00:00"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
