//! A domain with the queue of its owners.

use makespan_core::{Decision, Event, Instance, Policy, ProcSet, Running, TaskId, TaskSet, Time, Unavailable, View};

use super::{DomainError, DomainRules};
use crate::policy::catalogue::{policy, policy_for};
use crate::policy::expected::expected_starts;

/// A domain, its local policy, and the state that the policy sees.
pub(super) struct Domain {
    rules: DomainRules,
    seed: u64,
    /// The processors of all other domains. The local policy sees them as down.
    others: ProcSet,
    local: Box<dyn Policy>,
    /// Events that the local policy has not received.
    events: Vec<Event>,
    /// The waiting tasks of owners.
    waiting: TaskSet,
    /// The running tasks of owners after the last decisions.
    running: Vec<Running>,
    /// The processors that are down or run tasks of users.
    closed: Vec<Unavailable>,
    /// The wake-up that the local policy has requested.
    wake: Option<Time>,
    /// The expected runs of the waiting tasks of owners.
    forecast: Vec<Unavailable>,
    /// Whether the forecast is out of date.
    stale: bool,
}

impl Domain {
    pub(super) fn new(rules: DomainRules, instance: &Instance, seed: u64) -> Result<Self, DomainError> {
        let of_policy = |source| DomainError::Policy { domain: rules.name.clone(), source };
        let owners = instance.with_jobs(rules.owners.iter().map(|&job| instance.submitted(job)).collect());
        let local = policy_for(&rules.policy, &owners, seed).map_err(of_policy)?;
        for job in rules.owners.iter().map(|&job| instance.job(job)) {
            let needs = job.task_ids().map(|task| instance.profile(task).min_processors()).max().unwrap_or(0);
            let has = rules.processors.len();
            if needs > has {
                let (domain, job) = (rules.name.clone(), job.name.clone());
                return Err(DomainError::Wide { domain, job, needs, has });
            }
        }
        Ok(Self {
            others: ProcSet::first(instance.processors()).difference(&rules.processors),
            rules,
            seed,
            local,
            events: Vec::new(),
            waiting: TaskSet::new(),
            running: Vec::new(),
            closed: Vec::new(),
            wake: None,
            forecast: Vec::new(),
            stale: false,
        })
    }

    /// Stores an event for the local policy.
    pub(super) fn hear(&mut self, event: Event) {
        match event {
            Event::Submitted(task) | Event::Interrupted(task) => _ = self.waiting.insert(task),
            Event::Failed(task) => _ = self.waiting.remove(task),
            _ => {}
        }
        if !self.events.contains(&event) {
            self.events.push(event);
        }
    }

    /// Returns the instant at which the local policy must be called.
    pub(super) fn wake(&self) -> Option<Time> {
        self.wake
    }

    /// Calls the local policy if it has events or a wake-up is due. Adds the decisions of the policy to `decisions`.
    /// Returns the processors on which jobs start, or `None` if the policy was not called. `visits` contains the
    /// running tasks of users in this domain.
    pub(super) fn decide(
        &mut self,
        view: &View<'_>,
        is_own: &dyn Fn(TaskId) -> bool,
        visits: Vec<Unavailable>,
        decisions: &mut Vec<Decision>,
    ) -> Option<ProcSet> {
        let due = self.wake.is_some_and(|wake| wake <= view.now);
        if self.events.is_empty() && !due {
            return None;
        }
        let mut events = std::mem::take(&mut self.events);
        if events.is_empty() {
            events.push(Event::Wake);
        }
        events.sort_by_key(Event::order);
        self.running = view.running.iter().filter(|run| is_own(run.task)).cloned().collect();
        self.closed = self.closures(view, visits);
        let free = view.free.difference(&self.others);
        let own = View { waiting: &self.waiting, running: &self.running, free: &free, down: &self.closed, ..*view };
        let mut made = Vec::new();
        self.local.on(&events, &own, &mut made);
        (self.wake, self.stale) = (take_wake(&mut made), true);
        let mut started = ProcSet::new();
        for decision in &made {
            match decision {
                Decision::Start { task, processors } => {
                    self.waiting.remove(*task);
                    started.insert(processors);
                    let processors = processors.clone();
                    self.running.push(Running { task: *task, start: view.now, processors });
                }
                Decision::Cancel(task) => _ = self.waiting.remove(*task),
                Decision::WakeAt(_) | Decision::Limit { .. } => {}
            }
        }
        decisions.append(&mut made);
        Some(started)
    }

    /// Returns the periods in which the local policy cannot use processors: failures, tasks of users, and the
    /// processors of other domains.
    fn closures(&self, view: &View<'_>, visits: Vec<Unavailable>) -> Vec<Unavailable> {
        let own = |down: &Unavailable| {
            let processors = down.processors.intersection(&self.rules.processors);
            (!processors.is_empty()).then(|| Unavailable { processors, ..down.clone() })
        };
        let mut closed: Vec<Unavailable> = view.down.iter().filter_map(own).chain(visits).collect();
        if !self.others.is_empty() {
            let processors = self.others.clone();
            closed.push(Unavailable { processors, start: Time::ZERO, end: Time::MAX });
        }
        closed
    }

    /// Updates the forecast of the waiting tasks of owners if the local policy was called since the last forecast, or
    /// if a forecast start has passed.
    pub(super) fn forecast(&mut self, view: &View<'_>) {
        if !self.stale && self.forecast.iter().all(|period| period.start >= view.now) {
            return;
        }
        self.stale = false;
        self.forecast.clear();
        if self.waiting.is_empty() {
            return;
        }
        // A policy with this spec was created before, so this call succeeds.
        let Ok(mut copy) = policy(&self.rules.policy, self.seed) else { return };
        let mut busy = self.others.clone();
        self.running.iter().for_each(|run| busy.insert(&run.processors));
        self.closed.iter().for_each(|closed| busy.insert(&closed.processors));
        let free = self.rules.processors.difference(&busy);
        let own = View { waiting: &self.waiting, running: &self.running, free: &free, down: &self.closed, ..*view };
        for expected in expected_starts(copy.as_mut(), &own) {
            let end = expected.start + view.instance.time(expected.task, &expected.processors);
            let processors = expected.processors;
            self.forecast.push(Unavailable { processors, start: expected.start, end });
        }
    }

    /// Returns the periods in which the metascheduler cannot use processors of this domain: the expected runs of
    /// running and waiting tasks of owners.
    pub(super) fn periods(&self, instance: &Instance, now: Time) -> impl Iterator<Item = Unavailable> + '_ {
        let running = self.running.iter().map(move |run| Unavailable {
            processors: run.processors.clone(),
            start: now,
            end: run.expected_end(instance, now),
        });
        running.collect::<Vec<_>>().into_iter().chain(self.forecast.iter().cloned())
    }
}

/// Removes the wake-ups from the decisions of a policy. Returns the earliest one.
pub(super) fn take_wake(decisions: &mut Vec<Decision>) -> Option<Time> {
    let mut wake = None;
    decisions.retain(|decision| {
        let Decision::WakeAt(at) = *decision else { return true };
        wake = wake.into_iter().chain([at]).min();
        false
    });
    wake
}
