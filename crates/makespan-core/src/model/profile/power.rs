//! The law `n^-exponent`, rounded up to a tick in such a way that times never rise with n.
//!
//! Floats answer where their error cannot matter, which is nearly always for times of less than a day. Otherwise the
//! power is computed in integers of 128 bits.

/// Smaller exponents are taken as zero.
pub(super) const LEAST: f64 = 1.0 / (1_u64 << 56) as f64;

/// `sequential * n^-exponent`, minus at most 2^-24 and rounded up, for an exponent from [`LEAST`] to 1.
///
/// The power of [`exactly`] has a relative error below 2^-95, and the exact ones of n and n + 1 are further apart than
/// that: by `exponent / n >= 2^-88`. So times never rise with n.
pub(super) fn ticks(sequential: i64, exponent: f64, n: u32) -> i64 {
    let near = sequential as f64 * f64::from(n).powf(-exponent);
    // Four roundings to 53 bits.
    let slack = near * 2_f64.powi(-50) + 2_f64.powi(-20);
    let (low, high) = ((near - slack).ceil() as i64, (near + slack).ceil() as i64);
    if low == high { low } else { exactly(sequential, exponent, n) }
}

/// The same in integers.
fn exactly(sequential: i64, exponent: f64, n: u32) -> i64 {
    (fine(sequential, exponent, n).div_ceil(1 << 32) as i64).max(1)
}

/// No allotment from n to `max` has less work: `n * sequential * n^-exponent`, minus what [`ticks`] takes off on `max`
/// processors, and at most n 2^-24 or one part in 2^49 more.
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

/// `sequential * n^-exponent` in units of 2^-32 of a tick, minus 2^-26 to 2^-25 of a tick.
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
    // An integer must not be rounded up to the next one by the error of its power, which is below 2^-27.
    units.saturating_sub(1 << 6)
}

/// Binary places of a logarithm.
const FRACTION: u32 = 100;
/// ln 2, in units of 2^-128.
const LN_2: u128 = 0xB172_17F7_D1CF_79AB_C9E3_B398_03F2_F6AF;

/// The logarithm of n to base 2, rounded down to 2^-100: one place for each squaring.
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

/// `2^-x` in units of 2^-127, for x < 1 in units of 2^-100: the series of the exponential function.
fn two_to_minus(x: u128) -> u128 {
    /// The next term is below 2^-127.
    const TERMS: u128 = 36;
    const ONE: u128 = 1 << 127;
    let (y, _) = wide(x << (128 - FRACTION), LN_2);
    (1..=TERMS).rev().fold(ONE, |sum, term| ONE - wide(y, sum).0 / term)
}

/// The product in 256 bits: the high half and the low one.
fn wide(a: u128, b: u128) -> (u128, u128) {
    const HALF: u128 = (1 << 64) - 1;
    let (a_high, a_low, b_high, b_low) = (a >> 64, a & HALF, b >> 64, b & HALF);
    let (low, mixed, other) = (a_low * b_low, a_high * b_low, a_low * b_high);
    let middle = (low >> 64) + (mixed & HALF) + (other & HALF);
    (a_high * b_high + (mixed >> 64) + (other >> 64) + (middle >> 64), middle << 64 | low & HALF)
}
