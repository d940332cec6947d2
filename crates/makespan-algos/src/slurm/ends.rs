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

    /// Changes to the first window that contains an instant.
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

    /// Returns the instant for which Slurm plans a pending job if all running jobs that end until the instant `at` must
    /// end before. This is the last end of the group that contains `at`. Jobs for which `is_elsewhere` returns true hold
    /// no node that the pending job may use. `None` stands for a function that always returns false.
    pub fn end_of_group(
        &self,
        (at, now): (i64, i64),
        windows: EndWindows,
        is_elsewhere: Option<&dyn Fn(usize) -> bool>,
    ) -> i64 {
        let ends = &self.0[..];
        let is_there = |end: &(i64, u32)| is_elsewhere.is_none_or(|is_elsewhere| !is_elsewhere(end.1 as usize));
        let from = |place: usize| ends[place..].iter().position(is_there).map(|further| place + further);
        // A job that runs longer than assumed ends immediately.
        let ending = |place: usize| ends[place].0.max(now + 1);
        let Some(first) = from(0) else { return at };
        let mut window = EndWindow::first(windows, ends[first].0);
        if is_elsewhere.is_none() {
            if at > now + 1 {
                window.extend(at);
            }
            return ending(ends.partition_point(|end| end.0 <= window.until) - 1).max(at);
        }
        let mut last = first;
        loop {
            // A group ends before a job that ends after the window, on whatever nodes this job runs. If the next job runs
            // elsewhere and ends within the window, the job after it belongs to the group without any test.
            while ends.get(last + 1).is_some_and(|end| end.0 <= window.until) {
                let Some(found) = from(last + 1) else { return ending(last).max(at) };
                last = found;
            }
            if ending(last) >= at {
                return ending(last);
            }
            let Some(next) = ends.get(last + 1) else { return at };
            window.extend(next.0);
            let Some(found) = from(last + 1) else { return at };
            last = found;
        }
    }
}
