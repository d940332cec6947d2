//! Conversions between floats and exact rationals.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// Returns the shortest decimal that parses as this float, as an exact rational. For a number with up to 15 digits in
/// a file, the result is exactly the number in the file.
///
/// # Panics
/// Panics if the float is not finite.
pub fn decimal_of(value: f64) -> RBig {
    assert!(value.is_finite(), "only a finite float has a decimal");
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (negative, digits) = mantissa.strip_prefix('-').map_or((false, mantissa), |digits| (true, digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let significant: u64 = format!("{whole}{fraction}").parse().unwrap_or(0);
    let shift = exponent.parse::<i64>().unwrap_or(0) - fraction.len() as i64;
    let power = UBig::from(10_u8).pow(shift.unsigned_abs() as usize);
    let significant = if negative { -IBig::from(significant) } else { IBig::from(significant) };
    if shift < 0 { RBig::from_parts(significant, power) } else { RBig::from(significant * IBig::from(power)) }
}

/// Returns the float nearest to a rational, for display and for searches.
pub fn float_of(value: &RBig) -> f64 {
    value.to_f64().value()
}

/// Number of significant figures of the decimals that are written to files.
const FIGURES: i64 = 15;

/// Rounds a rational to a decimal of 15 significant figures: up if `up` is true, otherwise down.
pub fn short_decimal(value: &RBig, up: bool) -> RBig {
    let magnitude = float_of(value).abs().log10().floor();
    if value.is_zero() || !magnitude.is_finite() {
        return value.clone();
    }
    let places = FIGURES - 1 - magnitude as i64;
    let power = RBig::from(IBig::from(10_u8).pow(places.unsigned_abs() as usize));
    let scaled = if places >= 0 { value * &power } else { value / &power };
    let whole = RBig::from(if up { scaled.ceil() } else { scaled.floor() });
    if places >= 0 { whole / power } else { whole * power }
}

/// Rounds a positive rational down to 15 significant figures ([`short_decimal`]), and returns the next larger decimal
/// of 15 significant figures. If a file states an exact value rounded down to 15 figures, the exact value is below the
/// decimal that follows the stated value.
pub fn next_decimal(value: &RBig) -> RBig {
    let low = short_decimal(value, false);
    let magnitude = float_of(&low).abs().log10().floor();
    if low.is_zero() || !magnitude.is_finite() {
        return low;
    }
    let places = FIGURES - 1 - magnitude as i64;
    let power = RBig::from(IBig::from(10_u8).pow(places.unsigned_abs() as usize));
    if places >= 0 { low + RBig::ONE / power } else { low + power }
}

/// Formats a rational: exactly if it is a decimal, otherwise as its nearest float.
pub fn decimal_text(value: &RBig) -> String {
    let mut denominator = value.denominator().clone();
    let mut places = 0_usize;
    let mut digits = value.numerator().clone();
    while !denominator.is_one() && places < 400 {
        digits *= 10;
        places += 1;
        let common = dashu_int::ops::Gcd::gcd(&digits, &denominator);
        digits /= IBig::from(common.clone());
        denominator /= common;
    }
    if !denominator.is_one() {
        return format!("{:e}", float_of(value));
    }
    let (sign, digits) = digits.into_parts();
    let sign = if sign == dashu_int::Sign::Negative { "-" } else { "" };
    let digits = format!("{:0>width$}", digits.to_string(), width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    match (whole, fraction) {
        (whole, "") if whole.len() <= 21 => format!("{sign}{whole}"),
        (whole, fraction) if places <= 30 && whole.len() <= 21 => format!("{sign}{whole}.{fraction}"),
        _ => {
            let all = format!("{whole}{fraction}");
            let significant = all.trim_start_matches('0');
            let exponent = significant.len() as i64 - places as i64 - 1;
            let (first, rest) = significant.split_at(significant.len().min(1));
            let rest = rest.trim_end_matches('0');
            let point = if rest.is_empty() { "" } else { "." };
            format!("{sign}{first}{point}{rest}e{exponent}")
        }
    }
}

/// Parses a decimal literal, such as `12.5` or `1e-9`, exactly. Returns `None` for any other text, and for exponents
/// below -400 or above 400.
pub fn parse_decimal(text: &str) -> Option<RBig> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().ok().filter(|exponent: &i64| exponent.abs() <= 400)?;
    let (negative, digits) = mantissa.strip_prefix('-').map_or((false, mantissa), |digits| (true, digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    if all.is_empty() || all.len() > 1000 || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits: IBig = all.parse().ok()?;
    let shift = exponent - fraction.len() as i64;
    let power = RBig::from(IBig::from(10_u8).pow(shift.unsigned_abs() as usize));
    let value = RBig::from(if negative { -digits } else { digits });
    Some(if shift >= 0 { value * power } else { value / power })
}
