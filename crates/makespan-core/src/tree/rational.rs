//! Between floats and exact rationals.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// The shortest decimal that reads as this float, exactly: what a file wrote, up to 15 digits of it.
///
/// # Panics
/// When the float is not finite.
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

/// The nearest float, for display and for searches.
pub fn float_of(value: &RBig) -> f64 {
    value.to_f64().value()
}
