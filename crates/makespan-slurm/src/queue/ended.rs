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
        if self.ended.is_empty() {
            return;
        }
        let targets = DependencyTargets::of(self);
        let mut settled = Vec::new();
        for (index, job) in (jobs.start..).zip(&self.jobs[jobs]) {
            let how = |one: &Dependency| match one {
                one if one.has_failed => Settled::Never,
                one if targets.jobs(index, one).is_empty() => self.settled(job, one),
                _ => Settled::Open,
            };
            if job.run.is_none() && !job.waits_for.is_empty() {
                settled.push((index, job.waits_for.iter().map(how).collect::<Vec<_>>()));
            }
        }
        for (index, how) in settled {
            self.jobs[index].settle(how, self.now);
        }
    }

    /// Removes the dependencies of these jobs on jobs that the queue does not contain, and returns the ids of the jobs.
    pub(super) fn drop_unknown_dependencies(&mut self, jobs: Range<usize>) -> Vec<u64> {
        let (targets, mut unknown) = (DependencyTargets::of(self), Vec::new());
        let mut kept = Vec::new();
        for index in jobs.clone() {
            let is_open = |one: &Dependency| {
                one.has_failed || one.condition == Condition::Singleton || !targets.jobs(index, one).is_empty()
            };
            let (open, gone): (Vec<_>, Vec<_>) = self.jobs[index].waits_for.iter().cloned().partition(is_open);
            // One satisfied alternative is sufficient.
            kept.push(if gone.iter().any(|one| one.any) { Vec::new() } else { open });
            unknown.extend(gone.into_iter().map(|one| one.job));
        }
        for (index, kept) in jobs.zip(kept) {
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

impl QueueJob {
    /// Applies the effects of ended jobs on the dependencies of this job.
    fn settle(&mut self, how: Vec<Settled>, now: i64) {
        let all = std::mem::take(&mut self.waits_for);
        let any = all.iter().any(|one| one.any);
        let is_open = how.iter().any(|how| matches!(how, Settled::Open));
        let (mut open, mut met) = (Vec::new(), Vec::new());
        for (mut one, how) in all.into_iter().zip(how) {
            one.has_failed |= matches!(how, Settled::Never);
            match how {
                Settled::At(at) => met.push((at, one)),
                Settled::Never | Settled::Open => open.push(one),
            }
        }
        // The first of several alternatives decides. If all dependencies are necessary, the last one decides.
        met.sort_by_key(|one| one.0);
        let decisive = if any { met.first() } else { met.last() };
        let Some((from, dependency)) = decisive.cloned() else {
            self.waits_for = open;
            return;
        };
        // Jobs that have not ended may satisfy another alternative earlier.
        if any && is_open && from > now {
            open.extend(met.into_iter().map(|one| one.1));
            self.waits_for = open;
            return;
        }
        self.waits_for = if any { Vec::new() } else { open };
        if from > now && self.eligible.is_none_or(|eligible| eligible < from) {
            (self.eligible, self.after_start_of) = (Some(from), Some(dependency));
        }
    }
}
