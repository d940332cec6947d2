//! A domain with the queue of its owners.

use makespan_core::{Decision, Event, Instance, Policy, ProcSet, Running, TaskId, TaskSet, Time, Unavailable, View};

use super::{DomainError, DomainRules};
use crate::policy::catalogue::{policy, policy_for};
use crate::policy::expected::{expected_starts, expected_starts_from};

/// A domain, its local policy, and the state that the policy sees.
pub(super) struct Domain {
    rules: DomainRules,
    seed: u64,
    /// The processors of all other domains. The local policy sees them as down.
    others: ProcSet,
    local: Box<dyn Policy>,
    /// Whether the local policy can be copied.
    can_copy: bool,
    /// Whether the local policy sees the tasks of users. A policy that cannot be copied always sees them. Other policies
    /// see them from a decision that needs a processor of a user until no task of a user runs in the domain.
    sees_users: bool,
    /// Events that the local policy has not received.
    events: Vec<Event>,
    /// The waiting tasks of owners.
    waiting: TaskSet,
    /// The running tasks of owners after the last decisions.
    running: Vec<Running>,
    /// The processors that are down, or run tasks of users that the local policy sees.
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
        let mut local = policy_for(&rules.policy, &owners, seed).map_err(of_policy)?;
        for job in rules.owners.iter().map(|&job| instance.job(job)) {
            let needs = job.task_ids().map(|task| instance.profile(task).min_processors()).max().unwrap_or(0);
            let has = rules.processors.len();
            if needs > has {
                let (domain, job) = (rules.name.clone(), job.name.clone());
                return Err(DomainError::Wide { domain, job, needs, has });
            }
        }
        local.confine(&rules.processors);
        let can_copy = local.copy().is_some();
        Ok(Self {
            can_copy,
            sees_users: !can_copy,
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

    /// Stores an event for the local policy: a node gets a task of a user, or such a task stops running.
    pub(super) fn hear_user(&mut self, event: Event) {
        if self.sees_users {
            self.hear(event);
        }
    }

    /// Calls the local policy if it has events or a wake-up is due. Adds the decisions of the policy to `decisions`.
    /// Returns the processors on which jobs start, or `None` if the policy was not called. `visits` contains the
    /// running tasks of users in this domain.
    pub(super) fn decide(
        &mut self,
        view: &View<'_>,
        is_own: &dyn Fn(TaskId) -> bool,
        visits: &[Unavailable],
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
        let mut made = self.ask(events, view, visits);
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

    /// Returns the decisions of the local policy. A policy that can be copied first decides as if there were no users.
    /// So the scheduling cycles of such a policy do not depend on users. If a decision needs a processor of a user, the
    /// policy decides again and sees the tasks of users.
    fn ask(&mut self, mut events: Vec<Event>, view: &View<'_>, visits: &[Unavailable]) -> Vec<Decision> {
        let mut made = Vec::new();
        if self.sees_users || visits.is_empty() {
            self.call(&events, view, visits, &mut made);
            self.sees_users &= !(self.can_copy && visits.is_empty());
            return made;
        }
        let before = self.local.copy();
        self.call(&events, view, &[], &mut made);
        let needs_visited = |decision: &Decision| match decision {
            Decision::Start { processors, .. } => visits.iter().any(|one| !one.processors.is_disjoint(processors)),
            _ => false,
        };
        if made.iter().any(needs_visited)
            && let Some(before) = before
        {
            (self.local, self.sees_users) = (before, true);
            made.clear();
            let node = |visit: &Unavailable| Some(view.instance.platform().node_of(visit.processors.last()?));
            events.extend(visits.iter().filter_map(node).map(Event::NodeDown));
            events.sort_by_key(Event::order);
            events.dedup();
            self.call(&events, view, visits, &mut made);
        }
        made
    }

    /// Calls the local policy. `visits` contains the running tasks of users that the policy sees.
    fn call(&mut self, events: &[Event], view: &View<'_>, visits: &[Unavailable], made: &mut Vec<Decision>) {
        self.closed = self.closures(view, visits);
        let free = self.free(view);
        let own = View { waiting: &self.waiting, running: &self.running, free: &free, down: &self.closed, ..*view };
        self.local.on(events, &own, made);
    }

    /// Returns the processors that are free for the local policy.
    fn free(&self, view: &View<'_>) -> ProcSet {
        let mut busy = self.others.clone();
        self.running.iter().for_each(|run| busy.insert(&run.processors));
        self.closed.iter().for_each(|closed| busy.insert(&closed.processors));
        let now = |period: &&Unavailable| period.start <= view.now && view.now < period.end;
        view.instance.unavailable().iter().filter(now).for_each(|period| busy.insert(&period.processors));
        self.rules.processors.difference(&busy)
    }

    /// Returns the periods in which the local policy cannot use processors: failures, tasks of users, and the
    /// processors of other domains.
    fn closures(&self, view: &View<'_>, visits: &[Unavailable]) -> Vec<Unavailable> {
        let own = |down: &Unavailable| {
            let processors = down.processors.intersection(&self.rules.processors);
            (!processors.is_empty()).then(|| Unavailable { processors, ..down.clone() })
        };
        let mut closed: Vec<Unavailable> = view.down.iter().filter_map(own).chain(visits.iter().cloned()).collect();
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
        let free = self.free(view);
        let own = View { waiting: &self.waiting, running: &self.running, free: &free, down: &self.closed, ..*view };
        let starts = match self.local.copy() {
            Some(mut copy) => expected_starts_from(copy.as_mut(), &own, self.wake),
            // A policy with this spec was created before, so this call succeeds.
            None => policy(&self.rules.policy, self.seed)
                .map(|mut new| expected_starts(new.as_mut(), &own))
                .unwrap_or_default(),
        };
        for expected in starts {
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
