//! The precision with which Slurm computes when a pending job will have its nodes.
//!
//! Slurm does not test a pending job after each end of a running job. It removes the running jobs in groups, and tests
//! the pending job after each group. So the job is planned for the last end of a group. All groups begin at one instant:
//! the first end, rounded up to a multiple of 30 s on the clock. A group contains the jobs that end within its window after
//! this instant, and in no shorter window. The first window is 30 s long. Each window is twice as long as the window before
//! or, with `bf_window_linear` in `SchedulerParameters` of slurm.conf, longer by a constant time.

use super::usage::RunningUsage;

/// The windows of the groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndWindows {
    /// Length of the first window.
    pub first: i64,
    /// Time by which each window is longer than the window before. 0 if it is twice as long.
    pub linear: i64,
    /// The time from the last full minute on the clock to the instant 0.
    pub second: i64,
}

/// The present window.
struct EndWindow {
    until: i64,
    length: i64,
    linear: i64,
}

impl EndWindow {
    /// Returns the first window if the first running job ends at an instant.
    fn first(windows: EndWindows, end: i64) -> Self {
        let since = end.saturating_add(windows.second).rem_euclid(windows.first);
        let until = end.saturating_add(2 * windows.first - since);
        Self { until, length: windows.first, linear: windows.linear }
    }

    /// Extends the window until it contains the instant `at`.
    fn extend(&mut self, at: i64) {
        while self.until < at {
            let more = if self.linear == 0 { self.length } else { self.linear };
            self.until = self.until.saturating_add(more);
            self.length = self.length.saturating_add(more);
        }
    }
}

/// The position of a running job in the order in which Slurm removes running jobs: its assumed end, its rank, and its
/// number.
pub(super) type EndKey = (i64, u64, u32);

/// Returns the last position of the jobs that end by an instant.
pub(super) fn all_by(instant: i64) -> EndKey {
    (instant, u64::MAX, u32::MAX)
}

impl RunningUsage {
    /// Returns the position of this job, which has the given number.
    pub(super) fn key(&self, number: usize) -> EndKey {
        (self.believed, self.rank, number as u32)
    }
}

/// The running jobs in the order of their assumed ends.
#[derive(Clone, Debug, Default)]
pub(super) struct RunningEnds(Vec<EndKey>);

impl RunningEnds {
    pub fn add(&mut self, running: &RunningUsage, number: usize) {
        let new = running.key(number);
        self.0.insert(self.0.partition_point(|other| *other < new), new);
    }

    pub fn remove(&mut self, running: &RunningUsage, number: usize) {
        if let Ok(place) = self.0.binary_search(&running.key(number)) {
            self.0.remove(place);
        }
    }

    /// Returns the groups of running jobs in the order in which Slurm removes them. Groups contain only jobs for which
    /// `is_usable` returns true. These jobs hold a node that the pending job may use.
    pub fn groups<F: Fn(usize) -> bool>(&self, windows: EndWindows, is_usable: F) -> EndGroups<'_, F> {
        EndGroups { ends: &self.0, next: 0, windows, window: None, is_usable }
    }
}

/// The groups of running jobs. For each group, the iterator returns the position of its last job. Other jobs with the same
/// end may belong to the next group.
pub(super) struct EndGroups<'a, F> {
    ends: &'a [EndKey],
    /// The position of the first job that belongs to no group yet.
    next: usize,
    windows: EndWindows,
    window: Option<EndWindow>,
    is_usable: F,
}

impl<F: Fn(usize) -> bool> Iterator for EndGroups<'_, F> {
    type Item = EndKey;

    fn next(&mut self) -> Option<EndKey> {
        let mut last = None;
        // After each job of the group, compares the end of the next job with the window, even if the next job is not
        // usable. If the next job ends after the window, the group is complete. If the next job ends within the window
        // but is not usable, the first usable job after it belongs to the group, even if this job ends after the
        // window.
        while let Some(skipped) = self.ends[self.next..].iter().position(|end| (self.is_usable)(end.2 as usize)) {
            let end = self.ends[self.next + skipped];
            self.next += skipped + 1;
            last = Some(end);
            let window = self.window.get_or_insert_with(|| EndWindow::first(self.windows, end.0));
            if let Some(&(next, ..)) = self.ends.get(self.next)
                && next > window.until
            {
                window.extend(next);
                break;
            }
        }
        last
    }
}
