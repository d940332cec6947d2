//! The jobs to which the tasks in the engine belong, and their users.

use std::collections::BTreeMap;
use std::ops::Range;

use makespan_core::{Job, Platform, TaskId, Time, Weight};

use crate::prepare::{job_of, wrap};
use crate::store::HandedJob;
use crate::words::JobNumber;

/// A job in the engine.
#[derive(Clone, Debug)]
pub(crate) struct EngineJob {
    pub first: u64,
    pub tasks: u64,
    pub job: JobNumber,
    pub position: u64,
    pub title: String,
    pub user: String,
    /// Instant at which the job was submitted, in ticks after the beginning of the round (the current run of the
    /// engine).
    pub submitted: i64,
}

/// The jobs in the engine, in the order of their tasks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owners {
    all: Vec<EngineJob>,
    last: BTreeMap<JobNumber, usize>,
}

impl Owners {
    /// Adds a job after all existing jobs.
    pub fn push(&mut self, handed: &HandedJob) {
        let first = self.all.last().map_or(0, |last| last.first + last.tasks);
        self.last.insert(handed.job, self.all.len());
        let HandedJob { job, position, title, user, tasks, submitted, .. } = handed.clone();
        self.all.push(EngineJob { first, tasks, job, position, title, user, submitted });
    }

    /// Returns the number of jobs that the engine has received in this round.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Returns the number of tasks that the engine has received in this round.
    pub fn tasks_in_engine(&self) -> u64 {
        self.all.last().map_or(0, |last| last.first + last.tasks)
    }

    /// Returns the job of a task, and the number of the task in its job.
    pub fn of(&self, task: TaskId) -> Option<(&EngineJob, u64)> {
        let behind = self.all.partition_point(|owned| owned.first <= task.0);
        let owned = self.all.get(behind.checked_sub(1)?)?;
        (task.0 < owned.first + owned.tasks).then_some((owned, task.0 - owned.first))
    }

    /// Returns the numbers of the tasks of a job in the engine. If the engine received the job several times, returns
    /// the latest tasks.
    pub fn tasks(&self, job: JobNumber) -> Range<u64> {
        self.last.get(&job).map_or(0..0, |&at| self.all[at].first..self.all[at].first + self.all[at].tasks)
    }
}

/// Returns a job in the form in which the engine receives it.
///
/// # Errors
/// The reason why the job does not fit the platform.
pub(crate) fn engine_job(handed: &HandedJob, platform: &Platform) -> Result<Job, String> {
    let mut job = job_of(&handed.spec, platform)?;
    wrap(&mut job, &handed.title, handed.directory.as_deref(), &handed.environment);
    job.name.clone_from(&handed.name);
    job.weight = Weight::from_millionths(handed.weight).map_err(|error| error.to_string())?;
    job.release = Time::from_ticks(handed.release);
    job.deadline = handed.deadline.map(Time::from_ticks);
    job.after = handed.after.iter().map(|name| name.as_str().into()).collect();
    Ok(job)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a job of one task. `at` is the number of jobs before it.
    pub fn handed(at: usize, user: &str) -> HandedJob {
        HandedJob {
            job: JobNumber(at as u64 + 1),
            position: at as u64 + 1,
            name: (at + 1).to_string(),
            user: user.into(),
            title: String::new(),
            tasks: 1,
            weight: 1_000_000,
            submitted: 0,
            release: 0,
            deadline: None,
            after: Vec::new(),
            spec: String::new(),
            directory: None,
            environment: BTreeMap::new(),
        }
    }
}
