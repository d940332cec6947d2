//! The amounts that users, accounts and classes of service hold, and the limits of these amounts.

use std::sync::Arc;

use makespan_core::{Instance, Limits, Platform, Resources, Site, Submission, TaskId};
use rustc_hash::FxHashMap;

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

#[derive(Debug)]
struct Limit {
    most: LimitAmounts,
    held: LimitAmounts,
}

/// All limits that affect any job.
#[derive(Debug, Default)]
pub(super) struct AllLimits {
    known: FxHashMap<Who, u32>,
    limits: Vec<Limit>,
}

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
        Site::NODES => Some(2),
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
    /// Returns the indices of the limits that restrict a job in a partition. Also returns the maximum amounts for this
    /// job alone.
    pub fn of(
        &mut self,
        instance: &Instance,
        submission: &Submission,
        partition: Option<usize>,
    ) -> (Vec<u32>, LimitAmounts) {
        let platform = instance.platform();
        let mut own = most(platform, None, &Resources::default());
        let mut numbers = Vec::new();
        if let Some((array, Some(parts))) = &submission.array {
            numbers
                .push(self.number(Who::Array(array.clone()), || most(platform, Some(*parts), &Resources::default())));
        }
        let Some(site) = platform.site() else { return (numbers, own) };
        let user = submission.user.as_deref().unwrap_or_default();
        let account = submission.account.as_deref().unwrap_or_default();
        let mut add = |who: Who, limits: &Limits| {
            if !limits.is_none() {
                numbers.push(self.number(who, || most(platform, limits.jobs, &limits.held)));
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

    fn number(&mut self, who: Who, most: impl FnOnce() -> LimitAmounts) -> u32 {
        let limits = &mut self.limits;
        *self.known.entry(who).or_insert_with(|| {
            let most = most();
            limits.push(Limit { held: vec![0; most.len()].into(), most });
            (limits.len() - 1) as u32
        })
    }

    /// Returns whether the limits `numbers` allow the amounts in addition to the amounts held now.
    pub fn have_room(&self, numbers: &[u32], amounts: &LimitAmounts) -> bool {
        numbers.iter().all(|&number| {
            let Limit { most, held } = &self.limits[number as usize];
            most.iter().zip(held).zip(amounts).all(|((&most, &held), &more)| held.saturating_add(more) <= most)
        })
    }

    /// Returns whether the limits `numbers` would allow the amounts if nothing were held.
    pub fn could_have_room(&self, numbers: &[u32], amounts: &LimitAmounts) -> bool {
        numbers.iter().all(|&number| within(amounts, &self.limits[number as usize].most))
    }

    /// Adds the amounts of a job that starts, or subtracts the amounts of a job that has ended.
    pub fn change(&mut self, numbers: &[u32], amounts: &LimitAmounts, begins: bool) {
        for &number in numbers {
            let held = &mut self.limits[number as usize].held;
            for (held, &amount) in held.iter_mut().zip(amounts) {
                *held = if begins { held.saturating_add(amount) } else { held.saturating_sub(amount) };
            }
        }
    }
}

/// Returns whether no amount exceeds its limit.
pub(super) fn within(amounts: &LimitAmounts, most: &LimitAmounts) -> bool {
    amounts.iter().zip(most).all(|(amount, most)| amount <= most)
}
