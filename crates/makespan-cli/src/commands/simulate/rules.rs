//! Warns about policies that ignore the rules of a cluster.

use std::collections::{BTreeSet, HashSet};

use makespan::policy::{IgnoredRules, unheeded};
use makespan_core::{Instance, TaskId};

use super::log::Log;
use super::words::{self, named};

/// Returns the cluster rules that a policy ignores. Returns `None` if the platform has no rules or the policy follows
/// these rules.
pub fn of(policy: &str, log: &Log) -> Option<IgnoredRules> {
    if knows(policy) || log.instance.platform().site().is_none() {
        return None;
    }
    let running: HashSet<TaskId> = log.running.iter().map(|run| run.0).collect();
    Some(unheeded(&log.instance, log.instance.task_ids().filter(|task| !running.contains(task))))
}

/// Returns true if a policy follows the rules of a cluster.
fn knows(policy: &str) -> bool {
    policy.split('[').next() == Some("slurm")
}

/// Describes the rules that a policy ignores, and the number of jobs with such rules.
pub fn told(unheeded: &IgnoredRules, policy: &str) -> Option<String> {
    let rules: Vec<String> = unheeded.rules.iter().map(|(what, jobs)| format!("{what}: {jobs}")).collect();
    let jobs = unheeded.jobs;
    (jobs > 0).then(|| {
        format!(
            "`{policy}` ignores the rules of the cluster: {jobs} job{} such rules ({}) and may start when \
             the cluster would not start {}; `slurm` follows the rules",
            if jobs == 1 { " has" } else { "s have" },
            rules.join(", "),
            if jobs == 1 { "it" } else { "them" },
        )
    })
}

/// Adds notes about the rules that the policies ignore. Removes from the log the jobs that the cluster would never
/// start.
pub fn kept(policies: &[String], mut log: Log) -> Result<Log, String> {
    let others: Vec<&String> = policies.iter().filter(|policy| !knows(policy)).collect();
    // These policies all ignore the same rules.
    let Some(unheeded) = others.first().and_then(|policy| of(policy, &log)) else { return Ok(log) };
    log.remarks.extend(others.iter().filter_map(|policy| told(&unheeded, policy)));
    let never = never(&log.instance, &unheeded.never);
    if !never.is_empty() {
        log.keep(|_, job| !never.contains(&job.name)).map_err(|_| {
            "no job is left, because every job is held or can never start under the rules of the cluster".to_owned()
        })?;
        log.remarks.push(left_out(&never));
    }
    Ok(log)
}

/// Returns a note with the number and some names of the jobs that are left out.
pub fn left_out(never: &BTreeSet<String>) -> String {
    let names: Vec<&str> = never.iter().map(String::as_str).collect();
    let count = words::left_out(never.len());
    format!("{count}, because they are held or can never start under the rules of the cluster: {}", named(&names))
}

/// Returns the jobs of `tasks`, which can never start, and the jobs that depend on these jobs.
pub fn never(instance: &Instance, tasks: &[TaskId]) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = tasks.iter().map(|&task| instance.job_of(task).name.clone()).collect();
    let mut before = 0;
    while names.len() > before {
        before = names.len();
        let jobs = instance.jobs().iter().filter(|job| job.after.iter().any(|name| names.contains(name.as_ref())));
        let more: Vec<String> = jobs.map(|job| job.name.clone()).collect();
        names.extend(more);
    }
    names
}
