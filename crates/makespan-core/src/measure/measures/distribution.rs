//! Mean and percentiles of values.

use serde::{Deserialize, Serialize};

use crate::model::Time;

/// Mean and percentiles of a list of values. All fields are zero if the list is empty.
///
/// The percentile p is the value of rank `ceil(p n / 100)` in ascending order (nearest rank), so it is always one of
/// the values. The median is the 50th percentile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Arithmetic mean.
    pub mean: f64,
    /// 50th percentile.
    pub median: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Maximum value.
    pub max: f64,
}

impl Distribution {
    /// Computes the distribution of these values. The values are summed in the given order. Percentiles treat NaN as
    /// larger than every number.
    pub fn of(mut values: Vec<f64>) -> Self {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        values.sort_unstable_by(f64::total_cmp);
        Self::of_sorted(mean, &values, |&value| value)
    }

    /// Computes the distribution of these durations, in seconds. The durations are summed exactly, so the mean is
    /// rounded only once.
    pub fn of_times(mut times: Vec<Time>) -> Self {
        let sum: i128 = times.iter().map(|time| i128::from(time.ticks())).sum();
        let mean = sum as f64 / times.len().max(1) as f64 / Time::TICKS_PER_SECOND as f64;
        times.sort_unstable();
        Self::of_sorted(mean, &times, |time| time.seconds())
    }

    fn of_sorted<T>(mean: f64, sorted: &[T], figure: impl Fn(&T) -> f64) -> Self {
        let rank = |percent: usize| (percent * sorted.len()).div_ceil(100).max(1);
        let percentile = |percent| sorted.get(rank(percent) - 1).map_or(0.0, &figure);
        let [median, p90, p95, p99, max] = [50, 90, 95, 99, 100].map(percentile);
        Self { mean, median, p90, p95, p99, max }
    }
}
