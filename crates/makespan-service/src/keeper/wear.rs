//! A run of the engine gives way to a new one when it has become long: it keeps all that it was ever given in memory.

use std::time::{Duration, Instant};

use makespan_core::{Running, View};

/// How long the jobs that run may be expected to go on, for each thousand jobs of the run: meanwhile nothing else starts.
const PAUSE: f64 = 1.0;
/// How many times as long they are waited for.
const PATIENCE: f64 = 3.0;
/// Between two attempts, where what runs did not end.
const AGAIN: Duration = Duration::from_mins(30);

/// When a run is long, and when it has given way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wear {
    long: usize,
    /// Not before.
    from: Instant,
    /// Until when what runs is waited for.
    until: Option<Instant>,
}

impl Wear {
    /// Runs are long from so many jobs on.
    pub fn new(long: usize) -> Self {
        Self { long, from: Instant::now(), until: None }
    }

    /// Whether a run of so many jobs is to give way now; `open` tells how many of them have not ended.
    pub fn is_due(&self, jobs: usize, view: &View<'_>, open: impl FnOnce() -> Option<u64>) -> bool {
        if jobs < self.long || Instant::now() < self.from {
            return false;
        }
        let left = |run: &Running| run.expected_end(view.instance, view.now).seconds() - view.now.seconds();
        let pause = view.running.iter().map(left).fold(0.0, f64::max);
        pause <= limit(jobs) && open().is_some_and(|open| open.saturating_mul(4) < jobs as u64)
    }

    /// What runs is waited for from now on.
    pub fn waits(&self, jobs: usize) -> Self {
        Self { until: Some(Instant::now() + Duration::from_secs_f64(5.0 + PATIENCE * limit(jobs))), ..*self }
    }

    /// Whether it was waited for long enough.
    pub fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() > until)
    }

    /// Something runs for longer than was expected: another attempt is made later.
    pub fn put_off(&mut self) {
        self.from = Instant::now() + AGAIN;
    }
}

fn limit(jobs: usize) -> f64 {
    PAUSE * jobs as f64 / 1000.0
}
