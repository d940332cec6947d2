//! Dependencies on jobs that have ended and that the controller still lists.

use std::ops::Range;

use crate::{Job, JobState};

use super::dependency::DependencyTargets;
use super::{Condition, Dependency, Queue, QueueJob};

/// A job that has ended and that the controller still lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedJob {
    /// The id of the job.
    pub id: u64,
    /// The array and the number of the task, if the job is a task of an array.
    pub array: Option<(u64, u64)>,
    /// The start in seconds since 1970. `None` if the job never started.
    pub started: Option<i64>,
    /// True if the job ended with success.
    pub has_succeeded: bool,
}

/// The effect of an ended job on a dependency.
enum Settled {
    /// The dependency is satisfied at this instant, in seconds since 1970.
    At(i64),
    /// The dependency can never be satisfied.
    Never,
    /// The jobs have not ended, or are unknown.
    Open,
}

impl EndedJob {
    pub(super) fn of(job: &Job) -> Option<Self> {
        let array = job.array.as_ref().and_then(|(array, task)| Some((*array, task.parse().ok()?)));
        let has_succeeded = job.state == JobState::Completed;
        job.state.has_ended().then_some(Self { id: job.id, array, started: job.start, has_succeeded })
    }

    fn is_meant(&self, dependency: &Dependency, by: &QueueJob) -> bool {
        let task = match dependency.condition {
            Condition::SameTask => by.array.map(|own| own.task),
            _ => dependency.task,
        };
        let is_named = self.id == dependency.job || self.array.is_some_and(|(array, _)| array == dependency.job);
        is_named && task.is_none_or(|task| self.array.is_none_or(|(_, own)| own == task))
    }
}

impl Queue {
    /// Removes the dependencies of these jobs on ended jobs, if they are satisfied. If a dependency is satisfied some time
    /// after the start of an ended job, sets the earliest start of the job. Marks dependencies that can never be
    /// satisfied.
    pub(super) fn settle_dependencies(&mut self, jobs: Range<usize>) {
        let targets = DependencyTargets::of(self);
        let mut settled = Vec::new();
        for (index, job) in (jobs.start..).zip(&self.jobs[jobs]).filter(|(_, job)| job.run.is_none()) {
            for (at, dependency) in job.waits_for.iter().enumerate().filter(|(_, dependency)| !dependency.has_failed) {
                if targets.jobs(index, dependency).is_empty() {
                    settled.push((index, at, self.settled(job, dependency)));
                }
            }
        }
        // Later dependencies are removed first, so that the positions of the others stay valid.
        for (index, at, how) in settled.into_iter().rev() {
            let (now, job) = (self.now, &mut self.jobs[index]);
            // The list of alternatives has been cleared if one of them is satisfied.
            let Some(dependency) = job.waits_for.get(at).cloned() else { continue };
            match how {
                Settled::At(from) if from <= now && dependency.any => job.waits_for.clear(),
                Settled::At(from) if from <= now => drop(job.waits_for.remove(at)),
                Settled::At(from) if !dependency.any || job.waits_for.len() == 1 => {
                    job.waits_for.remove(at);
                    if job.eligible.is_none_or(|eligible| eligible < from) {
                        (job.eligible, job.after_start_of) = (Some(from), Some(dependency));
                    }
                }
                Settled::Never => job.waits_for[at].has_failed = true,
                Settled::At(_) | Settled::Open => {}
            }
        }
    }

    /// Removes the dependencies of these jobs on jobs that the queue does not contain, and returns the ids of the jobs.
    pub(super) fn drop_unknown_dependencies(&mut self, jobs: Range<usize>) -> Vec<u64> {
        let mut unknown = Vec::new();
        for index in jobs {
            let all = std::mem::take(&mut self.jobs[index].waits_for);
            let targets = DependencyTargets::of(self);
            let is_open = |one: &Dependency| {
                one.has_failed || one.condition == Condition::Singleton || !targets.jobs(index, one).is_empty()
            };
            let (kept, gone): (Vec<_>, Vec<_>) = all.into_iter().partition(is_open);
            unknown.extend(gone.into_iter().map(|one| one.job));
            self.jobs[index].waits_for = kept;
        }
        unknown.sort_unstable();
        unknown.dedup();
        unknown
    }

    fn settled(&self, job: &QueueJob, dependency: &Dependency) -> Settled {
        let ended: Vec<&EndedJob> = self.ended.iter().filter(|ended| ended.is_meant(dependency, job)).collect();
        if ended.is_empty() {
            return Settled::Open;
        }
        let when = |is_satisfied: bool| if is_satisfied { Settled::At(i64::MIN) } else { Settled::Never };
        let has_succeeded = ended.iter().all(|ended| ended.has_succeeded);
        match dependency.condition {
            Condition::Started(delay) => match ended.iter().filter_map(|ended| ended.started).max() {
                Some(start) => Settled::At(start.saturating_add(delay)),
                None => Settled::Open,
            },
            Condition::Ended => Settled::At(i64::MIN),
            Condition::Succeeded | Condition::SameTask => when(has_succeeded),
            Condition::Failed => when(!has_succeeded),
            Condition::Singleton => Settled::Open,
        }
    }
}
