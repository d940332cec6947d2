//! The log or the cluster queue on which all policies are simulated.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use makespan_core::{Actual, Instance, Job, JobId, ProcSet, Rows, TaskId, Time};
use makespan_formats::Past;
use makespan_slurm::queue::Queue;

/// A log as all policies meet it.
#[derive(Clone)]
pub struct Log {
    pub instance: Instance,
    pub actual: Actual,
    pub remarks: Vec<String>,
    /// The second of the week at instant 0, where the log tells.
    pub week: Option<i64>,
    /// What really happened, where a log tells.
    pub past: Past,
    /// What runs when it begins, and where.
    pub running: Vec<(TaskId, ProcSet)>,
    /// The policy of the cluster that it is from, where that is known.
    pub usual: Option<String>,
    /// The queue that it is, where it is one.
    pub live: Option<Arc<Live>>,
}

impl Log {
    /// Whether it is the present of a cluster, and time 0 is now.
    pub fn is_present(&self) -> bool {
        self.usual.is_some()
    }

    /// Leaves out jobs; how many.
    pub fn keep(&mut self, keep: impl Fn(&Instance, &Job<Rows>) -> bool) -> Result<usize, String> {
        let instance = &self.instance;
        let kept: Vec<JobId> = instance.ids().filter(|&id| keep(instance, instance.job(id))).collect();
        let left = instance.jobs().len() - kept.len();
        if left == 0 {
            return Ok(0);
        }
        if kept.is_empty() {
            return Err("no job is left".to_owned());
        }
        let tasks: Vec<usize> = kept.iter().flat_map(|&id| instance.job(id).task_ids()).map(TaskId::index).collect();
        let actual = match &self.actual {
            Actual::AsEstimated => Actual::AsEstimated,
            Actual::Profiles(all) => Actual::Profiles(tasks.iter().map(|&at| all[at].clone()).collect()),
            Actual::Factors(all) => Actual::Factors(tasks.iter().map(|&at| all[at]).collect()),
        };
        let names: HashSet<&str> = kept.iter().map(|&id| instance.job(id).name.as_str()).collect();
        let jobs = kept.iter().map(|&id| {
            let mut job = instance.submitted(id);
            job.after.retain(|name| names.contains(name.as_ref()));
            job
        });
        let new = instance.with_jobs(jobs.collect());
        (self.instance, self.actual) = (new, actual);
        let place = |task: TaskId| tasks.binary_search(&task.index()).ok().map(|at| TaskId(at as u64));
        let running = std::mem::take(&mut self.running);
        self.running = running.into_iter().filter_map(|(task, own)| Some((place(task)?, own))).collect();
        // They are of the log as it was.
        self.past.starts.clear();
        Ok(left)
    }
}

/// A queue, and when its jobs are expected to start.
pub struct Live {
    pub(super) queue: Queue,
    pub(super) expected: HashMap<String, Time>,
}
