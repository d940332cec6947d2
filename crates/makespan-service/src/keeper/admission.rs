//! Withholds two kinds of tasks from the policy. Tasks with which a user would exceed the user's maximum number of
//! processors are withheld. While a round (one run of the engine) is being ended, tasks of jobs that have not started
//! are withheld as well.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use makespan_core::{Decision, Event, LogEntry, Policy, TaskId, TaskSet, View};

use super::owners::Owners;
use crate::words::JobNumber;

/// The limits on the tasks that the policy receives.
#[derive(Debug, Default)]
pub(super) struct AdmissionLimits {
    /// The maximum number of processors that a user may use at once, for each user with a limit.
    pub processors: BTreeMap<String, u32>,
    /// The jobs that have started, if the round is being ended. Tasks of other jobs then do not start.
    pub begun: Option<BTreeSet<JobNumber>>,
}

/// A policy that receives only the tasks that the limits admit.
pub(super) struct Admission {
    inner: Box<dyn Policy>,
    owners: Arc<Mutex<Owners>>,
    limits: Arc<Mutex<AdmissionLimits>>,
    /// Tasks that the inner policy has not received.
    withheld: BTreeSet<TaskId>,
}

impl Admission {
    pub fn new(inner: Box<dyn Policy>, owners: Arc<Mutex<Owners>>, limits: Arc<Mutex<AdmissionLimits>>) -> Self {
        Self { inner, owners, limits, withheld: BTreeSet::new() }
    }

    /// Removes tasks that must be withheld from the events, and adds tasks that are now admitted.
    fn sift(&mut self, events: &[Event], view: &View<'_>) -> Vec<Event> {
        let owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        let limited =
            |task: TaskId| owners.of(task).is_some_and(|(owned, _)| limits.processors.contains_key(&owned.user));
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
        let mut admitted = Vec::new();
        for &task in &self.withheld {
            let Some((owned, _)) = owners.of(task) else { continue };
            let used = used.entry(&owned.user).or_default();
            let limit = limits.processors.get(&owned.user).copied().unwrap_or(u32::MAX);
            if used.saturating_add(most(task)) <= limit {
                *used += most(task);
                admitted.push(task);
            }
        }
        admitted.iter().for_each(|task| _ = self.withheld.remove(task));
        passed.extend(admitted.into_iter().map(Event::Submitted));
        passed
    }

    /// Returns true if there are no limits and no tasks are withheld.
    fn is_idle(&self) -> bool {
        let limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        self.withheld.is_empty() && limits.processors.is_empty() && limits.begun.is_none()
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
