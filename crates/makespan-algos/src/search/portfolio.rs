//! Several searches in parallel.

use std::panic::resume_unwind;
use std::time::Instant;

use makespan_bounds::Clock;
use makespan_core::Stop;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{Budget, SearchCourse};

/// Independent searches that share a budget, each on its own thread.
#[derive(Clone, Debug)]
pub(crate) struct Portfolio {
    pub(crate) budget: Budget,
    pub(crate) searches: u32,
    pub(crate) seed: u64,
    pub(crate) stop: Stop,
    /// The instant at which a time budget begins.
    pub(crate) begin: Instant,
}

impl Portfolio {
    /// Runs all searches and returns their results, by index. The first search runs on the caller's thread.
    pub(crate) fn each<T: Send>(&self, search: impl Fn(u32) -> T + Sync) -> Vec<T> {
        std::thread::scope(|scope| {
            let search = &search;
            let others: Vec<_> = (1..self.searches).map(|index| scope.spawn(move || search(index))).collect();
            let own = search(0);
            let others = others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            std::iter::once(own).chain(others).collect()
        })
    }

    /// Returns the stream of random numbers with the index `stream`. Different streams are independent.
    pub(crate) fn random(&self, stream: u32) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(u64::from(stream));
        random
    }

    /// Returns a course that ends when the fraction `share` of the time budget has elapsed. For a budget of steps,
    /// `steps` computes the length of the course from the total number of steps.
    pub(crate) fn course(&self, share: f64, steps: impl FnOnce(u64) -> u64) -> SearchCourse {
        match self.budget {
            Budget::Time(_) => SearchCourse::until(self.at(share).unwrap_or(self.begin), &self.stop),
            Budget::Steps(all) => SearchCourse::of(steps(all), &self.stop),
        }
    }

    /// Returns a clock that signals when the fraction `share` of the time budget has elapsed. For a budget of steps,
    /// the clock never signals.
    pub(crate) fn clock(&self, share: f64) -> Clock {
        self.at(share).map_or(Clock::ENDLESS, |end| Clock::until(end, &self.stop))
    }

    /// Returns the instant at which the fraction `share` of the time budget has elapsed, or `None` for a budget of
    /// steps.
    pub(crate) fn at(&self, share: f64) -> Option<Instant> {
        match self.budget {
            Budget::Time(time) => Some(self.begin + time.mul_f64(share)),
            Budget::Steps(_) => None,
        }
    }
}
