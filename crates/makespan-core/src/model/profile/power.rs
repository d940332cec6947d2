//! The law `n^-exponent`, rounded up to a tick so that the time never rises as n grows.
//!
//! The power is computed in floats if their error cannot change the result, which is nearly always so for times of
//! less than a day. Otherwise, the power is computed in 128-bit integers.

/// Minimum exponent. Smaller exponents are treated as zero.
pub(super) const LEAST: f64 = 1.0 / (1_u64 << 56) as f64;

/// Returns `sequential * n^-exponent` for an exponent from [`LEAST`] to 1. Subtracts at most 2^-24 of a tick from the
/// product, then rounds it up.
///
/// The power in [`exactly`] has a relative error below 2^-95. The exact powers of n and of n + 1 differ by a larger
/// relative amount, `exponent / n >= 2^-88`. So the time never rises as n grows.
pub(super) fn ticks(sequential: i64, exponent: f64, n: u32) -> i64 {
    let near = sequential as f64 * f64::from(n).powf(-exponent);
    // `slack` bounds the error of `near`. The computation of `near` rounds four times to 53 bits.
    let slack = near * 2_f64.powi(-50) + 2_f64.powi(-20);
    let (low, high) = ((near - slack).ceil() as i64, (near + slack).ceil() as i64);
    if low == high { low } else { exactly(sequential, exponent, n) }
}

/// Computes [`ticks`] in integers.
fn exactly(sequential: i64, exponent: f64, n: u32) -> i64 {
    (fine(sequential, exponent, n).div_ceil(1 << 32) as i64).max(1)
}

/// Returns a lower bound on the work of every allotment from n to `max` processors. The bound is
/// `n * sequential * n^-exponent`, minus two amounts. The first amount is the rounding allowance that [`ticks`]
/// subtracts from a time on `max` processors. The second amount is the maximum error of this computation: at most n
/// 2^-24, or one part in 2^49.
pub(super) fn least_work(sequential: i64, exponent: f64, n: u32, max: u32) -> i128 {
    if n == 1 {
        return i128::from(sequential) - i128::from(max >> 25);
    }
    if sequential < 1 << 47 {
        let near = sequential as f64 * f64::from(n).powf(1.0 - exponent);
        let less = near * (1.0 - 2_f64.powi(-49)) - f64::from(max) * 2_f64.powi(-25);
        return less.ceil() as i128;
    }
    let units = fine(sequential, exponent, n) * u128::from(n);
    units.saturating_sub(u128::from(max) << 7).div_ceil(1 << 32) as i128
}

/// Returns `sequential * n^-exponent` in units of 2^-32 of a tick. The result is too low by 2^-26 to 2^-25 of a tick.
fn fine(sequential: i64, exponent: f64, n: u32) -> u128 {
    let bits = exponent.to_bits();
    let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
    // exponent = mantissa / 2^shift, and 52 <= shift <= 108.
    let shift = 1075 - (bits >> 52) as u32;
    let (high, low) = wide(logarithm(n), mantissa);
    let power = high << (128 - shift) | low >> shift;
    let (whole, part) = ((power >> FRACTION) as u32, power & ((1 << FRACTION) - 1));
    let (high, low) = wide(u128::from(sequential.unsigned_abs()), two_to_minus(part));
    let shift = 95 + whole;
    let units = high << (128 - shift) | low >> shift;
    // The error of the power is below 2^-27 of a tick. Subtracting more than this error keeps a value that is an exact
    // integer from being rounded up to the next integer.
    units.saturating_sub(1 << 6)
}

/// Number of binary places after the point of a computed logarithm.
const FRACTION: u32 = 100;
/// ln 2, in units of 2^-128.
const LN_2: u128 = 0xB172_17F7_D1CF_79AB_C9E3_B398_03F2_F6AF;

/// Returns the logarithm of n to base 2, rounded down to 2^-100. Each squaring of the remaining factor yields one
/// binary place.
fn logarithm(n: u32) -> u128 {
    let whole = n.ilog2();
    let mut power = u128::from(n) << (127 - whole);
    let mut logarithm = u128::from(whole);
    for _ in 0..FRACTION {
        let (high, low) = wide(power, power);
        let doubled = high >> 127;
        power = if doubled == 1 { high } else { high << 1 | low >> 127 };
        logarithm = logarithm << 1 | doubled;
    }
    logarithm
}

/// Returns `2^-x` in units of 2^-127, by the series of the exponential function. x is less than 1 and given in units of
/// 2^-100.
fn two_to_minus(x: u128) -> u128 {
    /// Number of terms of the series that are added. The first omitted term is below 2^-127.
    const TERMS: u128 = 36;
    const ONE: u128 = 1 << 127;
    let (y, _) = wide(x << (128 - FRACTION), LN_2);
    (1..=TERMS).rev().fold(ONE, |sum, term| ONE - wide(y, sum).0 / term)
}

/// Returns the 256-bit product as its high half and its low half.
fn wide(a: u128, b: u128) -> (u128, u128) {
    const HALF: u128 = (1 << 64) - 1;
    let (a_high, a_low, b_high, b_low) = (a >> 64, a & HALF, b >> 64, b & HALF);
    let (low, mixed, other) = (a_low * b_low, a_high * b_low, a_low * b_high);
    let middle = (low >> 64) + (mixed & HALF) + (other & HALF);
    (a_high * b_high + (mixed >> 64) + (other >> 64) + (middle >> 64), middle << 64 | low & HALF)
}
