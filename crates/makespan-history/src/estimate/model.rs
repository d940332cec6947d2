//! Run-time model from the runs of one command or one template.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use makespan_core::{Profile, SpeedupLaw, Time};

use super::bounded::bounded;
use super::robust::deviation;
use super::size::{Size, Sized};
use super::speedup::Speedup;
use crate::store::Recalled;

/// Run times by allotment and by size of the input files, learned from runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Model {
    size: Size,
    /// Speed-up law, or `None` if no law could be determined from the runs.
    pub law: Option<SpeedupLaw>,
    /// Range between the smallest and the largest allotment that the runs cover.
    pub known: RangeInclusive<u32>,
    pub runs: u32,
    /// Relative standard deviation of the measured run times from the expected ones.
    pub spread: f64,
}

impl Model {
    /// Learns a model from successful runs, ordered from latest to earliest. Only the latest `recent` runs of each allotment
    /// count. Runs on this machine are preferred to others, and among these, runs in this folder. Returns `None` if there are no
    /// runs.
    pub fn of(rows: &[Recalled], recent: usize) -> Option<Self> {
        let mut runs = chosen(rows, recent);
        let mut size = Size::of(&sequential(&runs, None))?;
        // Sizes and allotments can be correlated. The law is therefore fitted with the effect of the sizes removed, and the sizes
        // with the effect of the law removed.
        let mut speedup = Speedup::of(&runs, &size);
        if let Speedup::Unknown { most_often } = speedup {
            runs.retain(|run| run.processors == most_often);
        }
        size = Size::of(&sequential(&runs, speedup.law()))?;
        if size.is_line() && speedup.law().is_some() {
            speedup = Speedup::of(&runs, &size);
            size = Size::of(&sequential(&runs, speedup.law()))?;
        }
        let law = speedup.law();
        let fraction = |processors: u32| law.map_or(1.0, |law| law.time_fraction(processors));
        let expected = |run: &Recalled| size.seconds(run.inputs) * fraction(run.processors);
        let spread = deviation(runs.iter().map(|run| run.seconds / expected(run) - 1.0));
        let known = match speedup {
            Speedup::Known { ref allotments, .. } => allotments.clone(),
            Speedup::Unknown { most_often } => most_often..=most_often,
        };
        Some(Self { size, law, known, runs: runs.len() as u32, spread })
    }

    /// Adopts the speed-up law of `other` if this model has no law and `other` covers its allotment.
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

    /// Returns the expected run time. Beyond the measured allotments, the law extrapolates. Without a law, the result is the
    /// longest plausible time: no speed-up on more processors, and a linear slowdown on fewer.
    pub fn time(&self, processors: u32, inputs: Option<u64>) -> Time {
        let fraction = match self.law {
            Some(law) => law.time_fraction(processors),
            None => (f64::from(*self.known.end()) / f64::from(processors)).max(1.0),
        };
        bounded(self.size.seconds(inputs) * fraction)
    }

    /// Returns a profile of the measured allotments within `wanted`. If there are none, the profile has the nearest allotment
    /// within `wanted`.
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

/// Returns the runs that the model uses.
fn chosen(rows: &[Recalled], recent: usize) -> Vec<&Recalled> {
    let rows = preferred(preferred(rows.iter().collect(), |row| row.here), |row| row.in_folder);
    let mut taken: BTreeMap<u32, usize> = BTreeMap::new();
    let mut take = |row: &&Recalled| {
        let taken = taken.entry(row.processors).or_default();
        *taken += 1;
        *taken <= recent
    };
    rows.into_iter().filter(|row| take(row)).collect()
}

/// Returns the rows that satisfy `better`, or all rows if none does.
fn preferred(rows: Vec<&Recalled>, better: fn(&Recalled) -> bool) -> Vec<&Recalled> {
    let some: Vec<&Recalled> = rows.iter().copied().filter(|row| better(row)).collect();
    if some.is_empty() { rows } else { some }
}

/// Converts runs to their equivalent run times on one processor.
fn sequential(runs: &[&Recalled], law: Option<SpeedupLaw>) -> Vec<Sized> {
    let fraction = |processors: u32| law.map_or(1.0, |law| law.time_fraction(processors));
    runs.iter().map(|run| Sized { seconds: run.seconds / fraction(run.processors), inputs: run.inputs }).collect()
}
