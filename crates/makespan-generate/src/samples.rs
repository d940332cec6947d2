//! Means and quantiles of samples, for tests.

/// Returns the arithmetic mean of a non-empty sample.
pub fn mean(sample: &[f64]) -> f64 {
    assert!(!sample.is_empty());
    sample.iter().sum::<f64>() / sample.len() as f64
}

/// Returns the quantile at `share` in [0, 1], by linear interpolation between the two nearest order statistics.
pub fn quantile(sample: &[f64], share: f64) -> f64 {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    below + (above - below) * position.fract()
}
