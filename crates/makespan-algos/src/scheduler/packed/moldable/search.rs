//! Annealing of lists. At the beginning, every scheme is probed for a short time.

use rand_chacha::ChaCha8Rng;

use super::MoldableList;
use crate::kernel::moldable::{List, ListSchedule, ListScheme};
use crate::search::{Neighbourhood, heat};

/// The fraction of the search after which the probing of the schemes ends.
const PROBED: f64 = 0.2;
/// The initial temperature for `MANY` tasks, as a fraction of the mean value of a group. A group contains all tasks, or
/// the tasks of one job. The temperature falls linearly to zero. For more tasks, the initial temperature is lower,
/// because a search of more tasks accepts more changes, and many small losses would ruin a schedule. For fewer tasks,
/// the initial temperature is higher, because all changes are soon tried.
const HOT: f64 = 1e-3;
/// Number of tasks for which `HOT` is the initial temperature.
const MANY: f64 = 100.0;
const EXPONENT: f64 = 1.5;
/// Maximum initial temperature, as a fraction of the mean value of a group.
const HOTTEST: f64 = 0.01;

/// A search, with its current list and the best list.
pub(super) struct Annealing<'p> {
    pub(super) present: ListSchedule<'p>,
    pub(super) random: ChaCha8Rng,
    scheme: ListScheme,
    best: (f64, List),
    hot: f64,
}

impl<'p> Annealing<'p> {
    pub(super) fn new(present: ListSchedule<'p>, scheme: ListScheme, random: ChaCha8Rng) -> Self {
        let tasks = present.problem().tasks().max(1) as f64;
        let hot = (HOT * (MANY / tasks).powf(EXPONENT)).min(HOTTEST) / present.measure().groups().max(1) as f64;
        let best = (present.value(), present.list().clone());
        Self { present, random, scheme, best, hot }
    }

    fn step(&mut self, done: f64) {
        self.change();
        if !self.present.is_changed() {
            return;
        }
        let limit = self.present.value() + heat(self.hot * (1.0 - done) * self.best.0, &mut self.random);
        let Some(value) = self.present.evaluate(limit) else {
            self.present.take_back();
            return;
        };
        if value < self.best.0 {
            self.best.0 = value;
            self.best.1.clone_from(self.present.list());
        }
        self.present.accept();
    }

    fn into_best(self) -> (f64, MoldableList) {
        let is_reversed = self.present.problem().is_reversed();
        (self.best.0, MoldableList { scheme: self.scheme, is_reversed, list: self.best.1 })
    }
}

/// A search that first probes all schemes one after another, and then continues with the best scheme.
pub(super) struct Probing<'p> {
    searches: Vec<Annealing<'p>>,
    /// The index of the search that continues. `None` until all schemes have been probed.
    chosen: Option<usize>,
    floor: f64,
}

impl<'p> Probing<'p> {
    pub(super) fn new(searches: Vec<Annealing<'p>>, floor: f64) -> Self {
        let chosen = (searches.len() == 1).then_some(0);
        Self { searches, chosen, floor }
    }

    fn best(&self) -> usize {
        let values = self.searches.iter().map(|search| search.best.0).enumerate();
        values.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(at, _)| at)
    }

    pub(super) fn into_best(mut self) -> (f64, MoldableList) {
        let best = self.best();
        self.searches.swap_remove(best).into_best()
    }
}

impl Neighbourhood for Probing<'_> {
    fn is_optimal(&self) -> bool {
        let few = |search: &Annealing<'_>| search.present.problem().tasks() < 1;
        self.searches.iter().any(|search| search.best.0 <= self.floor || few(search))
    }

    fn best_value(&self) -> Option<f64> {
        Some(self.searches[self.best()].best.0)
    }

    fn step(&mut self, done: f64) {
        let at = match self.chosen {
            Some(at) => at,
            None if done < PROBED => (done / PROBED * self.searches.len() as f64) as usize,
            None => *self.chosen.insert(self.best()),
        };
        self.searches[at].step(done);
    }
}
