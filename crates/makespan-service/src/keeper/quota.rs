//! The processor limits of users in a plan.
//!
//! A plan respects the limit of a user as it respects licences: the platform has as many licences for the user as the
//! user may use processors at once, and each task of the user holds a licence for each of its processors.

use std::collections::{BTreeMap, BTreeSet};

use makespan_core::{HeldAmount, Instance, Job, Need, Needs, Resources, Time};

/// The maximum number of processors that a user may use at once, for each user with a limit.
pub(super) type ProcessorLimits = BTreeMap<String, u32>;

/// The processors of a running task of a user.
#[derive(Debug)]
pub(super) struct ProcessorUse {
    pub user: String,
    pub processors: u32,
    /// The expected end of the task.
    pub until: Time,
}

/// Returns the name of the licence for the processors of a user.
pub(super) fn licence(user: &str) -> String {
    format!("processors of user {user}")
}

/// Makes the tasks of a job hold the licences of its user. Returns false if a task may use more processors than the
/// limit. Such a job does not start before the limit is raised.
pub(super) fn hold_licences(job: &mut Job, user: &str, limits: &ProcessorLimits) -> Result<bool, String> {
    let Some(&limit) = limits.get(user) else { return Ok(true) };
    let own = licence(user);
    for task in job.work.tasks_mut() {
        if task.profile.max_processors() > limit {
            return Ok(false);
        }
        let needs = task.needs.iter().map(|(name, need)| (name.to_owned(), need.clone()));
        let needs = needs.chain([(own.clone(), Need::per_processor(1))]);
        task.needs = Needs::new(needs).map_err(|error| error.to_string())?;
    }
    Ok(true)
}

/// Adds the limits to an instance. `owners` contains the owner of each task, and `user_of` returns the user of an owner.
/// Jobs that cannot start because of a limit are removed, also from `owners`, together with the jobs that wait for them.
pub(super) fn with_limits<T: Clone>(
    instance: Instance,
    owners: &mut Vec<T>,
    user_of: impl Fn(&T) -> Option<&str>,
    running: &[ProcessorUse],
    limits: &ProcessorLimits,
) -> Result<Instance, String> {
    if limits.is_empty() {
        return Ok(instance);
    }
    let (mut jobs, mut kept, mut first) = (Vec::new(), Vec::with_capacity(owners.len()), 0);
    let mut removed: BTreeSet<String> = BTreeSet::new();
    for mut job in instance.all_submitted() {
        let own = &owners[first..first + job.work.tasks() as usize];
        first += own.len();
        let fits = match own.first().and_then(&user_of) {
            Some(user) => hold_licences(&mut job, user, limits)?,
            None => true,
        };
        if fits && !job.after.iter().any(|before| removed.contains(&**before)) {
            kept.extend_from_slice(own);
            jobs.push(job);
        } else {
            removed.insert(job.name);
        }
    }
    *owners = kept;
    let old = instance.platform();
    let licences = old.licences().iter().map(|(name, amount)| (name.to_owned(), amount));
    let licences = licences.chain(limits.iter().map(|(user, &limit)| (licence(user), u64::from(limit))));
    let licences = Resources::new(licences).map_err(|error| error.to_string())?;
    let platform = old.clone().with_licences(licences).map_err(|error| error.to_string())?;
    let mut held: Vec<HeldAmount> = Vec::new();
    for one in instance.held() {
        let resource = platform.resource(&old.resource_of(one.resource).name).ok_or("a resource is missing")?;
        held.push(HeldAmount { resource, ..*one });
    }
    for (user, &limit) in limits {
        let resource = platform.resource(&licence(user)).ok_or("a licence is missing")?;
        // If the running tasks exceed the limit, the tasks that end last hold the licences.
        let mut own: Vec<&ProcessorUse> = running.iter().filter(|one| one.user == *user).collect();
        own.sort_by_key(|one| std::cmp::Reverse(one.until));
        let mut left = limit;
        for one in own {
            let amount = one.processors.min(left);
            left -= amount;
            held.push(HeldAmount { node: None, resource, amount: amount.into(), until: one.until });
        }
    }
    held.retain(|one| one.amount > 0);
    let new = Instance::new(platform, jobs, instance.unavailable().to_vec()).map_err(|error| error.to_string())?;
    Ok(new.holding(held))
}

#[cfg(test)]
mod tests {
    use makespan_core::{Platform, ProcSet, Profile, Unavailable};
    use proptest::prelude::*;

    use super::super::plan::planned_within;
    use super::*;

    const PROCESSORS: u32 = 4;
    const USERS: [&str; 2] = ["ann", "bob"];

    /// A task in a plan or a running task: its user, its start and end in seconds, and its processors.
    type Placed = (usize, i64, i64, ProcSet);

    proptest! {
        /// Plans random queues with random running tasks, a reservation and limits. Checks that no processor is used
        /// twice, that each start keeps the limit of its user, and that the plan contains exactly the jobs that fit the
        /// limit of their user.
        #[test]
        fn plans_keep_limits(
            ends in proptest::collection::vec((1_i64..20, 0_usize..2), 0..3),
            tasks in proptest::collection::vec((1_u32..=4, 1_i64..9, 0_usize..2), 1..15),
            limits in proptest::collection::vec(proptest::option::of(1_u32..=4), 2),
            (start, length, first) in (0_i64..30, 1_i64..30, 1_u32..4),
        ) {
            let seconds = Time::from_seconds;
            let running: Vec<Placed> = ends.iter().enumerate()
                .map(|(at, &(end, user))| (user, 0, end, ProcSet::range(at as u32, at as u32))).collect();
            let reserved = (usize::MAX, start, start + length, ProcSet::range(first, PROCESSORS - 1));
            // A running task may have started before the reservation was made.
            let closed = running.iter().chain([&reserved]).map(|(_, start, end, processors)| Unavailable {
                start: seconds(*start), end: seconds(*end), processors: processors.clone(),
            });
            let jobs = tasks.iter().enumerate()
                .map(|(at, &(width, length, _))| Job::new(at.to_string(), Profile::rigid(width, seconds(length)).unwrap()));
            let instance = Instance::new(Platform::flat(PROCESSORS).unwrap(), jobs.collect(), closed.collect()).unwrap();
            let limits: ProcessorLimits = USERS.iter().zip(limits)
                .filter_map(|(user, limit)| Some(((*user).to_owned(), limit?))).collect();
            let uses: Vec<ProcessorUse> = running.iter().map(|(user, _, end, processors)| ProcessorUse {
                user: USERS[*user].into(), processors: processors.len(), until: seconds(*end),
            }).collect();
            let mut owners: Vec<usize> = (0..tasks.len()).collect();
            let instance = with_limits(instance, &mut owners, |at| Some(USERS[tasks[*at].2]), &uses, &limits).unwrap();
            let fits = |at: &usize| limits.get(USERS[tasks[*at].2]).is_none_or(|&limit| tasks[*at].0 <= limit);
            prop_assert_eq!(&owners, &(0..tasks.len()).filter(fits).collect::<Vec<_>>());
            let (schedule, _) = planned_within(&instance, 50).unwrap();
            prop_assert_eq!(schedule.placements().len(), owners.len());
            let whole = |time: Time| time.ticks() / Time::TICKS_PER_SECOND;
            let placed: Vec<Placed> = schedule.placements().iter().map(|at| {
                (tasks[owners[at.task.index()]].2, whole(at.start), whole(at.end), at.processors.clone())
            }).collect();
            for (at, (user, start, end, processors)) in placed.iter().enumerate() {
                let others = placed.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, one)| one);
                let others: Vec<&Placed> = others.chain(&running).collect();
                for (_, other_start, other_end, other) in others.iter().copied().chain([&reserved]) {
                    prop_assert!(other_end <= start || end <= other_start || other.is_disjoint(processors));
                }
                let at_once = others.iter().filter(|one| one.0 == *user && one.1 <= *start && *start < one.2);
                let used: u32 = at_once.map(|one| one.3.len()).sum();
                let limit = limits.get(USERS[*user]).copied().unwrap_or(PROCESSORS);
                prop_assert!(used + processors.len() <= limit, "{placed:?}");
            }
        }
    }
}
