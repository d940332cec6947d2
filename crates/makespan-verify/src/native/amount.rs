//! Amounts of resources: whole numbers, and bytes with a unit.

use crate::native::scalar::{FromLiteral, exact_decimal};

/// Amount of a resource: a whole number from 0 to 2^63 - 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount(pub u64);

/// Reads an amount of a resource: a whole number, or a number of bytes with a unit such as `4GiB`. The error states the
/// accepted forms.
pub fn parse_amount(text: &str) -> Result<u64, String> {
    Amount::from_literal(text, true).map(|amount| amount.0)
}

/// Units of memory and their sizes in bytes. The unit of a text is the first entry of this list that is a suffix of the
/// text. Every unit ends with `B`, so the unit `B` comes last.
const UNITS: [(&str, u64); 14] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("PiB", 1 << 50),
    ("EiB", 1 << 60),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("PB", 1_000_000_000_000_000),
    ("EB", 1_000_000_000_000_000_000),
    ("B", 1),
];

impl FromLiteral for Amount {
    const EXPECTED: &'static str = "an amount: a whole number, or a text with a unit of bytes such as \"4GiB\"";

    fn from_literal(text: &str, quoted: bool) -> Result<Self, String> {
        let trimmed = text.trim();
        let unit = UNITS.iter().find(|(unit, _)| quoted && trimmed.ends_with(unit));
        let (number, factor) =
            unit.map_or((trimmed, 1), |(unit, factor)| (trimmed[..trimmed.len() - unit.len()].trim_end(), *factor));
        let too_much = || format!("the amount `{text}` is too large; at most 2^63 - 1 is supported");
        let wrong = || {
            if number.parse().is_ok_and(|number: f64| number.is_finite() && number >= i64::MAX as f64) {
                return too_much();
            }
            if let Some(meant) = in_other_case(trimmed).filter(|_| quoted) {
                return format!("`{text}` is not an amount; did you mean \"{meant}\"?");
            }
            format!(
                "`{text}` is not an amount; write a whole number such as 2, or bytes with a unit such as \"4GiB\" (2^30 each) or \
                 \"4GB\" (10^9 each)"
            )
        };
        // A number may have up to nine decimal places before the unit.
        let billionths = exact_decimal(number, 9).ok_or_else(wrong)?;
        let value = billionths.checked_mul(factor.into()).ok_or_else(too_much)?;
        if value < 0 {
            return Err(format!("`{text}` is negative; an amount is at least 0"));
        }
        if value % 1_000_000_000 != 0 {
            return Err(format!(
                "`{text}` is not a whole number; resources are counted in whole units, memory in bytes"
            ));
        }
        let value = value / 1_000_000_000;
        let most = i128::from(i64::MAX);
        if value > most { Err(too_much()) } else { Ok(Self(value as u64)) }
    }
}

/// Returns the text with the correct case of the unit, or `None` if the text contains another error.
fn in_other_case(text: &str) -> Option<String> {
    let unit = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(unit);
    let (right, _) = UNITS.iter().find(|(right, _)| right.eq_ignore_ascii_case(unit))?;
    exact_decimal(number.trim_end(), 9).map(|_| format!("{number}{right}"))
}

/// Formats an amount so that [`parse_amount`] returns the same amount. Memory is written as a whole number of the
/// largest possible unit.
pub fn with_unit(name: &str, amount: u64) -> Option<String> {
    makespan_core::Resource::in_unit(name, amount).map(|(count, unit)| format!("{count}{unit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_mean_what_they_say() {
        let read = |text| Amount::from_literal(text, true).map(|amount| amount.0);
        assert_eq!((read("4GiB"), read("4 GB"), read("1.5 KiB")), (Ok(4 << 30), Ok(4_000_000_000), Ok(1536)));
        assert_eq!((read("2"), read("1e3"), read(" 7 B ")), (Ok(2), Ok(1000), Ok(7)));
        assert_eq!(read("9223372036854775807"), Ok(i64::MAX as u64));
        for bad in ["4G", "GiB", "gib", "", "NaN", "inf", "four", "0x10", "1 GiB GiB"] {
            assert!(read(bad).unwrap_err().contains("is not an amount; write"), "{bad}");
        }
        for (bad, meant) in [("4 Gb", "4 GB"), ("4kb", "4kB"), ("1.5gib", "1.5GiB")] {
            assert!(read(bad).unwrap_err().ends_with(&format!("did you mean \"{meant}\"?")), "{bad}");
        }
        assert!(read("-1").unwrap_err().contains("negative"));
        assert!(read("0.5").unwrap_err().contains("whole number"));
        assert!(read("1.0001 KiB").unwrap_err().contains("whole number"));
        for much in ["9223372036854775808", "1e30", "9000000PB", "1e300", "8EiB", "10EB"] {
            assert!(read(much).unwrap_err().contains("too large"), "{much}");
        }
        assert!(Amount::from_literal("4GiB", false).is_err(), "a number has no unit");
    }

    #[test]
    fn what_is_written_is_read_back() {
        for amount in [1, 1024, 1536, 4 << 30, (4 << 30) + 1, 5 << 40, 1 << 62] {
            let text = with_unit("memory", amount).unwrap_or_else(|| amount.to_string());
            assert_eq!(Amount::from_literal(&text, true), Ok(Amount(amount)), "{text}");
        }
        assert_eq!(with_unit("gpus", 1024), None);
    }
}
