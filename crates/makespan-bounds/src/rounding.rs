//! Prices in floating point become integers with binary places.

use makespan_core::{Bound, CertificateError};

/// The bound of a certificate with as many binary places as can be checked within 128 bits, and no more than `scale`.
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

/// Returns the binary places with which the largest price is an integer of about `bits` bits.
pub(crate) fn places(prices: impl Iterator<Item = f64>, bits: i32) -> u32 {
    // If nothing has a price, its logarithm is the least number.
    bits.saturating_sub(prices.fold(0.0, f64::max).log2().ceil() as i32).clamp(0, 64) as u32
}

/// Returns the binary places that leave every price, and its sums, within 64 bits. More than 40 lose no less to rounding.
pub(crate) fn within_64_bits(prices: &[f64]) -> u32 {
    places(prices.iter().copied(), 62).min(40)
}

/// The nearest integer in units of `2^-scale`; the cast saturates.
pub(crate) fn rounded(price: f64, scale: u32) -> i64 {
    (price * f64::from(scale).exp2()).round() as i64
}
