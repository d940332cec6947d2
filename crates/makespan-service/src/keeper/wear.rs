//! Replaces a long run of the engine by a new run, because a run keeps in memory all jobs that it ever received.

use std::time::{Duration, Instant};

use makespan_core::{Running, View};

/// A run is replaced only if its running tasks are expected to end within this time, in seconds per thousand jobs of
/// the run. No other job starts during this time.
const PAUSE: f64 = 1.0;
/// Factor for the maximum wait for the running tasks. The maximum wait is 5 s plus this factor times the maximum
/// expected remaining time of the running tasks.
const PATIENCE: f64 = 3.0;
/// Time until the next attempt, if the running tasks did not end in time.
const AGAIN: Duration = Duration::from_mins(30);

/// Decides when a long run is replaced, and how long to wait for its running tasks.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunReplacement {
    long: usize,
    /// The earliest instant of the next attempt.
    from: Instant,
    /// The end of the wait for running tasks, if the wait has begun.
    until: Option<Instant>,
}

impl RunReplacement {
    /// Creates a rule that replaces runs with at least `long` jobs.
    pub fn new(long: usize) -> Self {
        Self { long, from: Instant::now(), until: None }
    }

    /// Returns true if a run with `jobs` jobs must be replaced now. `open` returns the number of unfinished jobs of
    /// the service.
    pub fn is_due(&self, jobs: usize, view: &View<'_>, open: impl FnOnce() -> Option<u64>) -> bool {
        if jobs < self.long || Instant::now() < self.from {
            return false;
        }
        let left = |run: &Running| run.expected_end(view.instance, view.now).seconds() - view.now.seconds();
        let pause = view.running.iter().map(left).fold(0.0, f64::max);
        pause <= limit(jobs) && open().is_some_and(|open| open.saturating_mul(4) < jobs as u64)
    }

    /// Returns a copy of this rule in which the wait for the running tasks begins now. `jobs` is the number of jobs of
    /// the run.
    pub fn waits(&self, jobs: usize) -> Self {
        Self { until: Some(Instant::now() + Duration::from_secs_f64(5.0 + PATIENCE * limit(jobs))), ..*self }
    }

    /// Returns true if the maximum wait has passed.
    pub fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() > until)
    }

    /// Postpones the next attempt, because tasks have run longer than expected.
    pub fn put_off(&mut self) {
        self.from = Instant::now() + AGAIN;
    }
}

fn limit(jobs: usize) -> f64 {
    PAUSE * jobs as f64 / 1000.0
}
