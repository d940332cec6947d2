//! Usage of a cluster over time.

use serde::{Deserialize, Serialize};

use crate::model::{Instance, Time};
use crate::online::{Outcome, Trace};

/// The number of processors that run jobs and the number of waiting jobs, as step functions of time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The steps in order of time. Consecutive steps have distinct numbers. Before the first step, no processor runs a
    /// job and no job waits. In the last step, no processor runs a job.
    pub steps: Vec<UsageStep>,
}

/// The usage of the cluster from an instant until the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageStep {
    /// Start of the step.
    pub from: Time,
    /// Number of processors that run a job.
    pub held: u32,
    /// Number of jobs that wait: they are released and not started, or were interrupted and not started again.
    pub waiting: u32,
}

impl Usage {
    /// Computes the usage of a trace. Jobs that never started are omitted, because a trace does not contain the time of
    /// their cancellation.
    pub fn of(instance: &Instance, trace: &Trace) -> Self {
        let started = || trace.runs.iter().filter(|run| run.outcome != Outcome::NotStarted);
        // For each job, the instant from which the job waits: its release, or the end of its previous run. A trace
        // lists the runs of a job in order of time.
        let jobs = instance.jobs().iter();
        let mut since: Vec<Time> =
            jobs.flat_map(|job| std::iter::repeat_n(job.release, job.tasks() as usize)).collect();
        let mut changes: Vec<(Time, i64, i64)> = Vec::with_capacity(3 * trace.runs.len());
        for run in started() {
            let held = i64::from(run.processors.len());
            let waits = std::mem::replace(&mut since[run.task.index()], run.end);
            if waits < run.start {
                changes.extend([(waits, 0, 1), (run.start, held, -1), (run.end, -held, 0)]);
            } else {
                changes.extend([(run.start, held, 0), (run.end, -held, 0)]);
            }
        }
        changes.sort_unstable();
        let mut steps: Vec<UsageStep> = Vec::new();
        let (mut held, mut waiting) = (0, 0);
        for together in changes.chunk_by(|a, b| a.0 == b.0) {
            for (_, more_held, more_waiting) in together {
                held += more_held;
                waiting += more_waiting;
            }
            let step = UsageStep { from: together[0].0, held: held as u32, waiting: waiting as u32 };
            let before = steps.last().map_or((0, 0), |last| (last.held, last.waiting));
            if before != (step.held, step.waiting) {
                steps.push(step);
            }
        }
        Self { steps }
    }
}
