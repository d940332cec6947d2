//! What waits, what runs, and what has ended.

use makespan_core::{Cluster, Instance, JobId, Outcome, Run, Time, View};

use crate::Progress;

/// The state of a run as its policy and its observer see it.
#[derive(Debug)]
pub(crate) struct State<'a> {
    pub instance: &'a Instance,
    pub cluster: Cluster<'a>,
    pub runs: Vec<Run>,
    /// Jobs to be released, the latest first.
    pub unreleased: Vec<JobId>,
}

impl<'a> State<'a> {
    /// A state in which these jobs are still to be released, and these runs have ended.
    pub fn new(instance: &'a Instance, mut open: Vec<JobId>, runs: Vec<Run>) -> Self {
        open.sort_unstable_by_key(|&id| std::cmp::Reverse((instance.job(id).release, id)));
        // Commands share their files.
        let mut cluster = Cluster::new(instance).with_data_at_hand();
        for run in runs.iter().filter(|run| run.outcome == Outcome::Succeeded) {
            cluster.succeed(run.job, run.end, &run.processors);
        }
        Self { instance, cluster, runs, unreleased: open }
    }

    pub fn progress(&self, now: Time) -> Progress<'_> {
        let view = View { now, ..self.cluster.view() };
        Progress { view, runs: &self.runs, unreleased: self.unreleased.len() }
    }

    pub fn name(&self, job: JobId) -> &'a str {
        self.cluster.name(job)
    }

    /// The next job whose release date has come.
    pub fn release(&mut self, now: Time) -> Option<JobId> {
        self.unreleased.pop_if(|id| self.instance.job(*id).release <= now)
    }

    /// When the next job is released.
    pub fn next_release(&self) -> Option<Time> {
        self.unreleased.last().map(|&id| self.instance.job(id).release)
    }
}
