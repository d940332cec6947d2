//! Several searches in parallel.

use std::iter;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use makespan_bounds::Clock;
use makespan_core::Stop;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{Budget, SearchCourse};
use crate::plan::Incumbent;

/// Independent searches with equal budgets.
#[derive(Clone, Debug)]
pub(crate) struct Portfolio {
    pub(crate) budget: Budget,
    pub(crate) searches: u32,
    /// Maximum number of threads if the budget is a number of steps. Within a time limit, each search has its own
    /// thread, because all searches must run at the same time.
    pub(crate) threads: u32,
    pub(crate) seed: u64,
    pub(crate) stop: Stop,
    pub(crate) incumbent: Incumbent,
    /// The instant at which a time budget begins.
    pub(crate) begin: Instant,
}

impl Portfolio {
    /// Runs all searches and returns their results, by index. The first search runs on the caller's thread. The number
    /// of threads does not change the results of searches that count steps.
    pub(crate) fn each<T: Send>(&self, search: impl Fn(u32) -> T + Sync) -> Vec<T> {
        let threads = match self.budget {
            Budget::Time(_) => self.searches,
            Budget::Steps(_) => self.threads.min(self.searches),
        };
        let next = AtomicU32::new(0);
        let run = || {
            let indices = iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
            let found: Vec<(u32, T)> =
                indices.take_while(|&at| at < self.searches).map(|at| (at, search(at))).collect();
            found
        };
        let mut found = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
            let own = run();
            let others = others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            iter::once(own).chain(others).flatten().collect::<Vec<_>>()
        });
        found.sort_by_key(|(index, _)| *index);
        found.into_iter().map(|(_, result)| result).collect()
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
