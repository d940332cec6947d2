//! Measurements summed up by setting, family and number of jobs.

use std::collections::BTreeMap;

use makespan_generate::Family;

use super::Measurement;
use crate::campaign::Setting;
use crate::statistics::mean;

/// The plans of one family and number of jobs in one setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Of what and in what time.
    pub setting: Setting,
    /// Family of the instances.
    pub family: Family,
    /// How many jobs they have.
    pub jobs: usize,
    /// How many plans.
    pub runs: usize,
    /// Value over bound: the smallest of one plan.
    pub min: f64,
    /// Mean over the plans.
    pub mean: f64,
    /// The largest of one plan.
    pub max: f64,
    /// DEMT's mean over the same bounds.
    pub demt: f64,
    /// Mean wall time.
    pub seconds: f64,
    /// Longest wall time.
    pub longest: f64,
}

/// By setting, family and number of jobs.
pub(super) fn points(measurements: &[Measurement]) -> Vec<Point> {
    let mut groups: BTreeMap<_, Vec<&Measurement>> = BTreeMap::new();
    for measurement in measurements {
        let key = measurement.key;
        groups.entry((key.setting, key.instance.family, key.instance.jobs)).or_default().push(measurement);
    }
    let each = groups.into_iter();
    each.filter_map(|((setting, family, jobs), group)| point(setting, family, jobs, &group)).collect()
}

fn point(setting: Setting, family: Family, jobs: usize, group: &[&Measurement]) -> Option<Point> {
    let of = |figure: fn(&Measurement) -> f64| group.iter().map(|one| figure(one)).collect::<Vec<f64>>();
    let (ratios, seconds) = (of(Measurement::ratio), of(|one| one.seconds));
    Some(Point {
        setting,
        family,
        jobs,
        runs: group.len(),
        min: ratios.iter().copied().fold(f64::INFINITY, f64::min),
        mean: mean(&ratios)?,
        max: ratios.iter().copied().fold(0.0, f64::max),
        demt: mean(&of(Measurement::demt_ratio))?,
        seconds: mean(&seconds)?,
        longest: seconds.iter().copied().fold(0.0, f64::max),
    })
}
