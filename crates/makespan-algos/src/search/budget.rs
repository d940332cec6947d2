//! A limit on the time or on the steps of a search.

use std::time::{Duration, Instant};

use makespan_core::{Objective, Stop};

use crate::plan::Incumbent;

/// The limit on the work of a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// A time limit that includes the time for bounds. The result depends on the machine.
    Time(Duration),
    /// The number of changes of a schedule that each search may try. Limits on other work are proportional to this
    /// number. The result depends only on the seed.
    Steps(u64),
}

/// Minimum fraction of a time limit that the search gets, however much time the work before the search has used.
const AT_LEAST: f64 = 0.25;

/// Default number of searches if the budget is a number of steps. A constant, so that a seed gives the same plan on all
/// machines.
const SEARCHES: u32 = 2;

/// Number of steps of a search between two reports of its best value.
const REPORTED: u64 = 16;

impl Budget {
    /// Returns the default number of independent searches on this number of threads: one search for each thread within a
    /// time limit, and two searches of a fixed number of steps.
    pub fn searches(self, threads: u32) -> u32 {
        match self {
            Self::Time(_) => threads,
            Self::Steps(_) => SEARCHES,
        }
    }

    /// Returns the time limit, or `None` for a budget of steps.
    pub(crate) fn time(self) -> Option<Duration> {
        match self {
            Self::Time(time) => Some(time),
            Self::Steps(_) => None,
        }
    }

    /// Returns the time that remains after `spent` was used for other work, but at least a quarter of the budget. A
    /// budget of steps does not change.
    pub(crate) fn after(self, spent: Duration) -> Self {
        match self {
            Self::Time(time) => Self::Time(time.saturating_sub(spent).max(time.mul_f64(AT_LEAST))),
            Self::Steps(_) => self,
        }
    }
}

/// The progress of one search, from 0 to 1.
#[derive(Clone, Debug)]
pub(crate) struct SearchCourse {
    stop: Stop,
    limit: Limit,
    steps: u64,
    /// Receives the best values, and the objective of these values.
    watched: Option<(Incumbent, Objective)>,
}

#[derive(Clone, Copy, Debug)]
enum Limit {
    Time { begin: Instant, length: Duration },
    Steps(u64),
}

impl SearchCourse {
    /// Returns a course that begins now and ends at `end`.
    pub(crate) fn until(end: Instant, stop: &Stop) -> Self {
        let begin = Instant::now();
        Self {
            stop: stop.clone(),
            limit: Limit::Time { begin, length: end.saturating_duration_since(begin) },
            steps: 0,
            watched: None,
        }
    }

    /// Returns a course of `steps` steps.
    pub(crate) fn of(steps: u64, stop: &Stop) -> Self {
        Self { stop: stop.clone(), limit: Limit::Steps(steps), steps: 0, watched: None }
    }

    /// Reports the best values of the search to `incumbent`, as values of `objective`.
    pub(crate) fn watched(self, incumbent: &Incumbent, objective: Objective) -> Self {
        let watched = incumbent.records(objective).then(|| (incumbent.clone(), objective));
        Self { watched, ..self }
    }

    /// Reports the best value after every [`REPORTED`] steps, if the search is watched.
    pub(crate) fn report(&self, best: impl FnOnce() -> Option<f64>) {
        if let Some((incumbent, objective)) = self.watched.as_ref().filter(|_| self.steps % REPORTED == 1) {
            best().into_iter().for_each(|value| incumbent.found(*objective, value));
        }
    }

    /// Returns whether the caller may do additional work without using up the budget. Such work is possible if the
    /// course counts steps, and no stop has been requested.
    pub(crate) fn leaves_time(&self) -> bool {
        matches!(self.limit, Limit::Steps(_)) && !self.stop.is_requested()
    }

    /// Begins a step. Returns the part of the course that was completed before this step, or `None` when the course is
    /// over.
    pub(crate) fn step(&mut self) -> Option<f64> {
        let done = match self.limit {
            Limit::Time { length, .. } if length.is_zero() => return None,
            Limit::Time { begin, length } => begin.elapsed().as_secs_f64() / length.as_secs_f64(),
            Limit::Steps(steps) => self.steps as f64 / steps.max(1) as f64,
        };
        self.steps += 1;
        (done < 1.0 && !self.stop.is_requested()).then_some(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_free_only_beside_steps_and_until_it_is_stopped() {
        let stop = Stop::default();
        let timed = SearchCourse::until(Instant::now() + Duration::from_hours(1), &stop);
        let counted = SearchCourse::of(3, &stop);
        assert!(counted.leaves_time() && !timed.leaves_time());
        stop.request();
        assert!(!counted.leaves_time() && !timed.leaves_time());
    }
}
