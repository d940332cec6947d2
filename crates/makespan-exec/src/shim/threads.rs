//! Counts the threads of a job that run or are ready to run. The mean is the number of cores that the job could use,
//! even if other jobs use the same cores.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::process::{children, running_threads};

/// Time from the start of a job to the first count. The time between counts doubles up to `LONGEST`.
const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(5);

/// Minimum number of counts for a mean.
const ENOUGH: u32 = 3;

/// The threads of a job, counted at growing intervals.
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// The instant of the next count, if the job has started.
    due: Option<Instant>,
    /// Time between the last and the next count.
    pause: Duration,
    counts: u32,
    /// Sum of counted threads times seconds.
    area: f64,
    seconds: f64,
}

impl Threads {
    /// Starts to count.
    pub fn started(&mut self) {
        *self = Self { due: Some(Instant::now() + FIRST), pause: FIRST, ..Self::default() };
    }

    /// Returns the time until the next count.
    pub fn pause(&self) -> Option<Duration> {
        self.due.map(|due| due.saturating_duration_since(Instant::now()))
    }

    /// Counts the running threads of all descendants of this process, if a count is due.
    pub fn count_if_due(&mut self) {
        let now = Instant::now();
        if self.due.is_none_or(|due| now < due) {
            return;
        }
        let own = BTreeSet::from([std::process::id() as i32]);
        let threads: u32 = descendants(own).into_iter().map(running_threads).sum();
        self.counts += 1;
        self.area += f64::from(threads) * self.pause.as_secs_f64();
        self.seconds += self.pause.as_secs_f64();
        self.pause = (self.pause * 2).min(LONGEST);
        self.due = Some(now + self.pause);
    }

    /// Returns the mean over time, rounded.
    pub fn mean(&self) -> Option<u32> {
        (self.counts >= ENOUGH).then(|| (self.area / self.seconds).round() as u32)
    }
}

/// Returns the descendants of these processes.
fn descendants(roots: BTreeSet<i32>) -> BTreeSet<i32> {
    let mut open: Vec<i32> = roots.into_iter().collect();
    let mut found = BTreeSet::new();
    while let Some(pid) = open.pop() {
        open.extend(children(pid).into_iter().filter(|child| found.insert(*child)));
    }
    found
}
