//! The log or the cluster queue on which all policies are simulated.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use makespan_core::{Actual, Instance, Job, JobId, ProcSet, Rows, TaskId, Time};
use makespan_formats::LoggedStarts;
use makespan_slurm::queue::Queue;

/// A log with the machines and settings for all policies.
#[derive(Clone)]
pub struct Log {
    pub instance: Instance,
    pub actual: Actual,
    pub remarks: Vec<String>,
    /// Second of the week at which the log begins, if known.
    pub week: Option<i64>,
    /// The recorded starts and the clock of the log, if the log states them.
    pub past: LoggedStarts,
    /// Jobs that run at instant 0, with their processors.
    pub running: Vec<(TaskId, ProcSet)>,
    /// The cluster's own policy, if the log is the queue of a cluster.
    pub usual: Option<String>,
    /// Queue of a cluster, if the log is one.
    pub live: Option<Arc<LiveQueue>>,
}

impl Log {
    /// Returns true if the log is the queue of a cluster. Instant 0 is then the present.
    pub fn is_present(&self) -> bool {
        self.usual.is_some()
    }

    /// Removes the jobs for which `keep` returns false. Returns their number.
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
        // The recorded starts are removed, because they belong to the complete log.
        self.past.starts.clear();
        Ok(left)
    }
}

/// The queue of a cluster with the predicted starts of its jobs.
pub struct LiveQueue {
    pub(super) queue: Queue,
    pub(super) expected: HashMap<String, Time>,
}
