//! Withholds two kinds of tasks from the policy. Tasks with which a user would exceed the user's maximum number of
//! processors are withheld. While a round (one run of the engine) is being ended, tasks of jobs that have not started
//! are withheld as well.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use makespan::policy::RenewedPolicy;
use makespan_core::{Decision, Event, LogEntry, Policy, TaskId, TaskSet, View};

use super::owners::Owners;
use super::quota::ProcessorLimits;
use crate::words::JobNumber;

/// The limits on the tasks that the policy receives.
#[derive(Debug, Default)]
pub(super) struct AdmissionLimits {
    /// The maximum number of processors that a user may use at once, for each user with a limit.
    pub processors: ProcessorLimits,
    /// The positions of planned tasks in the plan. Tasks of a user with a limit start in this order.
    pub order: BTreeMap<(JobNumber, u64), usize>,
    /// The jobs that have started, if the round is being ended. Tasks of other jobs then do not start.
    pub begun: Option<BTreeSet<JobNumber>>,
}

/// A policy that receives only the tasks that the limits admit.
pub(super) struct Admission {
    inner: RenewedPolicy<'static>,
    owners: Arc<Mutex<Owners>>,
    limits: Arc<Mutex<AdmissionLimits>>,
    /// Tasks that the inner policy has not received.
    withheld: BTreeSet<TaskId>,
    /// The processor limits at the last event.
    known: ProcessorLimits,
}

impl Admission {
    pub fn new(inner: RenewedPolicy<'static>, owners: Arc<Mutex<Owners>>, limits: Arc<Mutex<AdmissionLimits>>) -> Self {
        Self { inner, owners, limits, withheld: BTreeSet::new(), known: BTreeMap::new() }
    }

    /// Removes tasks that must be withheld from the events, and adds tasks that are now admitted.
    fn sift(&mut self, events: &[Event], view: &View<'_>) -> Vec<Event> {
        let owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        let limited =
            |task: TaskId| owners.of(task).is_some_and(|(owned, _)| limits.processors.contains_key(&owned.user));
        if limits.processors != self.known {
            // Tasks that the inner policy has received are taken back, because they may exceed a new limit.
            self.known.clone_from(&limits.processors);
            self.withheld.extend(view.waiting.iter().filter(|&task| limited(task)));
            self.inner.renew();
        }
        let mut passed = Vec::with_capacity(events.len());
        for &event in events {
            match event {
                Event::Submitted(task) if limits.begun.is_some() || limited(task) => _ = self.withheld.insert(task),
                Event::Failed(task) if self.withheld.remove(&task) => {}
                Event::Estimated(task) if self.withheld.contains(&task) => {}
                event => passed.push(event),
            }
        }
        if let Some(begun) = &limits.begun {
            let goes_on = |task: &TaskId| owners.of(*task).is_some_and(|(owned, _)| begun.contains(&owned.job));
            let admitted: Vec<TaskId> = self.withheld.iter().copied().filter(goes_on).collect();
            admitted.iter().for_each(|task| _ = self.withheld.remove(task));
            passed.extend(admitted.into_iter().map(Event::Submitted));
            return passed;
        }
        let most = |task: TaskId| view.instance.profile(task).max_processors();
        let mut used: BTreeMap<&str, u32> = BTreeMap::new();
        let waiting = view.waiting.iter().filter(|task| !self.withheld.contains(task)).map(|task| (task, most(task)));
        for (task, width) in view.running.iter().map(|run| (run.task, run.processors.len())).chain(waiting) {
            if let Some((owned, _)) = owners.of(task).filter(|(owned, _)| limits.processors.contains_key(&owned.user)) {
                *used.entry(&owned.user).or_default() += width;
            }
        }
        let place = |task: TaskId| {
            let (owned, number) = owners.of(task)?;
            limits.order.get(&(owned.job, number)).copied()
        };
        let mut order: Vec<TaskId> = self.withheld.iter().copied().collect();
        order.sort_by_key(|&task| (place(task).unwrap_or(usize::MAX), task));
        let (mut admitted, mut full) = (Vec::new(), BTreeSet::new());
        for task in order {
            let Some((owned, _)) = owners.of(task) else { continue };
            let used = used.entry(&owned.user).or_default();
            let limit = limits.processors.get(&owned.user).copied().unwrap_or(u32::MAX);
            // A task that needs more than the limit never starts, so it delays no other task.
            if most(task) > limit || full.contains(&*owned.user) {
                continue;
            }
            if used.saturating_add(most(task)) <= limit {
                *used += most(task);
                admitted.push(task);
            } else {
                full.insert(&*owned.user);
            }
        }
        admitted.iter().for_each(|task| _ = self.withheld.remove(task));
        passed.extend(admitted.into_iter().map(Event::Submitted));
        passed
    }

    /// Returns true if there are no limits, there were none at the last event, and no tasks are withheld.
    fn is_idle(&self) -> bool {
        let limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        let are_unlimited = self.known.is_empty() && limits.processors.is_empty();
        self.withheld.is_empty() && are_unlimited && limits.begun.is_none()
    }
}

impl Policy for Admission {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        if self.is_idle() {
            return self.inner.on(events, view, decisions);
        }
        let mut passed = self.sift(events, view);
        if passed.is_empty() {
            passed.push(Event::Wake);
        }
        passed.sort_by_key(Event::order);
        let waiting: TaskSet = view.waiting.iter().filter(|task| !self.withheld.contains(task)).collect();
        self.inner.on(&passed, &View { waiting: &waiting, ..*view }, decisions);
    }

    fn log(&mut self) -> Vec<LogEntry> {
        self.inner.log()
    }

    fn recall(&mut self, told: &[LogEntry]) {
        self.inner.recall(told);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use makespan::policy::{Improve, Improving};
    use makespan_core::{EndedTasks, Instance, Job, Platform, ProcSet, Profile, Running, Time};
    use proptest::prelude::*;

    use super::*;
    use crate::store::HandedJob;

    const PROCESSORS: u32 = 4;
    const USERS: [&str; 2] = ["ann", "bob"];

    /// Returns a job of one task. `at` is the number of jobs before it.
    pub fn handed(at: usize, user: &str) -> HandedJob {
        HandedJob {
            job: JobNumber(at as u64 + 1),
            position: at as u64 + 1,
            name: at.to_string(),
            user: user.into(),
            title: String::new(),
            tasks: 1,
            weight: 1_000_000,
            submitted: 0,
            release: 0,
            deadline: None,
            after: Vec::new(),
            spec: String::new(),
            directory: None,
            environment: BTreeMap::new(),
        }
    }

    fn policy() -> Box<dyn Policy> {
        Box::new(Improve::new(Improving { steps: 20, ..Improving::default() }, 0))
    }

    proptest! {
        /// Runs random queues while limits are set, changed and removed at random events. Checks that no start exceeds
        /// the limit at its instant, and that at the end only tasks are left that exceed a limit alone.
        #[test]
        fn starts_keep_the_limits_of_their_instant(
            tasks in proptest::collection::vec((1_u32..=4, 1_i64..9, 0_usize..2), 1..15),
            changes in proptest::collection::vec((0_usize..20, 0_usize..2, proptest::option::of(1_u32..=4)), 0..8),
            order in proptest::collection::vec(0_usize..20, 15),
        ) {
            let jobs = tasks.iter().enumerate()
                .map(|(at, &(width, length, _))| Job::new(at.to_string(), Profile::rigid(width, Time::from_seconds(length)).unwrap()));
            let instance = Instance::new(Platform::flat(PROCESSORS).unwrap(), jobs.collect(), Vec::new()).unwrap();
            let mut owners = Owners::default();
            tasks.iter().enumerate().for_each(|(at, task)| owners.push(&handed(at, USERS[task.2])));
            let planned = order.iter().enumerate().map(|(at, &place)| ((JobNumber(at as u64 + 1), 0), place));
            let limits = Arc::new(Mutex::new(AdmissionLimits { order: planned.collect(), ..AdmissionLimits::default() }));
            let inner = RenewedPolicy::new(policy(), &instance, |_: &Instance| Some(policy()));
            let mut admission = Admission::new(inner, Arc::new(Mutex::new(owners)), Arc::clone(&limits));
            let mut waiting: BTreeSet<TaskId> = (0..tasks.len() as u64).map(TaskId).collect();
            let mut events: Vec<Event> = waiting.iter().copied().map(Event::Submitted).collect();
            let (mut running, mut now): (Vec<Running>, Time) = (Vec::new(), Time::ZERO);
            for event in 0.. {
                let mut current = limits.lock().unwrap();
                for (_, user, limit) in changes.iter().filter(|(at, ..)| *at == event) {
                    match limit {
                        Some(limit) => _ = current.processors.insert(USERS[*user].into(), *limit),
                        None => _ = current.processors.remove(USERS[*user]),
                    }
                }
                let current = { let processors = current.processors.clone(); drop(current); processors };
                let free = running.iter().fold(ProcSet::first(PROCESSORS), |free, run| free.difference(&run.processors));
                let set: TaskSet = waiting.iter().copied().collect();
                let view = View {
                    now, instance: &instance, waiting: &set, running: &running, free: &free, down: &[], ended: EndedTasks::default(),
                };
                let mut decisions = Vec::new();
                admission.on(&events, &view, &mut decisions);
                for decision in decisions {
                    let Decision::Start { task, processors } = decision else { continue };
                    prop_assert!(waiting.remove(&task));
                    let user = tasks[task.index()].2;
                    running.push(Running { task, start: now, processors });
                    let own = running.iter().filter(|run| tasks[run.task.index()].2 == user);
                    let used: u32 = own.map(|run| run.processors.len()).sum();
                    prop_assert!(current.get(USERS[user]).is_none_or(|&limit| used <= limit), "{user} uses {used}");
                }
                let end = |run: &Running| run.start + Time::from_seconds(tasks[run.task.index()].1);
                match (0..running.len()).min_by_key(|&at| (end(&running[at]), running[at].task)) {
                    Some(first) => {
                        now = end(&running[first]);
                        events = vec![Event::Finished(running.remove(first).task)];
                    }
                    None if event < 20 => events = vec![Event::Wake],
                    None => {
                        let exceeds = |task: &TaskId| {
                            let (width, _, user) = tasks[task.index()];
                            current.get(USERS[user]).is_some_and(|&limit| width > limit)
                        };
                        prop_assert!(waiting.iter().all(exceeds), "{waiting:?} {current:?}");
                        break;
                    }
                }
            }
        }
    }
}
