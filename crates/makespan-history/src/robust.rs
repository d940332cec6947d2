//! Robust statistics: a few wrong values change them little.

/// Returns the median, or `None` if there are no finite values. For an even number of values, the median is the mean of the two
/// middle values.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted.get(sorted.len().saturating_sub(1) / 2)?, sorted.get(sorted.len() / 2)?);
    Some(f64::midpoint(*low, *high))
}

/// Returns the median absolute value, scaled so that it estimates the standard deviation of a normal distribution.
pub(crate) fn deviation(residuals: impl IntoIterator<Item = f64>) -> f64 {
    const OF_A_NORMAL_DISTRIBUTION: f64 = 1.4826;
    OF_A_NORMAL_DISTRIBUTION * median(residuals.into_iter().map(f64::abs)).unwrap_or(0.0)
}

/// A straight line `intercept + slope x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RobustLine {
    pub intercept: f64,
    pub slope: f64,
}

impl RobustLine {
    pub fn at(self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }

    /// Returns the line of Theil and Sen. Its slope is the median of the slopes between all pairs of points, and its intercept is
    /// the median intercept for this slope. Up to 29 % of the points may be arbitrarily wrong. Returns `None` if all points have
    /// the same `x`, since slopes that are not finite are ignored. O(n^2).
    ///
    /// P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", Journal of the American Statistical
    /// Association 63, 1968, doi:10.1080/01621459.1968.10480934.
    pub fn theil_sen(points: &[(f64, f64)]) -> Option<Self> {
        let pairs = points.iter().enumerate().flat_map(|(at, a)| points[at + 1..].iter().map(move |b| (a, b)));
        let slopes = pairs.map(|(a, b)| (b.1 - a.1) / (b.0 - a.0));
        let slope = median(slopes)?;
        let intercept = median(points.iter().map(|(x, y)| y - slope * x))?;
        Some(Self { intercept, slope })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_wrong_values_change_little() {
        assert_eq!(median([3.0, 1.0, f64::NAN, 1e300]), Some(3.0));
        assert_eq!(median([4.0, 2.0]), Some(3.0));
        assert_eq!(median([]), None);
        let mut points: Vec<(f64, f64)> = (0..20).map(|x| (f64::from(x), 2.0 + 3.0 * f64::from(x))).collect();
        for point in points.iter_mut().take(5) {
            point.1 = 1e6;
        }
        let line = RobustLine::theil_sen(&points).unwrap();
        assert!((line.slope - 3.0).abs() < 1e-9 && (line.intercept - 2.0).abs() < 1e-9, "{line:?}");
        assert_eq!(RobustLine::theil_sen(&[(1.0, 2.0), (1.0, 3.0)]), None);
    }
}
