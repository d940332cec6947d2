//! Simulated annealing.
//!
//! Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by simulated annealing", Science 220, 1983,
//! DOI 10.1126/science.220.4598.671.

use rand::{Rng, RngExt};

use super::SearchCourse;

/// A search that changes a current solution and keeps the best solution found.
pub(crate) trait Neighbourhood {
    /// Returns whether the best solution is proved to be optimal.
    fn is_optimal(&self) -> bool;

    /// Returns the value of the best solution in the unit of the objective. Returns `None` if the search minimises another
    /// quantity.
    fn best_value(&self) -> Option<f64> {
        None
    }

    /// Tries one or several changes of the current solution. `done` is the completed part of the course, from 0 to 1.
    /// The temperature falls with `done`.
    fn step(&mut self, done: f64);

    /// Returns whether the search ends early and leaves the remaining time to other searches.
    fn is_over(&self, _done: f64) -> bool {
        false
    }
}

/// Tries changes until the course is over or the best solution is optimal.
pub(crate) fn anneal(search: &mut impl Neighbourhood, course: &mut SearchCourse) {
    while let Some(done) = course.step() {
        if search.is_optimal() || search.is_over(done) {
            return;
        }
        search.step(done);
        course.report(|| search.best_value());
    }
}

/// A temperature that falls `cycles` times from `hottest` to `coldest`. `coldest` is a fraction of `hottest`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cooling {
    pub(crate) hottest: f64,
    pub(crate) coldest: f64,
    pub(crate) cycles: f64,
}

impl Cooling {
    /// Returns the temperature after the part `done` of the course.
    pub(crate) fn at(&self, done: f64) -> f64 {
        let part = if self.cycles > 1.0 { (done * self.cycles).fract() } else { done };
        self.hottest * self.coldest.powf(part)
    }
}

/// Draws a limit on the increase of the objective. A change is accepted if its increase is at most this limit (the
/// Metropolis rule). The random number is drawn before the change is evaluated, so that the evaluation of a bad change
/// may end early.
pub(crate) fn heat(temperature: f64, random: &mut impl Rng) -> f64 {
    -temperature * (1.0 - random.random::<f64>()).ln()
}
