//! Several searches in parallel.

use std::panic::resume_unwind;
use std::time::Instant;

use makespan_bounds::Clock;
use makespan_core::Stop;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{Budget, SearchCourse};

/// Independent searches, each on its own thread, that share a budget.
#[derive(Clone, Debug)]
pub(crate) struct Portfolio {
    pub(crate) budget: Budget,
    pub(crate) searches: u32,
    pub(crate) seed: u64,
    pub(crate) stop: Stop,
    /// The instant at which the time of the budget began.
    pub(crate) begin: Instant,
}

impl Portfolio {
    /// Returns the result of each search, by its number from 0. The first search runs on the caller's thread.
    pub(crate) fn each<T: Send>(&self, search: impl Fn(u32) -> T + Sync) -> Vec<T> {
        std::thread::scope(|scope| {
            let search = &search;
            let others: Vec<_> = (1..self.searches).map(|index| scope.spawn(move || search(index))).collect();
            let own = search(0);
            let others = others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            std::iter::once(own).chain(others).collect()
        })
    }

    /// Returns a separate stream of random numbers for each number.
    pub(crate) fn random(&self, stream: u32) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(u64::from(stream));
        random
    }

    /// Returns a course that ends when this share of the time is over. If the budget counts steps, `steps` computes the
    /// number of steps of the course from the total number.
    pub(crate) fn course(&self, share: f64, steps: impl FnOnce(u64) -> u64) -> SearchCourse {
        match self.budget {
            Budget::Time(_) => SearchCourse::until(self.at(share).unwrap_or(self.begin), &self.stop),
            Budget::Steps(all) => SearchCourse::of(steps(all), &self.stop),
        }
    }

    /// Returns a clock that signals when this share of the time is over. If steps are counted, it never signals.
    pub(crate) fn clock(&self, share: f64) -> Clock {
        self.at(share).map_or(Clock::ENDLESS, |end| Clock::until(end, &self.stop))
    }

    /// Returns the instant at which this share of the time is over, if the budget is a time.
    pub(crate) fn at(&self, share: f64) -> Option<Instant> {
        match self.budget {
            Budget::Time(time) => Some(self.begin + time.mul_f64(share)),
            Budget::Steps(_) => None,
        }
    }
}
