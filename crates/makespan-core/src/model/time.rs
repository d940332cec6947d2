//! Time in integer ticks.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// An area: a number of processors multiplied by ticks. An `i128` can represent the area of any instance that
/// [`crate::Instance`] accepts.
pub type Area = i128;

/// An instant or a duration, in integer ticks of one nanosecond. Arithmetic saturates, so that an overflow cannot
/// produce a small wrong number. An [`crate::Instance`] rejects inputs if their times add up to nearly the limit, so a
/// saturated value never appears in a valid schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(i64);

/// The reason why a text is not a time.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TimeError {
    /// The text is not a number with an optional unit.
    #[error(
        "`{0}` is not a time; write seconds such as 12.5, or numbers with units (ns, us, ms, s, min, h, d) such as 1h30m"
    )]
    Syntax(String),
    /// The value is negative.
    #[error("`{0}` is negative; times start at 0")]
    Negative(String),
    /// The value does not fit in 64 bits of nanoseconds.
    #[error("`{0}` is too long; the longest time is 292 years")]
    Overflow(String),
}

/// The powers of ten from 10^0 to 10^8.
const SCALE: [i64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

impl Time {
    /// The earliest instant of a schedule.
    pub const ZERO: Self = Self(0);
    /// The latest instant that a [`Time`] can represent. It often stands for "never".
    pub const MAX: Self = Self(i64::MAX);
    /// The shortest duration.
    pub const TICK: Self = Self(1);
    /// Ticks in a second.
    pub const TICKS_PER_SECOND: i64 = 1_000_000_000;

    /// Creates a time from a number of ticks (nanoseconds).
    pub const fn from_ticks(ticks: i64) -> Self {
        Self(ticks)
    }

    /// Creates a time from whole seconds.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(Self::TICKS_PER_SECOND))
    }

    /// Creates a time from a floating-point number of seconds, rounded to the nearest tick.
    ///
    /// # Errors
    /// [`TimeError`] if the number is negative, not finite, or beyond 292 years.
    pub fn from_seconds_f64(seconds: f64) -> Result<Self, TimeError> {
        if !seconds.is_finite() {
            return Err(TimeError::Syntax(seconds.to_string()));
        }
        if seconds < 0.0 {
            return Err(TimeError::Negative(seconds.to_string()));
        }
        let ticks = (seconds * Self::TICKS_PER_SECOND as f64).round();
        if ticks >= i64::MAX as f64 { Err(TimeError::Overflow(seconds.to_string())) } else { Ok(Self(ticks as i64)) }
    }

    /// Returns the number of ticks (nanoseconds).
    pub const fn ticks(self) -> i64 {
        self.0
    }

    /// Returns the number of seconds, rounded to the nearest float. Use this value only for display and statistics,
    /// never for decisions, because it is rounded.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / Self::TICKS_PER_SECOND as f64
    }

    /// Returns the area of `processors` held for this duration.
    pub const fn area(self, processors: u32) -> Area {
        self.0 as Area * processors as Area
    }

    /// Parses seconds (`12.5`), a number with a unit (`90s`, `1.5h`, `250ms`) or the sum of several (`1h30m`). Decimals
    /// are rounded to the nearest tick.
    ///
    /// # Errors
    /// [`TimeError`] names the text and the reason.
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        if let Some(time) = Self::of_plain_seconds(text.as_bytes()) {
            return Ok(time);
        }
        match Self::of_number(text) {
            Err(TimeError::Syntax(_)) => Self::of_sum(text),
            other => other,
        }
    }

    /// Parses several numbers, each with its unit, such as `1h30m` or `1h 2m 3.5s`, and returns their sum.
    fn of_sum(text: &str) -> Result<Self, TimeError> {
        let syntax = || TimeError::Syntax(text.to_owned());
        let overflow = || TimeError::Overflow(text.to_owned());
        let (mut sum, mut rest) = (0_i64, text.trim());
        if rest.is_empty() {
            return Err(syntax());
        }
        while !rest.is_empty() {
            let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            let next = behind.trim_start_matches(char::is_alphabetic);
            if behind.len() == rest.len() || next.len() == behind.len() {
                return Err(syntax());
            }
            let part = Self::of_number(&rest[..rest.len() - next.len()]).map_err(|error| match error {
                TimeError::Overflow(_) => overflow(),
                _ => syntax(),
            })?;
            sum = sum.checked_add(part.0).ok_or_else(overflow)?;
            rest = next.trim_start();
        }
        Ok(Self(sum))
    }

    /// Parses a number with an optional unit.
    fn of_number(text: &str) -> Result<Self, TimeError> {
        let trimmed = text.trim();
        let split = trimmed
            .char_indices()
            .find(|&(at, c)| c.is_alphabetic() && !(matches!(c, 'e' | 'E') && is_exponent(&trimmed[at + 1..])))
            .map_or(trimmed.len(), |(at, _)| at);
        let (number, unit) = (trimmed[..split].trim(), trimmed[split..].trim());
        let ticks_per_unit: i128 = match unit {
            "" | "s" | "sec" | "seconds" => 1_000_000_000,
            "ns" => 1,
            "us" | "µs" => 1_000,
            "ms" => 1_000_000,
            "m" | "min" | "minutes" => 60_000_000_000,
            "h" | "hours" => 3_600_000_000_000,
            "d" | "days" => 86_400_000_000_000,
            _ => return Err(TimeError::Syntax(text.to_owned())),
        };
        let ticks = scaled_decimal(number, ticks_per_unit).ok_or_else(|| match number.parse::<f64>() {
            Ok(value) if value.is_finite() => TimeError::Overflow(text.to_owned()),
            _ => TimeError::Syntax(text.to_owned()),
        })?;
        if ticks < 0 {
            return Err(TimeError::Negative(text.to_owned()));
        }
        i64::try_from(ticks).map(Self).map_err(|_| TimeError::Overflow(text.to_owned()))
    }

    /// Parses seconds without sign, exponent or unit, such as `12` or `0.125`, with at most 9 digits on either side of
    /// the decimal point. Most numbers in large files have this form, and this function is faster than
    /// [`Time::parse`].
    fn of_plain_seconds(text: &[u8]) -> Option<Self> {
        Self::first_of_plain(text).and_then(|(time, rest)| rest.is_empty().then_some(time))
    }

    /// Parses seconds such as `12` or `0.125` at the beginning of a text. Returns the time and the rest of the text.
    fn first_of_plain(text: &[u8]) -> Option<(Self, &[u8])> {
        const DIGITS: usize = 9;
        let number = |digits: &[u8]| {
            let mut number = 0_i64;
            let mut count = 0;
            while let Some(digit) = digits.get(count).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
                if count == DIGITS {
                    return None;
                }
                number = number * 10 + i64::from(digit);
                count += 1;
            }
            (count > 0).then_some((number, count))
        };
        let (whole, count) = number(text)?;
        let rest = &text[count..];
        let Some((b'.', fraction)) = rest.split_first() else {
            return Some((Self(whole * Self::TICKS_PER_SECOND), rest));
        };
        let (part, count) = number(fraction)?;
        Some((Self(whole * Self::TICKS_PER_SECOND + part * SCALE[DIGITS - count]), &fraction[count..]))
    }

    /// Parses a list of seconds such as `[12, 0.125]`. Each number must have at most 9 digits on either side of the
    /// decimal point, and no sign, exponent or unit. Returns `None` for any other text.
    ///
    /// ```
    /// use makespan_core::Time;
    ///
    /// assert_eq!(Time::of_plain_list("[ 2,0.5 ]"), Some(vec![Time::from_seconds(2), Time::from_ticks(500_000_000)]));
    /// assert_eq!(Time::of_plain_list("[1e3]"), None);
    /// ```
    pub fn of_plain_list(text: &str) -> Option<Vec<Self>> {
        let mut rest = text.trim_ascii().strip_prefix('[')?.strip_suffix(']')?.as_bytes();
        // Reserves space as if each number had four digits and a comma, that is, five bytes.
        let mut times = Vec::with_capacity(rest.len() / 5 + 1);
        loop {
            let (time, behind) = Self::first_of_plain(rest.trim_ascii_start())?;
            times.push(time);
            match behind.trim_ascii_start().split_first() {
                Some((b',', next)) => rest = next,
                Some(_) => return None,
                None => break,
            }
        }
        times.shrink_to_fit();
        Some(times)
    }

    /// Returns this duration divided by a relative speed, rounded up to a tick. The result is exact if both the
    /// duration and the quotient are exact as floats. Saturates.
    #[must_use]
    pub fn divided_by(self, speed: f64) -> Self {
        Self((self.0 as f64 / speed).ceil() as i64)
    }

    /// Returns `self - other`, or zero if `other` is later than `self`.
    pub const fn saturating_since(self, other: Self) -> Self {
        if self.0 > other.0 { Self(self.0 - other.0) } else { Self::ZERO }
    }
}

/// Returns true if `rest`, the text after an `e`, is the exponent of a number such as `1e6`.
fn is_exponent(rest: &str) -> bool {
    rest.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit())
}

/// Returns `number * scale` rounded to the nearest integer, for a decimal literal such as `-1.25e3`. Returns `None` if
/// the text is not such a literal or the result exceeds the range of `i128`.
pub(crate) fn scaled_decimal(number: &str, scale: i128) -> Option<i128> {
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (number, 0),
    };
    let (negative, digits) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() || !(whole.bytes().chain(fraction.bytes())).all(|b| b.is_ascii_digit()) {
        return None;
    }
    // The exponent moves the decimal point. Digits after the 30th decimal place amount to less than half a tick in any
    // unit.
    let fraction = &fraction[..fraction.len().min(30)];
    let mut value: i128 = 0;
    for byte in whole.bytes().chain(fraction.bytes()) {
        value = value.checked_mul(10)?.checked_add(i128::from(byte - b'0'))?;
    }
    let mut value = value.checked_mul(scale)?;
    let mut shift = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    while shift > 0 && value != 0 {
        value = value.checked_mul(10)?;
        shift -= 1;
    }
    if shift < 0 && value != 0 {
        value = match 10_i128.checked_pow(shift.unsigned_abs()) {
            Some(divisor) => (value + divisor / 2) / divisor,
            None => 0,
        };
    }
    Some(if negative { -value } else { value })
}

/// Writes `value / 10^places` as a plain decimal without trailing zeros.
pub(crate) fn decimal(value: i128, places: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let unit = 10_i128.pow(places);
    let (whole, fraction) = (value.abs() / unit, value.abs() % unit);
    let sign = if value < 0 { "-" } else { "" };
    if fraction == 0 {
        return f.pad_integral(value >= 0, "", &whole.to_string());
    }
    let digits = format!("{fraction:0width$}", width = places as usize);
    f.pad(&format!("{sign}{whole}.{}", digits.trim_end_matches('0')))
}

/// Prints exact decimal seconds, such as `12.5`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal(i128::from(self.0), 9, f)
    }
}

impl Add for Time {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Time {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Mul<i64> for Time {
    type Output = Self;
    fn mul(self, factor: i64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Sum for Time {
    fn sum<I: Iterator<Item = Self>>(times: I) -> Self {
        times.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Result<i64, &str>) {
        match (Time::parse(text), expect) {
            (Ok(time), Ok(ticks)) => assert_eq!(time.ticks(), ticks, "{text}"),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{text}: {error}"),
            (got, want) => panic!("{text}: got {got:?}, want {want:?}"),
        }
    }

    #[test]
    fn reads_seconds_and_units() {
        check("12.5", Ok(12_500_000_000));
        check("0.1", Ok(100_000_000));
        check("552.21", Ok(552_210_000_000));
        check("90s", Ok(90_000_000_000));
        check("2h", Ok(7_200_000_000_000));
        check("1.5 min", Ok(90_000_000_000));
        check("1e3", Ok(1_000_000_000_000));
        check("1E-9", Ok(1));
        check("1e-30", Ok(0));
        check("0.0000000005", Ok(1));
    }

    #[test]
    fn plain_seconds_are_read_as_all_others() {
        for text in [
            "0",
            "7",
            "000000012",
            "999999999",
            "0.1",
            "12.000000001",
            "123456789.987654321",
            "5.000000000",
            "1.0000000004",
            "1.",
        ] {
            assert_eq!(Time::parse(text), Time::parse(&format!("{text} s")), "{text}");
        }
    }

    #[test]
    fn reads_sums() {
        check("1h30m", Ok(5_400_000_000_000));
        check("1d2h3min4.5s", Ok(93_784_500_000_000));
        check(" 1h 2m 3.5s ", Ok(3_723_500_000_000));
        check("0s200ms", Ok(200_000_000));
        check("1h30", Err("not a time"));
        check("1h-30m", Err("not a time"));
        check("h30m", Err("not a time"));
        check("1h30x", Err("not a time"));
        check("1.2.3h1m", Err("not a time"));
        check("100000d100000d", Err("too long"));
    }

    #[test]
    fn refuses_what_is_no_time() {
        check("", Err("not a time"));
        check("NaN", Err("not a time"));
        check("inf", Err("not a time"));
        check("5 parsecs", Err("not a time"));
        check("1.2.3", Err("not a time"));
        check("-3", Err("negative"));
        check("1e300", Err("too long"));
        check("99999999999999999999", Err("too long"));
    }

    #[test]
    fn prints_exact_decimals() {
        assert_eq!(Time::from_ticks(12_500_000_000).to_string(), "12.5");
        assert_eq!(Time::from_ticks(1).to_string(), "0.000000001");
        assert_eq!(Time::from_seconds(100_000_000).to_string(), "100000000");
        assert_eq!(Time::from_ticks(-1_500_000_000).to_string(), "-1.5");
    }
}
