//! The periods in which jobs may run if processors are unavailable at times. The periods depend on the number of
//! processors of the job.

use makespan_core::{Availability, Time};

use super::allotments::PricedAllotment;

/// For each level, the periods in which at least this number of processors is available. A level is a number of
/// processors that is available at some time.
///
/// The available processors may change within a period. So a period may admit a job for which no fixed set of
/// processors is available. For this reason, the search is inexact, but the check of the bound is exact.
pub(super) struct LevelPeriods {
    levels: Vec<u32>,
    /// For each level, the beginning and the end of each period, in ascending order.
    openings: Vec<Vec<(f64, f64)>>,
}

impl LevelPeriods {
    /// Returns, for each level L, the periods in which at least L processors are available. Returns `None` if all
    /// processors are always available.
    pub(super) fn of(availability: &Availability) -> Option<Self> {
        if availability.is_always_open() {
            return None;
        }
        let levels = availability.levels(Time::ZERO);
        let ticks = |time: Time| if time == Time::MAX { f64::INFINITY } else { time.ticks() as f64 };
        let openings = |&level: &u32| {
            availability.openings(level).into_iter().map(|(from, until)| (ticks(from), ticks(until))).collect()
        };
        Some(Self { openings: levels.iter().map(openings).collect(), levels })
    }

    /// Returns the periods in which at least `processors` processors are available. A level for this number exists,
    /// because every job can run.
    pub(super) fn of_processors(&self, processors: f64) -> &[(f64, f64)] {
        let at = self.levels.partition_point(|&level| f64::from(level) < processors);
        &self.openings[at.min(self.levels.len() - 1)]
    }

    /// Returns true if at least `processors` processors are available from `start` to `end`.
    pub(super) fn allow(&self, processors: f64, start: f64, end: f64) -> bool {
        let openings = self.of_processors(processors);
        let after = openings.partition_point(|opening| opening.0 <= start);
        after > 0 && end <= openings[after - 1].1
    }

    /// Returns the first instant after `instant` at which a period begins and a job with the allotment `shape` can
    /// start.
    pub(super) fn opening_after(&self, instant: f64, shape: PricedAllotment) -> Option<f64> {
        let openings = self.of_processors(shape.processors);
        let after = openings.partition_point(|opening| opening.0 <= instant);
        openings[after..].iter().find(|opening| opening.0 + shape.time <= opening.1).map(|opening| opening.0)
    }
}
