//! Prices in floating point become integers with binary places.

use makespan_core::{Bound, CertificateError};

/// More binary places lose less to rounding.
const MAX_PLACES: u32 = 40;

/// The bound of a certificate with as many places as can be checked within 128 bits, and as leave every price within
/// 64 bits.
pub(super) fn finest(
    prices: &[f64],
    attempt: impl Fn(u32) -> Result<Bound, CertificateError>,
) -> Result<Bound, CertificateError> {
    let largest = prices.iter().copied().fold(1.0, f64::max);
    let mut scale = (62.0 - largest.log2()).clamp(0.0, f64::from(MAX_PLACES)) as u32;
    loop {
        match attempt(scale) {
            Err(CertificateError::Overflow) if scale > 0 => scale = scale.saturating_sub(8),
            outcome => return outcome,
        }
    }
}

/// The nearest integer in units of `2^-scale`; the cast saturates.
pub(super) fn rounded(price: f64, scale: u32) -> i64 {
    (price * f64::from(scale).exp2()).round() as i64
}
