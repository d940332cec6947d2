//! Splits a line into its 18 numbers. The code is written by hand for speed, because a log has millions of lines.

use makespan_core::Time;

use crate::needs::bytes;
use crate::scalar::exact_decimal;

/// Number of fields in a record.
pub(super) const COUNT: usize = 18;

/// Fields of a line.
#[derive(Debug)]
pub(super) struct SwfFields<'a> {
    /// Text of each field, or "-1" if the field is missing or not a number.
    pub texts: [&'a [u8]; COUNT],
    /// Number of fields on the line.
    pub count: usize,
    /// True if at least one field is not a number.
    pub is_broken: bool,
}

/// Splits a line into its fields.
pub(super) fn split(line: &[u8]) -> SwfFields<'_> {
    let mut fields: [&[u8]; COUNT] = [b"-1"; COUNT];
    let mut count = 0;
    let mut at = 0;
    loop {
        while line.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        let start = at;
        while line.get(at).is_some_and(|byte| !byte.is_ascii_whitespace()) {
            at += 1;
        }
        if start == at {
            break;
        }
        if let Some(field) = fields.get_mut(count) {
            *field = &line[start..at];
        }
        count += 1;
    }
    let mut is_broken = false;
    for field in fields.iter_mut().filter(|field| !is_number(field)) {
        *field = b"-1";
        is_broken = true;
    }
    SwfFields { texts: fields, count, is_broken }
}

fn is_number(field: &[u8]) -> bool {
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
        return true;
    }
    // Texts that are not plain integers are rare, so the general parser of floats reads them. The parser also accepts
    // words such as `inf`, so the first character is checked.
    let starts = digits.first().is_some_and(|&byte| byte.is_ascii_digit() || byte == b'.');
    starts && std::str::from_utf8(field).is_ok_and(|text| text.parse::<f64>().is_ok_and(f64::is_finite))
}

/// Reads a whole number from 0. Decimals such as `8.0` are accepted.
pub(super) fn whole(field: &[u8]) -> Option<u64> {
    let mut value: u64 = 0;
    for (at, &byte) in field.iter().enumerate() {
        if byte == b'.' {
            return field[at + 1..].iter().all(|&byte| byte == b'0').then_some(value);
        }
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
    }
    Some(value)
}

/// Reads a count. Returns `None` if the count is missing (negative) or zero. A count that is too large becomes the
/// largest `u64`.
///
/// # Errors
/// The count is not whole.
pub(super) fn count(field: &[u8]) -> Result<Option<u64>, ()> {
    if let Some(count) = whole(field) {
        return Ok(Some(count).filter(|&count| count > 0));
    }
    if field.starts_with(b"-") {
        return Ok(None);
    }
    let text = std::str::from_utf8(field).map_err(|_| ())?;
    let large = text.bytes().all(|byte| byte.is_ascii_digit()) || text.parse::<f64>().is_ok_and(|value| value > 1e30);
    match exact_decimal(text, 0) {
        Some(count) => Ok(Some(u64::try_from(count).unwrap_or(u64::MAX)).filter(|&count| count > 0)),
        None if large => Ok(Some(u64::MAX)),
        None => Err(()),
    }
}

/// Returns a time, or `None` if the time is missing (negative).
///
/// # Errors
/// The time is above 292 years.
pub(super) fn time(field: &[u8]) -> Result<Option<Time>, ()> {
    if field.starts_with(b"-") {
        return Ok(None);
    }
    // A number of seconds with up to nine digits, converted to nanoseconds, fits in 64 bits.
    if field.len() <= 9 && field.iter().all(u8::is_ascii_digit) {
        let seconds = field.iter().fold(0, |value, &byte| value * 10 + i64::from(byte - b'0'));
        return Ok(Some(Time::from_seconds(seconds)));
    }
    let text = std::str::from_utf8(field).map_err(|_| ())?;
    Time::parse(text).map(Some).map_err(|_| ())
}

/// Converts a number of KiB to bytes, rounded up. Returns `None` if the number is missing (negative) or zero.
pub(super) fn kibibytes(field: &[u8]) -> Option<u64> {
    if field.starts_with(b"-") {
        return None;
    }
    if let Some(bytes) = whole(field).and_then(|count| count.checked_mul(1024)).filter(|&bytes| bytes < 1 << 53) {
        return (bytes > 0).then_some(bytes);
    }
    let text = std::str::from_utf8(field).ok()?;
    bytes(text.parse::<f64>().ok()? * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_numbers_and_names_what_is_none() {
        let line = b"  1 2.5 -1 1e3\t5 6 7 8 9 10 11 12 13 14 15 16 17 -1\r\n";
        assert_eq!(split(line).texts[3], b"1e3");
        let SwfFields { texts: short, count, is_broken } = split(b"1 2 3");
        assert_eq!((short[2], short[3], count, is_broken), (&b"3"[..], &b"-1"[..], 3, false));
        assert_eq!(split(&b"1 ".repeat(19)).count, 19);
        for bad in ["x", "nan", "inf", "-", "1.2.3", "--1", "1e999", "1;2"] {
            let line = format!("1 2 3 4 5 6 {bad} 8 9 10 11 12 13 14 15 16 17 18");
            let SwfFields { texts: fields, is_broken, .. } = split(line.as_bytes());
            assert_eq!((fields[6], is_broken), (&b"-1"[..], true), "{bad}");
        }
    }

    #[test]
    fn reads_counts_and_times() {
        assert_eq!(whole(b"12"), Some(12));
        assert_eq!(whole(b"8.0"), Some(8));
        assert_eq!(whole(b"8.5"), None);
        assert_eq!(whole(b"-1"), None);
        assert_eq!(whole(b"99999999999999999999"), None);
        for (field, expect) in [
            (&b"12"[..], Ok(Some(12))),
            (b"1e9", Ok(Some(1_000_000_000))),
            (b"1e300", Ok(Some(u64::MAX))),
            (b"99999999999999999999", Ok(Some(u64::MAX))),
            (b"0", Ok(None)),
            (b"0.0", Ok(None)),
            (b"-1", Ok(None)),
            (b"-2.5", Ok(None)),
            (b"2.5", Err(())),
            (b"25e-1", Err(())),
            (b"1e-300", Err(())),
        ] {
            assert_eq!(count(field), expect, "{field:?}");
        }
        assert_eq!(time(b"-1"), Ok(None));
        assert_eq!(time(b"12.25"), Ok(Some(Time::from_ticks(12_250_000_000))));
        assert_eq!(time(b"1234567890"), Ok(Some(Time::from_seconds(1_234_567_890))));
        assert!(time(b"1e30").is_err());
    }
}
