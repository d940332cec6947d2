//! Bandwidths with units.

use makespan_core::Quantity;

use crate::native::scalar::FromLiteral;

/// Bandwidth in bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bandwidth(pub f64);

impl FromLiteral for Bandwidth {
    const EXPECTED: &'static str = "a bandwidth: bytes per second, or a text such as \"7Mbit/s\"";

    fn from_literal(text: &str, _quoted: bool) -> Result<Self, String> {
        parse_bandwidth(text).map(Self)
    }
}

/// Reads a bandwidth in bytes per second: a positive number, or a number with a unit such as `7Mbit/s`. The
/// error states the accepted forms.
pub fn parse_bandwidth(text: &str) -> Result<f64, String> {
    let value = parse(text).filter(|value| value.is_finite() && *value > 0.0).ok_or_else(|| {
        format!(
            "`{text}` is not a bandwidth; write a positive number of bytes per second, or a number with a unit, such \
             as 7Mbit/s, 10GB/s or 100MiB/s"
        )
    })?;
    Quantity::BANDWIDTH.check(value).map_err(|error| error.to_string())
}

fn parse(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_unit = |c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E');
    let split = text.find(is_unit).unwrap_or(text.len());
    let number: f64 = text[..split].trim().parse().ok()?;
    let unit = text[split..].trim();
    if unit.is_empty() {
        return Some(number);
    }
    let per_second = unit.strip_suffix("/s").or_else(|| unit.strip_suffix("ps"))?;
    let (prefix, bits) = if let Some(prefix) = per_second.strip_suffix("bit") {
        (prefix, 8.0)
    } else if let Some(prefix) = per_second.strip_suffix("byte") {
        (prefix, 1.0)
    } else if let Some(prefix) = per_second.strip_suffix('b') {
        (prefix, 8.0)
    } else {
        (per_second.strip_suffix('B')?, 1.0)
    };
    let factor = match prefix {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "Ki" => 1024.0,
        "Mi" => 1024.0 * 1024.0,
        "Gi" => 1024.0 * 1024.0 * 1024.0,
        "Ti" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    Some(number * factor / bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_units() {
        let check = |text: &str, expect: Option<f64>| {
            assert_eq!(Bandwidth::from_literal(text, true).ok().map(|bandwidth| bandwidth.0), expect, "{text}");
        };
        check("7Mbit/s", Some(875_000.0));
        check("10 GB/s", Some(1e10));
        check("1MiB/s", Some(1_048_576.0));
        check("8kbps", Some(1000.0));
        check("1e9", Some(1e9));
        for bad in ["", "x", "0", "-5", "NaN", "inf", "7 parsecs", "7M", "7Mbit", "1e300", "1e7TB/s", "1e-10"] {
            check(bad, None);
        }
    }
}
