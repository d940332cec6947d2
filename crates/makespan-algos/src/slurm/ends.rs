//! The precision with which Slurm computes when a pending job will have its nodes.
//!
//! Slurm does not test a pending job after each end of a running job. It removes the running jobs in groups, and tests
//! the pending job after each group. So the job is planned for the last end of a group. All groups begin at one instant:
//! the first end, rounded up to a multiple of 30 s on the clock. A group contains the jobs that end within its window after
//! this instant, and in no shorter window. The first window is 30 s long. Each window is twice as long as the window before
//! or, with `bf_window_linear` in `SchedulerParameters` of slurm.conf, longer by a constant time.

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

/// The assumed ends of running jobs in ascending order, with the numbers of the jobs.
#[derive(Clone, Debug, Default)]
pub(super) struct RunningEnds(Vec<(i64, u32)>);

impl RunningEnds {
    pub fn add(&mut self, end: i64, number: usize) {
        let new = (end, number as u32);
        self.0.insert(self.0.partition_point(|other| *other < new), new);
    }

    pub fn remove(&mut self, end: i64, number: usize) {
        if let Ok(place) = self.0.binary_search(&(end, number as u32)) {
            self.0.remove(place);
        }
    }

    /// Returns the groups of running jobs in the order in which Slurm removes them. Only jobs for which `is_usable`
    /// returns true belong to a group: the jobs that hold a node that the pending job may use. If a job still runs
    /// after its assumed end, it is assumed to end immediately after `now`.
    pub fn groups<F: Fn(usize) -> bool>(&self, now: i64, windows: EndWindows, is_usable: F) -> EndGroups<'_, F> {
        EndGroups { ends: &self.0, next: 0, now, windows, window: None, is_usable }
    }
}

/// The groups of running jobs. For each group, the iterator returns the end of its last job.
pub(super) struct EndGroups<'a, F> {
    ends: &'a [(i64, u32)],
    /// The position of the first job that belongs to no group yet.
    next: usize,
    now: i64,
    windows: EndWindows,
    window: Option<EndWindow>,
    is_usable: F,
}

impl<F: Fn(usize) -> bool> Iterator for EndGroups<'_, F> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        let mut last = None;
        // After each job of the group, compares the end of the next job with the window, even if the next job is not
        // usable. If the next job ends after the window, the group is complete. If the next job ends within the window
        // but is not usable, the first usable job after it belongs to the group, even if this job ends after the
        // window.
        while let Some(skipped) = self.ends[self.next..].iter().position(|end| (self.is_usable)(end.1 as usize)) {
            let (end, _) = self.ends[self.next + skipped];
            self.next += skipped + 1;
            last = Some(end);
            let window = self.window.get_or_insert_with(|| EndWindow::first(self.windows, end));
            if let Some(&(next, _)) = self.ends.get(self.next)
                && next > window.until
            {
                window.extend(next);
                break;
            }
        }
        last.map(|end| end.max(self.now + 1))
    }
}
