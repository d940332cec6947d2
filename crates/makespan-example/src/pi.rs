//! Computes pi by the Leibniz series, which converges slowly.

use crate::share::share;

const BLOCK: u64 = 1 << 20;

/// Returns the first `terms` terms of `4 (1 - 1/3 + 1/5 - ..)`, summed. Blocks of terms are summed in a fixed order,
/// so the result does not depend on the number of threads.
pub fn sum(terms: u64, threads: u32) -> f64 {
    let blocks = share(terms.div_ceil(BLOCK), threads, |block| {
        let range = block * BLOCK..((block + 1) * BLOCK).min(terms);
        range.map(|k| if k % 2 == 0 { 1.0 } else { -1.0 } / (2 * k + 1) as f64).sum::<f64>()
    });
    4.0 * blocks.into_iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_near_pi_whatever_the_threads() {
        let value = sum(3_000_000, 1);
        assert!((value - std::f64::consts::PI).abs() < 1e-6);
        assert_eq!(value.to_bits(), sum(3_000_000, 3).to_bits());
    }
}
