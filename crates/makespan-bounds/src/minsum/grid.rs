//! The instants that divide time into intervals.

use makespan_core::{Area, Instance, SimpleJob, Time};

use crate::dual;

/// Positive instants `b_1 .. b_J` in ascending order. The instants divide time into intervals. The first interval
/// begins at zero, and the last interval has no end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    ends: Vec<Time>,
}

/// Maximum product of the number of intervals and the number of jobs in a fine grid. At this maximum, the search takes
/// some seconds and a gigabyte of memory.
const MAX_CELLS: usize = 6_000_000;
/// Maximum number of intervals of a fine grid.
const MAX_INTERVALS: usize = 32;

impl Grid {
    /// Returns the instants of the interval programme of Dutot et al., counted from the first release:
    /// `t_j = C / 2^(K - j)` for j = 0 .. K + 1. C is the makespan that the dual approximation guesses. K is the
    /// largest number for which `t_0` is at least the shortest run time of all jobs and allotments.
    pub fn doubling(instance: &Instance) -> Self {
        Self::geometric(instance, 1)
    }

    /// Returns a finer grid than [`Grid::doubling`]. Each interval of [`Grid::doubling`] is divided into the same
    /// number of parts. The number of parts is as large as possible, but there are at most 32 instants, and the number
    /// of intervals times the number of jobs is limited.
    pub fn fine(instance: &Instance) -> Self {
        let coarse = Self::doubling(instance).ends.len().max(1);
        let cells = MAX_CELLS / instance.jobs().len().max(1);
        let most = MAX_INTERVALS.min(cells);
        Self::geometric(instance, (most / coarse).max(1) as u32)
    }

    /// Returns the instants `b_1 .. b_J`.
    pub fn ends(&self) -> &[Time] {
        &self.ends
    }

    fn geometric(instance: &Instance, parts: u32) -> Self {
        // Ignore best-effort bags, because they have no weight. Their times would make the grid coarser for other jobs.
        let counting: Vec<SimpleJob<'_>> = instance.simple_jobs().filter(|job| !job.is_best_effort()).collect();
        let profiles = counting.iter().map(SimpleJob::profile);
        let Some(shortest) = profiles.clone().map(makespan_core::Profile::shortest).min() else {
            return Self { ends: vec![Time::TICK] };
        };
        let guess =
            dual::search(profiles, instance.processors()).guess.max(mean_load(&counting, instance.processors()));
        let origin = instance.first_release();
        let last_release = counting.iter().map(|job| job.release).max().unwrap_or(origin);
        let horizon = guess.ticks().max((last_release - origin).ticks());
        let doublings = (horizon / shortest.ticks()).max(1).ilog2();
        // The instants of Dutot et al. are horizon * 2, horizon, horizon / 2 and so on. Between two of these instants,
        // other instants are inserted such that the ratio of consecutive instants is constant.
        let steps = (doublings + 1) * parts;
        let instant = |step: u32| {
            let exponent = f64::from(step) / f64::from(parts) - f64::from(doublings);
            if step.is_multiple_of(parts) {
                // This is an instant of Dutot et al.: the horizon multiplied or divided by a power of two. Integers
                // avoid rounding errors.
                let shift = step / parts;
                if shift > doublings { horizon.saturating_mul(2) } else { horizon >> (doublings - shift) }
            } else {
                (horizon as f64 * exponent.exp2()) as i64
            }
        };
        let mut ends: Vec<Time> = (0..=steps).map(|step| origin + Time::from_ticks(instant(step).max(1))).collect();
        ends.dedup();
        Self { ends }
    }
}

/// Returns the work of all jobs divided by the number of processors if some job is a bag, and zero otherwise. The guess
/// must not be smaller than this value, because the dual search considers only one task of each bag.
fn mean_load(jobs: &[SimpleJob<'_>], processors: u32) -> Time {
    if !jobs.iter().any(|job| job.is_bag()) {
        return Time::ZERO;
    }
    let work = |job: &SimpleJob<'_>| Some(job.profile().least_work(Time::MAX)?.saturating_mul(Area::from(job.tasks())));
    let load = jobs.iter().filter_map(work).fold(0, Area::saturating_add) / Area::from(processors);
    Time::from_ticks(i64::try_from(load).unwrap_or(i64::MAX / 4))
}
