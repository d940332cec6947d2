//! Summaries of samples.

/// A summary of the ratios between paired values and references.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioSummary {
    /// The smallest ratio of a single pair.
    pub min: f64,
    /// The sum of the values divided by the sum of the references. The paper on DEMT shows this average in its figures.
    pub of_sums: f64,
    /// The largest ratio of a single pair.
    pub max: f64,
}

/// Returns the arithmetic mean, or `None` for an empty sample.
pub fn mean(sample: &[f64]) -> Option<f64> {
    (!sample.is_empty()).then(|| sample.iter().sum::<f64>() / sample.len() as f64)
}

/// Returns the geometric mean, or `None` for an empty sample.
pub fn geometric(sample: &[f64]) -> Option<f64> {
    mean(&sample.iter().map(|value| value.ln()).collect::<Vec<_>>()).map(f64::exp)
}

/// Returns the smallest value and the largest value. If all values are negative, the second number is 0.
pub fn range(sample: &[f64]) -> (f64, f64) {
    (sample.iter().copied().fold(f64::INFINITY, f64::min), sample.iter().copied().fold(0.0, f64::max))
}

/// Returns half the width of the 95 % confidence interval of the mean, by Student's t. Returns `None` for fewer than
/// two values.
pub fn confidence(sample: &[f64]) -> Option<f64> {
    /// The 0.975 quantiles for 1 to 30 degrees of freedom. For more degrees of freedom, the quantile for 30 degrees is
    /// used, which is too large by less than 0.083.
    const T: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    ];
    let count = sample.len();
    let mean = mean(sample).filter(|_| count > 1)?;
    let variance = sample.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1) as f64;
    Some(T.get(count - 2).copied().unwrap_or(2.042) * (variance / count as f64).sqrt())
}

/// Returns the quantile at `share` in [0, 1], by linear interpolation between the two nearest order statistics (Hyndman
/// and Fan's type 7, the default of R and numpy). Returns `None` for an empty sample or a share out of range.
pub fn quantile(sample: &[f64], share: f64) -> Option<f64> {
    if sample.is_empty() || !(0.0..=1.0).contains(&share) {
        return None;
    }
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    Some(below + (above - below) * position.fract())
}

/// Summarises pairs of a value and a reference. Returns the ratio of the sums, and the smallest and the largest ratio
/// of a single pair.
///
/// In a mean of ratios, a run with a small reference would have as much weight as a run with a large reference. The
/// ratio of sums is the right average if both sums have a meaning (R. Jain, "The art of computer systems performance
/// analysis", 1991, section 12.7). Returns `None` if there are no pairs or if a reference is not positive.
pub fn ratio_of_sums(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<RatioSummary> {
    let (mut values, mut references) = (0.0, 0.0);
    let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
    for (value, reference) in pairs {
        if reference <= 0.0 || reference.is_nan() {
            return None;
        }
        values += value;
        references += reference;
        min = min.min(value / reference);
        max = max.max(value / reference);
    }
    (references > 0.0).then(|| RatioSummary { min, of_sums: values / references, max })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Option<f64>, b: f64) {
        assert!(a.is_some_and(|a| (a - b).abs() < 1e-12), "{a:?} is not {b}");
    }

    #[test]
    fn confidence_of_five_values() {
        // The variance of 1 .. 5 is 2.5, so the standard error of the mean is the square root of a half.
        close(confidence(&[1.0, 2.0, 3.0, 4.0, 5.0]), 2.776 * 0.5_f64.sqrt());
        assert_eq!((confidence(&[1.0]), confidence(&[2.0, 2.0])), (None, Some(0.0)));
    }

    #[test]
    fn means_and_quantiles_of_known_samples() {
        close(mean(&[1.0, 2.0, 6.0]), 3.0);
        close(quantile(&[4.0, 1.0, 3.0, 2.0], 0.5), 2.5);
        close(quantile(&[4.0, 1.0, 3.0, 2.0], 0.0), 1.0);
        close(quantile(&[4.0, 1.0, 3.0, 2.0], 1.0), 4.0);
        close(quantile(&[10.0, 20.0], 0.25), 12.5);
        close(quantile(&[7.0], 0.9), 7.0);
        assert_eq!((mean(&[]), quantile(&[], 0.5), quantile(&[1.0], 1.5)), (None, None, None));
    }

    #[test]
    fn large_pairs_weigh_more_in_the_ratio_of_sums() {
        let summary = ratio_of_sums([(2.0, 1.0), (100.0, 100.0)]).unwrap();
        close(Some(summary.of_sums), 102.0 / 101.0);
        close(Some(summary.min), 1.0);
        close(Some(summary.max), 2.0);
    }

    #[test]
    fn ratios_to_nothing_are_refused() {
        assert_eq!(ratio_of_sums([]), None);
        assert_eq!(ratio_of_sums([(1.0, 0.0)]), None);
        assert_eq!(ratio_of_sums([(1.0, f64::NAN)]), None);
    }
}
