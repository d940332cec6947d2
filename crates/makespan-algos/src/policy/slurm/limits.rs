//! The amounts that users, accounts and classes of service hold, and the limits of these amounts.

use std::sync::Arc;

use makespan_core::{Instance, Limits, Platform, Resources, Site, Submission, TaskId};
use rustc_hash::FxHashMap;

use crate::slurm::{ClusterModel, LimitCounter};

/// The users to which a limit refers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Who {
    /// All users below an account.
    Account(Box<str>),
    /// A user in an account.
    User(Box<str>, Box<str>),
    /// All users below an association. These users share the group limit of the association.
    Below(Box<str>, Box<str>),
    Qos(Box<str>),
    QosUser(Box<str>, Box<str>),
    QosAccount(Box<str>, Box<str>),
    Array(Arc<str>),
}

/// Amounts: the numbers of jobs, of processors and of nodes, followed by the amounts of resources in the order of the
/// platform.
pub(super) type LimitAmounts = Box<[u64]>;

/// The counters of all limits that affect any job. For each counter, the index of the limited amount is stated.
#[derive(Clone, Debug, Default)]
pub(super) struct AllLimits {
    known: FxHashMap<Who, Vec<(usize, usize)>>,
}

/// The index of the number of nodes.
const NODES: usize = 2;
/// The index of the first resource.
const FIRST_RESOURCE: usize = 3;

/// Returns the amounts that a job holds while it runs.
pub(super) fn amounts(instance: &Instance, task: TaskId, processors: u32, nodes: u32) -> LimitAmounts {
    let resources = instance.platform().resources().len();
    let mut amounts = vec![0; FIRST_RESOURCE + resources];
    (amounts[0], amounts[1], amounts[2]) = (1, processors.into(), nodes.into());
    for demand in instance.demands(task) {
        amounts[FIRST_RESOURCE + demand.resource.index()] = demand.need.total(processors);
    }
    amounts.into()
}

/// Returns the index of a name among the amounts.
pub(super) fn position(platform: &Platform, name: &str) -> Option<usize> {
    match name {
        Site::CPUS => Some(1),
        Site::NODES => Some(NODES),
        _ => platform.resource(name).map(|resource| FIRST_RESOURCE + resource.index()),
    }
}

/// Converts limits to amounts. If an amount has no limit, the result contains the maximum integer.
fn most(platform: &Platform, jobs: Option<u32>, held: &Resources) -> LimitAmounts {
    let mut most = vec![u64::MAX; FIRST_RESOURCE + platform.resources().len()];
    most[0] = jobs.map_or(u64::MAX, u64::from);
    for (name, amount) in held.iter() {
        if let Some(at) = position(platform, name) {
            most[at] = amount;
        }
    }
    most.into()
}

/// Replaces each amount by the minimum of `most` and `other`.
fn tighten(most: &mut LimitAmounts, other: &LimitAmounts) {
    most.iter_mut().zip(other).for_each(|(own, &other)| *own = (*own).min(other));
}

impl AllLimits {
    /// Returns the counters that restrict a job in a partition, each with the index of the limited amount. Also returns
    /// the maximum amounts for this job alone.
    pub fn of(
        &mut self,
        instance: &Instance,
        submission: &Submission,
        partition: Option<usize>,
        model: &mut ClusterModel,
    ) -> (Vec<(usize, usize)>, LimitAmounts) {
        let platform = instance.platform();
        let mut own = most(platform, None, &Resources::default());
        let mut numbers = Vec::new();
        if let Some((array, Some(parts))) = &submission.array {
            let limits = Limits { jobs: Some(*parts), ..Limits::default() };
            numbers.extend(self.counters(Who::Array(array.clone()), platform, &limits, model));
        }
        let Some(site) = platform.site() else { return (numbers, own) };
        let user = submission.user.as_deref().unwrap_or_default();
        let account = submission.account.as_deref().unwrap_or_default();
        let mut add = |who: Who, limits: &Limits| {
            if !limits.is_none() {
                numbers.extend(self.counters(who, platform, limits, model));
            }
        };
        let of_partition = partition.and_then(|at| site.partitions[at].qos.as_deref());
        for name in of_partition.into_iter().chain(submission.qos.as_deref()) {
            let Some(qos) = site.qos.iter().find(|qos| &*qos.name == name) else { continue };
            add(Who::Qos(name.into()), &qos.group);
            add(Who::QosUser(name.into(), user.into()), &qos.per_user);
            add(Who::QosAccount(name.into(), account.into()), &qos.per_account);
            tighten(&mut own, &most(platform, None, &qos.per_job));
        }
        let user_in =
            site.associations.iter().find(|one| &*one.account == account && one.user.as_deref() == Some(user));
        if let Some(one) = user_in {
            add(Who::User(account.into(), user.into()), &one.own);
            add(Who::Below(account.into(), user.into()), &one.group);
            tighten(&mut own, &most(platform, None, &one.per_job));
        }
        let mut above = Some(account);
        while let Some(one) =
            above.and_then(|name| site.associations.iter().find(|one| one.user.is_none() && &*one.account == name))
        {
            add(Who::Account(one.account.clone()), &one.group);
            // Limits that an account states for each of its users restrict only users without limits of their own.
            if user_in.is_none_or(|user| user.own.is_none()) {
                add(Who::User(one.account.clone(), user.into()), &one.own);
            }
            if user_in.is_none_or(|user| user.per_job.is_empty()) {
                tighten(&mut own, &most(platform, None, &one.per_job));
            }
            above = one.parent.as_deref();
        }
        // Remove duplicates, because the job and the partition may have one class of service.
        numbers.sort_unstable();
        numbers.dedup();
        (numbers, own)
    }

    /// Returns the counters of a limit. Adds them to the model if they are new.
    fn counters(
        &mut self,
        who: Who,
        platform: &Platform,
        limits: &Limits,
        model: &mut ClusterModel,
    ) -> impl Iterator<Item = (usize, usize)> + use<'_> {
        let add = || {
            let held = most(platform, limits.jobs, &limits.held).into_iter().enumerate().map(|limit| (limit, false));
            let minutes = most(platform, None, &limits.minutes).into_iter().enumerate().map(|limit| (limit, true));
            let limited = held.chain(minutes).filter(|(limit, _)| limit.1 < u64::MAX);
            let counter = |((at, total), falls): ((usize, u64), bool)| {
                model.counters.push(LimitCounter { is_of_nodes: at == NODES, falls, ..LimitCounter::new(total) });
                (model.counters.len() - 1, at)
            };
            limited.map(counter).collect()
        };
        self.known.entry(who).or_insert_with(add).iter().copied()
    }
}

/// Returns whether no amount exceeds its limit.
pub(super) fn within(amounts: &LimitAmounts, most: &LimitAmounts) -> bool {
    amounts.iter().zip(most).all(|(amount, most)| amount <= most)
}
