//! The terms of a submission: its user, partitions, time limits and factors.

use std::sync::Arc;

use makespan_core::{Instance, Partition, Platform, Site, Submission, TaskId, Time};

use super::cluster::MINUTE;

/// Returns the number of nodes that have processors.
pub(super) fn computing_nodes(platform: &Platform) -> f64 {
    platform.kinds().filter(|(node, _)| node.processors > 0).map(|(_, count)| count).sum::<usize>() as f64
}

/// Returns the name of the user of a task.
fn user_name(instance: &Instance, task: TaskId) -> Arc<str> {
    let job = instance.job_of(task);
    match (job.submission.as_ref().and_then(|submission| submission.user.as_ref()), job.user) {
        (Some(user), _) => user.clone(),
        (None, Some(number)) => number.to_string().into(),
        (None, None) => "".into(),
    }
}

/// Returns the submission of a task, with the name of its user.
pub(super) fn named(instance: &Instance, task: TaskId) -> Submission {
    let submission = instance.job_of(task).submission.as_deref().cloned().unwrap_or_default();
    Submission { user: Some(user_name(instance, task)), ..submission }
}

/// Returns the partitions in which a job may start. If the site has no partitions, returns `None` as the only
/// partition.
pub(super) fn partitions(site: Option<&Site>, submission: &Submission) -> Vec<Option<usize>> {
    let Some(site) = site.filter(|site| !site.partitions.is_empty()) else { return vec![None] };
    let mut wanted: Vec<usize> = submission.partitions.iter().filter_map(|name| site.partition(name)).collect();
    if submission.partitions.is_empty() {
        wanted.extend(site.default_partition());
    }
    wanted.sort_by_key(|&at| std::cmp::Reverse(site.partitions[at].tier));
    wanted.into_iter().map(Some).collect()
}

/// Returns the maximum time that the classes of service and the associations of a job allow.
pub(super) fn longest(site: Option<&Site>, submission: &Submission, partition: Option<&Partition>) -> Option<Time> {
    let site = site?;
    let names = submission.qos.as_deref().into_iter().chain(partition.and_then(|one| one.qos.as_deref()));
    let by_qos = names.filter_map(|name| site.qos.iter().find(|qos| &*qos.name == name)?.max_wall);
    let account = submission.account.as_deref().unwrap_or_default();
    let own = |one: &&makespan_core::Association| {
        &*one.account == account && one.user.as_deref().is_none_or(|user| Some(user) == submission.user.as_deref())
    };
    by_qos.chain(site.associations.iter().filter(own).filter_map(|one| one.max_wall)).min()
}

pub(super) fn qos_factor(site: Option<&Site>, submission: &Submission) -> f64 {
    let Some(site) = site else { return 0.0 };
    let most = site.qos.iter().map(|qos| qos.priority).max().unwrap_or(0).max(1);
    let own = submission.qos.as_deref().and_then(|name| site.qos.iter().find(|qos| &*qos.name == name));
    own.map_or(0.0, |qos| f64::from(qos.priority) / f64::from(most))
}

/// Returns the time limit in ticks, rounded up to minutes. This is the walltime. If no walltime is stated, the time
/// limit is the default of the partition or, without a default, the estimate.
pub(super) fn time_limit(
    instance: &Instance,
    task: TaskId,
    processors: u32,
    site: Option<&Site>,
    submission: &Submission,
) -> i64 {
    let stated = instance.walltime(task);
    let by_partition = || {
        let site = site?;
        let first = submission.partitions.first().and_then(|name| site.partition(name));
        let own = &site.partitions[first.or_else(|| site.default_partition())?];
        own.default_time.or(own.max_time).filter(|_| instance.task(task).estimate.is_guess())
    };
    let estimate = instance.profile(task).time(processors);
    in_minutes(stated.or_else(by_partition).unwrap_or(estimate))
}

/// Rounds a time up to whole minutes.
pub(super) fn in_minutes(time: Time) -> i64 {
    let minutes = time.ticks().div_ceil_of(MINUTE).max(1);
    minutes.saturating_mul(MINUTE).min(i64::MAX / 4)
}

trait DivCeil {
    fn div_ceil_of(self, unit: i64) -> i64;
}

impl DivCeil for i64 {
    fn div_ceil_of(self, unit: i64) -> i64 {
        self / unit + i64::from(self % unit > 0)
    }
}
