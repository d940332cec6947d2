//! Where data are.

use crate::model::{Dependence, Instance, JobId, ProcSet, Time};
use crate::online::View;

/// When and where the jobs ended that others wait for. Data stay where they were made, and travel from there as soon as
/// they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ended<'a> {
    /// For each job; empty where no job waits for another.
    pub(crate) runs: &'a [Option<(Time, ProcSet)>],
    /// Whether data are at hand everywhere at once.
    pub(crate) at_hand: bool,
}

impl<'a> Ended<'a> {
    /// For each job of an instance when and where it ended with success, if it did.
    pub fn new(runs: &'a [Option<(Time, ProcSet)>]) -> Self {
        Self { runs, at_hand: false }
    }

    /// When and where a job ended with success; `None` when it did not, or nothing waits for any job.
    pub fn run(&self, job: JobId) -> Option<(Time, &'a ProcSet)> {
        self.runs.get(job.index())?.as_ref().map(|(end, processors)| (*end, processors))
    }

    /// When what one job is waited for has arrived on these processors: its end and the slowest transfer from any of its
    /// nodes to any of theirs. `None` when it has not ended.
    pub fn arrival(&self, instance: &Instance, dependence: &Dependence, processors: &ProcSet) -> Option<Time> {
        let (end, from) = self.run(dependence.job)?;
        if self.at_hand {
            return Some(end);
        }
        Some(end + instance.platform().transfer_between(from, processors, dependence.load))
    }
}

impl View<'_> {
    /// When all data of a job have arrived on these processors, which may be in the past: it must not start there before
    /// (a policy asks to be woken then). Zero for a job that waits for none; `None` when something that it waits for has
    /// not ended with success. O(dependences * nodes).
    pub fn arrival(&self, job: JobId, processors: &ProcSet) -> Option<Time> {
        let Some(precedence) = self.instance.precedence() else { return Some(Time::ZERO) };
        let mut latest = Time::ZERO;
        for dependence in precedence.incoming(job) {
            latest = latest.max(self.ended.arrival(self.instance, dependence, processors)?);
        }
        Some(latest)
    }
}
