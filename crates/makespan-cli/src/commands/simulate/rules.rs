//! The rules of a cluster under policies that do not know them.

use std::collections::HashSet;

use makespan::policy::{Unheeded, unheeded};
use makespan_core::{Instance, JobId, TaskId};

use super::scene::Log;

/// What a policy does not know of the rules of the cluster; nothing of the policy that knows them.
pub fn of(policy: &str, log: &Log) -> Option<Unheeded> {
    if policy.split('[').next() == Some("slurm") || log.instance.platform().site().is_none() {
        return None;
    }
    let running: HashSet<TaskId> = log.running.iter().map(|run| run.0).collect();
    Some(unheeded(&log.instance, log.instance.task_ids().filter(|task| !running.contains(task))))
}

/// How many jobs have rules that the policy does not know, and which.
pub fn told(unheeded: &Unheeded, policy: &str) -> Option<String> {
    let rules: Vec<String> = unheeded.rules.iter().map(|(what, jobs)| format!("{what}: {jobs}")).collect();
    let jobs = unheeded.jobs;
    (jobs > 0).then(|| {
        format!(
            "`{policy}` does not know the rules of the cluster: {jobs} job{} some ({}) and may start sooner than the cluster would let \
             {}; `slurm` keeps to them",
            if jobs == 1 { " has" } else { "s have" },
            rules.join(", "),
            if jobs == 1 { "it" } else { "them" },
        )
    })
}

/// The same beside several policies that share an instance, with how many jobs would never start under the rules.
pub fn remarks(policies: &[String], log: &Log) -> Vec<String> {
    let mut remarks = Vec::new();
    for policy in policies {
        let Some(unheeded) = of(policy, log) else { continue };
        remarks.extend(told(&unheeded, policy));
        match unheeded.never.len() {
            0 => {}
            1 => remarks.push(format!("`{policy}` starts a job that the cluster holds or can never start")),
            never => remarks.push(format!("`{policy}` starts {never} jobs that the cluster holds or can never start")),
        }
    }
    remarks
}

/// The jobs of tasks that can never start, and all jobs that wait for one of them.
pub fn never(instance: &Instance, tasks: &[TaskId]) -> HashSet<JobId> {
    let mut names: HashSet<&str> = tasks.iter().map(|&task| instance.job_of(task).name.as_str()).collect();
    let mut before = 0;
    while names.len() > before {
        before = names.len();
        let jobs = instance.jobs().iter().filter(|job| job.after.iter().any(|name| names.contains(name.as_ref())));
        let more: Vec<&str> = jobs.map(|job| job.name.as_str()).collect();
        names.extend(more);
    }
    instance.ids().filter(|&id| names.contains(instance.job(id).name.as_str())).collect()
}
