//! The model of the run times of one command or of one template.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use makespan_core::{Profile, SpeedupLaw, Time};

use super::bounded::bounded;
use super::size::{SizeModel, SizedTime};
use super::speedup::Speedup;
use crate::robust::deviation;
use crate::store::RecalledRun;

/// Times by allotment and by size of the input files, learned from runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Model {
    size: SizeModel,
    /// The speed-up law. `None` if all runs had the same allotment and give no speed-up.
    pub law: Option<SpeedupLaw>,
    /// The smallest and the largest allotment with known times.
    pub known: RangeInclusive<u32>,
    pub runs: u32,
    /// Standard deviation of the ratio of measured to expected times.
    pub spread: f64,
}

impl Model {
    /// Learns from successful runs, sorted from the latest to the earliest. Uses the first `recent` runs of each
    /// allotment. Prefers runs on this machine. Among the runs on this machine, prefers runs in this folder. Returns
    /// `None` if there are no runs.
    pub fn of(rows: &[RecalledRun], recent: usize) -> Option<Self> {
        let mut runs = chosen(rows, recent);
        let mut size = SizeModel::of(&sequential(&runs, None))?;
        // Size and allotment may be correlated. So the law is fitted without the effect of the size, and the size
        // without the effect of the law.
        let mut speedup = Speedup::of(&runs, &size);
        if let Speedup::Unknown { most_often } = speedup {
            runs.retain(|run| run.processors == most_often);
        }
        size = SizeModel::of(&sequential(&runs, speedup.law()))?;
        if size.is_line() && speedup.law().is_some() {
            speedup = Speedup::of(&runs, &size);
            size = SizeModel::of(&sequential(&runs, speedup.law()))?;
        }
        let law = speedup.law();
        let fraction = |processors: u32| law.map_or(1.0, |law| law.time_fraction(processors));
        let expected = |run: &RecalledRun| size.seconds(run.inputs) * fraction(run.processors);
        let spread = deviation(runs.iter().map(|run| run.seconds / expected(run) - 1.0));
        let known = match speedup {
            Speedup::Known { ref allotments, .. } => allotments.clone(),
            Speedup::Unknown { most_often } => most_often..=most_often,
        };
        Some(Self { size, law, known, runs: runs.len() as u32, spread })
    }

    /// If this model has no speed-up, returns this model with the speed-up of `other`. Otherwise, returns this model
    /// unchanged.
    pub fn with_speedup_of(self, other: &Self) -> Self {
        let ran = *self.known.start();
        match (self.law, other.law) {
            (None, Some(law)) if other.known.contains(&ran) => {
                let size = self.size.scaled(1.0 / law.time_fraction(ran));
                Self { size, law: Some(law), known: other.known.clone(), ..self }
            }
            _ => self,
        }
    }

    /// Returns the expected time. On unknown allotments, the law predicts the time. Without a law, the result is an
    /// upper limit: no speed-up on more processors, and a perfect speed-up on fewer.
    pub fn time(&self, processors: u32, inputs: Option<u64>) -> Time {
        let fraction = match self.law {
            Some(law) => law.time_fraction(processors),
            None => (f64::from(*self.known.end()) / f64::from(processors)).max(1.0),
        };
        bounded(self.size.seconds(inputs) * fraction)
    }

    /// Returns the times on the wanted allotments that are known. If no wanted allotment is known, returns the time on
    /// the wanted allotment that is nearest to the known allotments.
    pub fn profile(&self, wanted: &RangeInclusive<u32>, inputs: Option<u64>) -> Option<Profile> {
        let (low, high) = (*wanted.start().max(self.known.start()), *wanted.end().min(self.known.end()));
        let only = if low < high {
            None
        } else if low == high {
            Some(low)
        } else if wanted.start() > self.known.end() {
            Some(*wanted.start())
        } else {
            Some(*wanted.end())
        };
        let profile = match (self.law, only) {
            (Some(law), None) => Profile::law(bounded(self.size.seconds(inputs)), law, low, high),
            (None, None) => Profile::rigid(low, self.time(low, inputs)),
            (_, Some(processors)) => Profile::rigid(processors, self.time(processors, inputs)),
        };
        profile.ok()
    }
}

/// Returns up to `recent` runs of each allotment.
fn chosen(rows: &[RecalledRun], recent: usize) -> Vec<&RecalledRun> {
    let rows = preferred(preferred(rows.iter().collect(), |row| row.here), |row| row.in_folder);
    let mut taken: BTreeMap<u32, usize> = BTreeMap::new();
    let mut take = |row: &&RecalledRun| {
        let taken = taken.entry(row.processors).or_default();
        *taken += 1;
        *taken <= recent
    };
    rows.into_iter().filter(|row| take(row)).collect()
}

/// Returns the rows for which `better` is true. If `better` is true for no row, returns all rows.
fn preferred(rows: Vec<&RecalledRun>, better: fn(&RecalledRun) -> bool) -> Vec<&RecalledRun> {
    let some: Vec<&RecalledRun> = rows.iter().copied().filter(|row| better(row)).collect();
    if some.is_empty() { rows } else { some }
}

/// Returns the times of runs on one processor: each measured time divided by the law's time fraction.
fn sequential(runs: &[&RecalledRun], law: Option<SpeedupLaw>) -> Vec<SizedTime> {
    let fraction = |processors: u32| law.map_or(1.0, |law| law.time_fraction(processors));
    runs.iter().map(|run| SizedTime { seconds: run.seconds / fraction(run.processors), inputs: run.inputs }).collect()
}
