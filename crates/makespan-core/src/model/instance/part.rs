//! Some of the work of an instance, as an instance of its own.

use super::Instance;
use crate::model::{Job, JobId, TaskId, Work};

/// An instance of some of the jobs and tasks of another one, and the way back.
#[derive(Clone, Debug)]
pub struct Part {
    /// The work that was chosen.
    pub instance: Instance,
    /// For each of its tasks the one of the other instance that it is.
    pub tasks: Vec<TaskId>,
}

impl Instance {
    /// A job as it was submitted, with the allotments on which it can run. O(tasks and edges) of a compound job.
    pub fn submitted(&self, job: JobId) -> Job {
        let job = self.job(job);
        job.beside(self.table.work(job))
    }

    /// All jobs as they were submitted, with the allotments on which they can run.
    pub fn all_submitted(&self) -> Vec<Job> {
        self.ids().map(|id| self.submitted(id)).collect()
    }

    /// A task as a job of its own, with its share of the weight: one of a best-effort bag as a best-effort bag of one task. It
    /// waits for nothing.
    pub fn alone(&self, task: TaskId) -> Job {
        let job = self.job_of(task);
        let mut own = self.task(task).clone();
        if job.is_bag() {
            own.command = self.command(task).into_owned();
        }
        let one = std::num::NonZeroU64::MIN;
        let work = if job.is_best_effort() { Work::Bag(own, one) } else { Work::Task(own) };
        let (name, weight) = (self.name(task).into_owned(), job.task_weight());
        let Job { priority, release, deadline, walltime, user, ref submission, .. } = *job;
        let (after, submission) = (Vec::new(), submission.clone());
        Job { name, weight, priority, release, deadline, walltime, user, after, submission, work }
    }

    /// The same machines with other jobs, which must come from this instance. They wait for those that are among them.
    pub fn with_jobs(&self, jobs: Vec<Job>) -> Self {
        Self::joined(self.platform.clone(), jobs, self.unavailable.clone()).holding(self.held.clone())
    }
}
