//! Performance profiles of algorithms over many instances.
//!
//! Elizabeth D. Dolan and Jorge J. Moré, *Benchmarking optimization software with performance profiles*, Mathematical
//! Programming 91 (2002), 201 to 213, DOI 10.1007/s101070100263, section 2. The paper compares run times. This module
//! compares any values for which smaller is better.
//!
//! Let v(p, s) be the value of algorithm s on instance p. If s failed on p, the ratio r(p, s) is infinite. Otherwise,
//! r(p, s) is v(p, s) divided by the smallest value of any algorithm on p.
//!
//! The profile of s at a factor t is the share of the instances with r(p, s) <= t.

use crate::plot::{Figure, Line, Point, Series};

/// Performance profile of one algorithm. For each factor, the profile states the share of instances on which the
/// algorithm's value is at most the factor times the best value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PerformanceProfile {
    /// Finite ratios of the algorithm's values to the best values, in ascending order.
    ratios: Vec<f64>,
    /// Number of instances, including instances on which the algorithm failed.
    instances: usize,
}

impl PerformanceProfile {
    /// Returns the share of instances (0 to 1) on which the algorithm's value is at most `factor` times the best value.
    pub fn share(&self, factor: f64) -> f64 {
        if self.instances == 0 {
            return 0.0;
        }
        self.ratios.partition_point(|&ratio| ratio <= factor) as f64 / self.instances as f64
    }

    /// Returns each factor at which the share grows, together with the share at this factor.
    pub fn steps(&self) -> Vec<(f64, f64)> {
        let mut factors = self.ratios.clone();
        factors.dedup();
        factors.into_iter().map(|factor| (factor, self.share(factor))).collect()
    }
}

/// Returns the profiles of all algorithms. `values` has a row for each instance and a column for each algorithm. The
/// values are not negative, and smaller values are better. `None` means that the algorithm failed. An instance on which
/// all algorithms failed counts as a failure of each of them.
///
/// ```
/// use makespan_formats::performance_profile::performance_profiles;
///
/// let profiles = performance_profiles(&[vec![Some(2.0), Some(3.0)], vec![None, Some(5.0)]]);
/// assert_eq!(profiles[0].share(1.0), 0.5);
/// assert_eq!((profiles[1].share(1.0), profiles[1].share(1.5)), (0.5, 1.0));
/// ```
pub fn performance_profiles(values: &[Vec<Option<f64>>]) -> Vec<PerformanceProfile> {
    let algorithms = values.first().map_or(0, Vec::len);
    let mut profiles = vec![PerformanceProfile { ratios: Vec::new(), instances: values.len() }; algorithms];
    for row in values {
        let best = row.iter().flatten().copied().reduce(f64::min);
        for (profile, value) in profiles.iter_mut().zip(row) {
            let ratio = value.zip(best).map(|(value, best)| if value <= best { 1.0 } else { value / best });
            profile.ratios.extend(ratio.filter(|ratio| ratio.is_finite()));
        }
    }
    profiles.iter_mut().for_each(|profile| profile.ratios.sort_by(f64::total_cmp));
    profiles
}

/// Returns a figure of the profiles. `what` is the name of the compared value.
pub fn figure(names: &[String], profiles: &[PerformanceProfile], what: &str) -> Figure {
    let largest = profiles.iter().filter_map(|profile| profile.ratios.last()).copied().fold(1.0, f64::max);
    let point = |(x, y): (f64, f64)| Point { x, y, low: y, high: y };
    let series = |(name, profile): (&String, &PerformanceProfile)| {
        let ends =
            [(1.0, profile.share(1.0))].into_iter().chain(profile.steps()).chain([(largest, profile.share(largest))]);
        Series { name: name.clone(), points: ends.map(point).collect(), line: Line::Keeps }
    };
    Figure {
        title: format!("Performance profile: {what}"),
        x_label: format!("{what} / best of all, at most"),
        y_label: "share of the instances".into(),
        series: names.iter().zip(profiles).map(series).collect(),
        y_range: Some((0.0, 1.02)),
        log_x: true,
        unmarked: true,
        ..Figure::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_is_better_than_a_best_of_nothing() {
        let profiles = performance_profiles(&[vec![Some(0.0), Some(1.0), Some(0.0)], vec![None, None, None]]);
        assert_eq!(profiles.iter().map(|profile| profile.share(1e9)).collect::<Vec<_>>(), [0.5, 0.0, 0.5]);
        assert!(performance_profiles(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn shares_grow_to_what_succeeded_and_somebody_is_best(
            values in prop::collection::vec(prop::collection::vec(prop::option::of(0.1_f64..100.0), 3), 1..20),
            factors in prop::collection::vec(1.0_f64..2000.0, 2),
        ) {
            let profiles = performance_profiles(&values);
            let (low, high) = (factors[0].min(factors[1]), factors[0].max(factors[1]));
            for (at, profile) in profiles.iter().enumerate() {
                prop_assert!(profile.share(low) <= profile.share(high));
                let succeeded = values.iter().filter(|row| row[at].is_some()).count();
                prop_assert!((profile.share(1e9) - succeeded as f64 / values.len() as f64).abs() < 1e-12);
            }
            let won: f64 = profiles.iter().map(|profile| profile.share(1.0)).sum();
            let solved = values.iter().filter(|row| row.iter().any(Option::is_some)).count();
            prop_assert!(won >= solved as f64 / values.len() as f64 - 1e-12);
        }
    }
}
