//! Reads numbers with the units of `SimGrid`.

use makespan_core::{Quantity, Time};

use crate::bandwidth::Bandwidth;
use crate::scalar::FromLiteral;

/// Converts a speed such as `100Mf`, `1.5Gf` or `98095000` to units of work (10^6 flop) per second. If the text lists
/// several speeds (one for each performance state), returns the first one. A speed of 0 is valid.
pub(super) fn speed(text: &str) -> Result<f64, String> {
    let first = text.split(',').next().unwrap_or_default().trim();
    let number = first.strip_suffix("flops").or_else(|| first.strip_suffix('f')).unwrap_or(first);
    // The prefixes are relative to 10^6 flop. The conversion is exact, because it only shifts the decimal point of the
    // text.
    let prefixes = [("k", -3), ("K", -3), ("M", 0), ("G", 3), ("T", 6), ("P", 9), ("E", 12), ("Z", 15), ("Y", 18)];
    let found = prefixes.iter().find_map(|&(prefix, power)| Some((number.strip_suffix(prefix)?, power)));
    let (number, power) = found.unwrap_or((number, -6));
    let (number, exponent) = number.trim().split_once(['e', 'E']).unwrap_or((number.trim(), "0"));
    let power = exponent.parse::<i32>().unwrap_or(i32::MAX).saturating_add(power);
    let value = format!("{number}e{power}").parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
    let value = value
        .ok_or_else(|| format!("`{text}` is not a speed; write a positive number of flops such as 100Mf or 1.5Gf"))?;
    if value == 0.0 {
        return Ok(0.0);
    }
    Quantity::SPEED.check(value).map_err(|error| format!("`{text}`: {error} (units of 10^6 flops)"))
}

/// Reads a bandwidth such as `1.25GBps`, `10Mbps` or `125000000`, in bytes per second.
pub(super) fn bandwidth(text: &str) -> Result<f64, String> {
    Bandwidth::from_literal(text, true).map(|bandwidth| bandwidth.0)
}

/// Reads a duration such as `50us`, `0.1ms` or `1`.
pub(super) fn latency(text: &str) -> Result<Time, String> {
    let latency = Time::parse(text).map_err(|error| error.to_string())?;
    Quantity::LATENCY.check(latency.seconds()).map_err(|error| error.to_string())?;
    Ok(latency)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_have_prefixes_and_exponents() {
        for (text, expect) in
            [("100Mf", 100.0), ("1E9", 1000.0), ("1e9f", 1000.0), ("1.5Gf,1Gf", 1500.0), ("2e-3Gf", 2.0), ("0f", 0.0)]
        {
            assert_eq!(speed(text), Ok(expect), "{text}");
        }
        for bad in ["", "x", "1e", "1ee9", "-1Gf", "nan", "1e999999999999"] {
            assert!(speed(bad).is_err(), "{bad}");
        }
    }
}
