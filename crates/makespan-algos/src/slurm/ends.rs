//! The precision with which Slurm computes when a pending job will have its nodes.
//!
//! Slurm does not test a pending job after each end of a running job. It removes the running jobs in groups, and tests
//! the pending job after each group. So the job is planned for the last end of a group. A group contains the jobs that
//! end within a window after the first end of the group. The first window is 30 s long. Each window is twice as long as
//! the window before or, with `bf_window_linear` in `SchedulerParameters` of slurm.conf, longer by a constant time.

/// Maximum number of running jobs in a group.
const JOBS_OF_A_GROUP: usize = 202;

/// The windows of the groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndWindows {
    /// Length of the first window.
    pub first: i64,
    /// Time by which each window is longer than the window before. 0 if it is twice as long.
    pub linear: i64,
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
        mut windows: EndWindows,
        is_elsewhere: Option<&dyn Fn(usize) -> bool>,
    ) -> i64 {
        let ends = &self.0[..];
        let is_there = |end: &(i64, u32)| is_elsewhere.is_none_or(|is_elsewhere| !is_elsewhere(end.1 as usize));
        let from = |place: usize| ends[place..].iter().position(is_there).map(|further| place + further);
        let mut next = 0;
        while let Some(first) = from(next) {
            let until = ends[first].0.saturating_add(windows.first);
            let is_within = |place: usize| ends.get(place).is_some_and(|end| end.0 <= until);
            let mut last = first;
            if is_elsewhere.is_none() {
                last += ends[first..].partition_point(|end| end.0 <= until).min(JOBS_OF_A_GROUP) - 1;
            } else {
                // A group ends before a job that ends after the window, on whatever nodes this job runs.
                let mut count = 1;
                while count < JOBS_OF_A_GROUP && is_within(last + 1) {
                    let Some(found) = from(last + 1) else { break };
                    (last, count) = (found, count + 1);
                }
            }
            // A job that runs longer than assumed ends immediately.
            let end = ends[last].0.max(now + 1);
            if end >= at {
                return end;
            }
            next = last + 1;
            let longer = if windows.linear == 0 { windows.first } else { windows.linear };
            windows.first = windows.first.saturating_add(longer);
        }
        at
    }
}
