//! Conversion of prices from floating point to integers. A price with s binary places becomes an integer in units of
//! `2^-s`.

use makespan_verify::{Bound, CertificateError};

/// Returns the bound of the most precise certificate that the check can process in 128 bits. Rounds the prices to
/// `scale` binary places first. If the check overflows, tries again with eight binary places fewer.
pub(crate) fn finest(
    mut scale: u32,
    attempt: impl Fn(u32) -> Result<Bound, CertificateError>,
) -> Result<Bound, CertificateError> {
    loop {
        match attempt(scale) {
            Err(CertificateError::Overflow) if scale > 0 => scale = scale.saturating_sub(8),
            outcome => return outcome,
        }
    }
}

/// Returns the number of binary places at which the largest price rounds to an integer of about `bits` bits.
pub(crate) fn places(prices: impl Iterator<Item = f64>, bits: i32) -> u32 {
    // If all prices are zero, the logarithm is minus infinity, the cast returns `i32::MIN`, and the result is 64
    // places.
    bits.saturating_sub(prices.fold(0.0, f64::max).log2().ceil() as i32).clamp(0, 64) as u32
}

/// Returns the number of binary places at which every price and all sums of prices fit into 64 bits. The result is at
/// most 40, because more places would not reduce rounding errors.
pub(crate) fn within_64_bits(prices: &[f64]) -> u32 {
    places(prices.iter().copied(), 62).min(40)
}

/// Rounds a price to the nearest integer in units of `2^-scale`. The cast saturates.
pub(crate) fn rounded(price: f64, scale: u32) -> i64 {
    (price * f64::from(scale).exp2()).round() as i64
}
