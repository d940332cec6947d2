//! Parts of an instance as separate instances.

use super::Instance;
use crate::model::{Job, JobId, TaskId, Work};

/// An instance of some jobs and tasks of another instance, with a map back to the other instance.
#[derive(Clone, Debug)]
pub struct SubInstance {
    /// The instance of the selected jobs and tasks.
    pub instance: Instance,
    /// For each task of `instance`, the corresponding task of the other instance.
    pub tasks: Vec<TaskId>,
}

impl Instance {
    /// Returns a job as it was submitted, with the allotments on which it can run. Takes O(tasks and edges) for a
    /// compound job.
    pub fn submitted(&self, job: JobId) -> Job {
        let job = self.job(job);
        job.beside(self.table.work(job))
    }

    /// Returns all jobs as they were submitted, with the allotments on which they can run.
    pub fn all_submitted(&self) -> Vec<Job> {
        self.ids().map(|id| self.submitted(id)).collect()
    }

    /// Returns a task as a separate job that waits for nothing and has the task's share of the weight. A task of a
    /// best-effort bag becomes a best-effort bag of one task.
    pub fn alone(&self, task: TaskId) -> Job {
        let job = self.job_of(task);
        let mut own = self.task(task).clone();
        if job.is_bag() {
            own.command = self.command(task).into_owned();
        }
        let one = std::num::NonZeroU64::MIN;
        let work = if job.is_best_effort() { Work::Bag(own, one) } else { Work::Task(own) };
        let (name, weight) = (self.name(task).into_owned(), job.task_weight());
        let Job { priority, release, deadline, must_end_by, walltime, user, ref submission, .. } = *job;
        let (after, submission, penalty) = (Vec::new(), submission.clone(), job.penalty.clone());
        Job { name, weight, priority, release, deadline, must_end_by, penalty, walltime, user, after, submission, work }
    }

    /// Returns an instance with the platform of this instance and with the jobs `jobs`, which must come from this
    /// instance. If a job waits for a job that is not in `jobs`, this dependence is dropped.
    pub fn with_jobs(&self, jobs: Vec<Job>) -> Self {
        Self::joined(self.platform.clone(), jobs, self.unavailable.clone()).holding(self.held.clone())
    }
}
