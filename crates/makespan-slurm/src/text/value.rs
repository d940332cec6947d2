//! Parser for times, sizes and counts in Slurm's formats.

use makespan_core::Time;

/// An optional limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OptionalLimit {
    /// A limit, in the unit of the limited quantity.
    At(u64),
    /// No limit.
    Unlimited,
}

impl OptionalLimit {
    /// Returns the limit, or `None` if there is none.
    pub const fn value(self) -> Option<u64> {
        match self {
            Self::At(value) => Some(value),
            Self::Unlimited => None,
        }
    }
}

/// Slurm's texts for a missing value.
const NOTHING: [&str; 9] = ["", "(null)", "N/A", "n/a", "None", "NONE", "Unknown", "n/s", "NotSet"];
/// Slurm's texts for "no limit".
const UNLIMITED: [&str; 2] = ["UNLIMITED", "INFINITE"];

/// Returns the text, or `None` if the text means "none".
pub fn present(text: &str) -> Option<&str> {
    (!NOTHING.contains(&text)).then_some(text)
}

fn digits(text: &str) -> Option<u64> {
    let all = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| text.parse().ok()).flatten()
}

/// Parses a whole number, or "no limit".
pub fn count(text: &str) -> Option<OptionalLimit> {
    if UNLIMITED.contains(&text) { Some(OptionalLimit::Unlimited) } else { digits(text).map(OptionalLimit::At) }
}

/// Parses a time span such as `1-02:03:04`, `02:03:04`, `03:04` or `04`. Returns seconds.
///
/// ```
/// use makespan_slurm::{OptionalLimit, duration};
///
/// assert_eq!(duration("1-00:00:10"), Some(OptionalLimit::At(86_410)));
/// assert_eq!((duration("UNLIMITED"), duration("Partition_Limit")), (Some(OptionalLimit::Unlimited), None));
/// ```
pub fn duration(text: &str) -> Option<OptionalLimit> {
    if UNLIMITED.contains(&text) {
        return Some(OptionalLimit::Unlimited);
    }
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (digits(days)?, clock),
        None => (0, text),
    };
    let mut parts = clock.split(':').rev();
    let mut seconds = 0_u64;
    for unit in [1, 60, 3600] {
        let Some(part) = parts.next() else { break };
        // In accounting data, seconds may have a fraction.
        let whole = if unit == 1 { part.split_once('.').map_or(part, |(whole, _)| whole) } else { part };
        seconds = seconds.checked_add(digits(whole)?.checked_mul(unit)?)?;
    }
    if parts.next().is_some() {
        return None;
    }
    days.checked_mul(86_400)?.checked_add(seconds).map(OptionalLimit::At)
}

/// Parses a time limit that a user writes: Slurm's forms (`30` minutes, `30:00`, `2:00:00`, `1-12`, `1-12:00`,
/// `1-12:00:00`), or a number with a unit (`4min`, `2h`). Returns seconds, or `None` if the limit is zero or unlimited.
///
/// ```
/// use makespan_slurm::requested_time;
///
/// assert_eq!(["30", "30:00", "2h", "1-12", "1-12:30"].map(requested_time), [1800, 1800, 7200, 129_600, 131_400].map(Some));
/// assert_eq!(["", "0", "-5", "4.5", "soon", "UNLIMITED", "1:2:3:4"].map(requested_time), [None; 7]);
/// ```
pub fn requested_time(text: &str) -> Option<u64> {
    let colons = text.matches(':').count();
    let seconds = match text.split_once('-') {
        // After days, the first number is hours.
        Some((days, clock)) => {
            let clock = format!("{clock}{}", ":00".repeat(2_usize.checked_sub(colons)?));
            digits(days)?.checked_mul(86_400)?.checked_add(duration(&clock)?.value()?)?
        }
        None if digits(text).is_some() => digits(text)?.checked_mul(60)?,
        None if colons > 0 => duration(text)?.value()?,
        None if text.ends_with(char::is_alphabetic) => {
            let ticks = u64::try_from(Time::parse(text).ok()?.ticks()).ok()?;
            ticks.div_ceil(Time::TICKS_PER_SECOND.unsigned_abs())
        }
        None => return None,
    };
    Some(seconds).filter(|&seconds| seconds > 0)
}

/// Parses a time such as `2026-11-22T02:03:58`, which is in UTC for outputs of [`crate::Commands`], or a number of
/// seconds. Returns seconds since 1970.
///
/// ```
/// use makespan_slurm::moment;
///
/// assert_eq!(moment("1970-01-02T00:00:05"), Some(86_405));
/// assert_eq!((moment("Unknown"), moment("1795462659")), (None, Some(1_795_462_659)));
/// ```
pub fn moment(text: &str) -> Option<i64> {
    if let Some(seconds) = digits(text) {
        // Zero means that the instant is unknown.
        return i64::try_from(seconds).ok().filter(|seconds| (1..=LAST).contains(seconds));
    }
    let (date, clock) = text.split_once('T')?;
    let numbers = |text: &str, between: char| -> Option<[i64; 3]> {
        let parts: Vec<i64> =
            text.split(between).map(|part| digits(part).map(|part| part as i64)).collect::<Option<_>>()?;
        parts.try_into().ok()
    };
    let ([year, month, day], [hour, minute, second]) = (numbers(date, '-')?, numbers(clock, ':')?);
    let in_range = (1..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_of_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 61;
    in_range.then(|| days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

/// The last second of the year 9999, in seconds since 1970.
const LAST: i64 = 253_402_300_799;

/// Formats an instant in UTC so that [`moment`] can parse it. Instants outside the years 1 to 9999 are formatted as
/// numbers.
pub fn date(seconds: i64) -> String {
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    if !(days_since_1970(1, 1, 1)..=days_since_1970(9999, 12, 31)).contains(&day) {
        return seconds.to_string();
    }
    // A year has 365 or 366 days. So this estimate is too late by at most a few years.
    let mut year = 1 + (day - days_since_1970(1, 1, 1)) / 365;
    while days_since_1970(year, 1, 1) > day {
        year -= 1;
    }
    let mut month = 12;
    while days_since_1970(year, month, 1) > day {
        month -= 1;
    }
    let day = day - days_since_1970(year, month, 1) + 1;
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
}

fn days_of_month(year: i64, month: i64) -> i64 {
    let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    days_since_1970(next_year, next, 1) - days_since_1970(year, month, 1)
}

/// Returns the number of days from 1970-01-01 to a date of the Gregorian calendar. The computation lets a year begin
/// in March, so that the leap day is its last day.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year;
    days - 719_468
}

/// Parses a size such as `128G` or `62.50M`. A number without a unit is in MiB. Returns bytes.
///
/// ```
/// use makespan_slurm::bytes;
///
/// assert_eq!((bytes("2G"), bytes("512"), bytes("1.5K")), (Some(2 << 30), Some(512 << 20), Some(1536)));
/// ```
pub fn bytes(text: &str) -> Option<u64> {
    let (number, shift) = match text.char_indices().last()? {
        (at, unit) if !unit.is_ascii_digit() => {
            let shift =
                ["K", "M", "G", "T", "P", "E"].iter().position(|name| name.starts_with(unit.to_ascii_uppercase()))?;
            (&text[..at], 10 * (shift as u32 + 1))
        }
        _ => (text, 20),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let whole = digits(whole)?.checked_mul(1 << shift)?;
    let fraction = fraction.get(..fraction.len().min(9))?;
    let part = u128::from(digits(fraction)?) * (1_u128 << shift) / 10_u128.pow(fraction.len() as u32);
    whole.checked_add(part as u64)
}

/// Parses a range such as `2-4` or `6`. Returns the minimum and the maximum.
pub fn range(text: &str) -> Option<(u64, u64)> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    let (least, most) = (bare(least)?, bare(most)?);
    (least <= most).then_some((least, most))
}

/// Parses a number with an optional unit (a power of 1000), as in `2K` or `1.50M`.
fn bare(text: &str) -> Option<u64> {
    let units = [('K', 1_000_u64), ('k', 1_000), ('M', 1_000_000), ('G', 1_000_000_000)];
    let Some((number, factor)) = units.iter().find_map(|&(unit, factor)| Some((text.strip_suffix(unit)?, factor)))
    else {
        return digits(text);
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let fraction = fraction.get(..fraction.len().min(9))?;
    let part = digits(fraction)?.checked_mul(factor)? / 10_u64.pow(fraction.len() as u32);
    digits(whole)?.checked_mul(factor)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_among_digits_are_no_number() {
        for wrong in ["1.\u{945}\u{945}\u{945}\u{945}K", "1.12345678\u{e9}M", "\u{967}G"] {
            assert_eq!((range(wrong), bytes(wrong)), (None, None), "{wrong}");
        }
        assert_eq!(range("1.1234567891K"), Some((1123, 1123)));
    }

    #[test]
    fn spans_of_time_have_every_form() {
        let at = |seconds| Some(OptionalLimit::At(seconds));
        assert_eq!((duration("00:05:00"), duration("3:20"), duration("17")), (at(300), at(200), at(17)));
        assert_eq!((duration("365-00:00:00"), duration("00:01.250")), (at(31_536_000), at(1)));
        for wrong in ["", "NONE", "INVALID", "a", "1-", "1:2:3:4", "-1", "1-2-3", "99999999999999999-00:00:00"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn moments_are_days_and_seconds() {
        assert_eq!(moment("2000-03-01T00:00:00"), Some(951_868_800));
        assert_eq!(moment("2024-02-29T23:59:59"), Some(1_709_251_199));
        assert_eq!(moment("2026-11-23T19:37:39"), Some(1_795_462_659));
        for wrong in [
            "0",
            "None",
            "2026-11-22",
            "2026-13-01T00:00:00",
            "x-1-1T0:0:0",
            "1-1-1T1:1",
            "2026-11-22T25:00:00",
            "2026-02-29T00:00:00",
            "2026-04-31T00:00:00",
            "253402300800",
        ] {
            assert_eq!(moment(wrong), None, "{wrong}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_date_is_read_as_it_was_written(seconds in 1_i64..=LAST) {
            proptest::prop_assert_eq!(moment(&date(seconds)), Some(seconds));
        }
    }

    #[test]
    fn sizes_and_counts_have_units() {
        assert_eq!((bytes("128G"), bytes("0"), bytes("1T")), (Some(128 << 30), Some(0), Some(1 << 40)));
        for wrong in ["", "G", "1X", "-1G", "1..2G", "99999999999999E", "é", "1.12345678é1"] {
            assert_eq!((bytes(wrong), range(wrong)), (None, None), "{wrong}");
        }
        assert_eq!(range("1.12345678éK"), None);
        assert_eq!(
            (count("5"), count("UNLIMITED"), count("x")),
            (Some(OptionalLimit::At(5)), Some(OptionalLimit::Unlimited), None)
        );
        assert_eq!(
            (range("2-4"), range("6"), range("1K-2.50K"), range("4-2")),
            (Some((2, 4)), Some((6, 6)), Some((1000, 2500)), None)
        );
    }
}
