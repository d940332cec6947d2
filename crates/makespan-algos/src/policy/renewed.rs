//! A policy that is replaced by a new one when unavailable periods are announced.

use std::fmt;

use makespan_core::{Decision, Event, Instance, LogEntry, Policy, TaskId, Unavailable, View};

/// A function that creates a policy for an instance. The function returns `None` if the policy does not support the
/// instance.
type Make<'a> = Box<dyn Fn(&Instance) -> Option<Box<dyn Policy>> + 'a>;

/// A policy for a cluster on which unavailable periods may be announced ([`makespan_core::Cluster::announce`]). A
/// policy usually reads the periods of the instance only at its first event. So if the periods change, a new policy
/// with equal rules replaces the old policy, as when a run is resumed. The new policy receives the log, and reads
/// running and waiting tasks from the view. If the new policy does not support unavailable periods, the old policy
/// continues. The old policy may then start tasks that are still running when a period begins.
pub struct RenewedPolicy<'a> {
    policy: Box<dyn Policy>,
    make: Make<'a>,
    /// The periods that the policy knows.
    periods: Vec<Unavailable>,
    told: Vec<LogEntry>,
    /// Log entries of earlier policies that the caller has not received yet.
    untold: Vec<LogEntry>,
    failed: Vec<TaskId>,
}

impl<'a> RenewedPolicy<'a> {
    /// Returns a policy that begins as `policy`. Whenever the unavailable periods have changed, `make` creates a
    /// policy that replaces the current policy.
    pub fn new(
        policy: Box<dyn Policy>,
        instance: &Instance,
        make: impl Fn(&Instance) -> Option<Box<dyn Policy>> + 'a,
    ) -> Self {
        let (told, untold, failed) = (Vec::new(), Vec::new(), Vec::new());
        let periods = instance.unavailable().to_vec();
        Self { policy, make: Box::new(make), periods, told, untold, failed }
    }

    /// Returns whether the periods have changed since the last event.
    fn has_other_periods(&mut self, view: &View<'_>) -> bool {
        let new = view.instance.unavailable();
        let others = self.periods != new;
        if others {
            self.periods = new.to_vec();
        }
        others
    }

    /// Returns the first events of a new policy: the submissions of all waiting tasks, and the failures of all nodes
    /// that are down. If tasks depend on other tasks, also returns the failures of all failed tasks.
    fn all(&self, view: &View<'_>) -> Vec<Event> {
        let instance = view.instance;
        let failed = self.failed.iter().copied().map(Event::Failed).filter(|_| !instance.edges().is_empty());
        let mut events: Vec<Event> = failed.chain(view.waiting.iter().map(Event::Submitted)).collect();
        for &(first, last) in view.down.iter().flat_map(|down| down.processors.intervals()) {
            let nodes = instance.platform().node_of(first)..=instance.platform().node_of(last);
            events.extend(nodes.filter(|&node| instance.platform().nodes()[node].processors > 0).map(Event::NodeDown));
        }
        events.sort_by_key(Event::order);
        events.dedup();
        if events.is_empty() { vec![Event::Wake] } else { events }
    }
}

impl Policy for RenewedPolicy<'_> {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let failed = events.iter().filter_map(|event| if let Event::Failed(task) = event { Some(*task) } else { None });
        self.failed.extend(failed);
        if self.has_other_periods(view)
            && let Some(mut policy) = (self.make)(view.instance)
        {
            let last = self.policy.log();
            self.told.extend(last.iter().copied());
            self.untold.extend(last);
            policy.recall(&self.told);
            self.policy = policy;
            let all = self.all(view);
            return self.policy.on(&all, view, decisions);
        }
        self.policy.on(events, view, decisions);
    }

    fn log(&mut self) -> Vec<LogEntry> {
        let new = self.policy.log();
        self.told.extend(new.iter().copied());
        let mut all = std::mem::take(&mut self.untold);
        all.extend(new);
        all
    }

    fn recall(&mut self, told: &[LogEntry]) {
        self.told.extend(told.iter().copied());
        self.policy.recall(told);
    }
}

impl fmt::Debug for RenewedPolicy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Renewed").field("periods", &self.periods).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use makespan_core::{Cluster, Job, Outage, Platform, ProcSet, Profile, Time};
    use proptest::prelude::*;

    use super::*;
    use crate::policy::{policies, policy_for};

    /// A run in which an unavailable period is announced. After the announcement, `closes` is the start of the period.
    struct Driven<'a> {
        cluster: Cluster<'a>,
        closed: ProcSet,
        closes: Option<Time>,
        wake: Option<Time>,
    }

    impl Driven<'_> {
        /// Sends events to a policy, and starts the tasks that the policy chooses. Checks that no task runs into the
        /// period.
        fn tell(&mut self, policy: &mut dyn Policy, mut events: Vec<Event>) {
            events.sort_by_key(Event::order);
            let mut decisions = Vec::new();
            self.wake = None;
            policy.on(&events, &self.cluster.view(), &mut decisions);
            for decision in decisions {
                match decision {
                    Decision::Start { task, processors } => {
                        let end = self.cluster.now() + self.cluster.instance().time(task, &processors);
                        let meets = !processors.is_disjoint(&self.closed) && self.closes.is_some_and(|at| end > at);
                        assert!(!meets, "task {} ends at {end} on {processors}", task.0);
                        self.cluster.start(task, processors).unwrap();
                    }
                    Decision::WakeAt(at) => self.wake = Some(self.wake.map_or(at, |wake| wake.min(at))),
                    Decision::Cancel(_) | Decision::Limit { .. } => unreachable!("nothing is given up"),
                }
            }
        }

        fn end_of_running(&self, last: bool) -> Option<Time> {
            let instance = self.cluster.instance();
            let ends = self.cluster.running().iter().map(|run| run.start + instance.time(run.task, &run.processors));
            if last { ends.max() } else { ends.min() }
        }
    }

    /// Executes a run in which half of the processors close for a minute. The period is announced at event number
    /// `at_event`.
    fn drive(spec: &str, instance: &Instance, at_event: usize) {
        let make = |instance: &Instance| policy_for(spec, instance, 1).ok();
        let mut policy = RenewedPolicy::new(make(instance).unwrap(), instance, make);
        let half = ProcSet::first(instance.processors() / 2);
        let mut driven = Driven { cluster: Cluster::new(instance), closed: half, closes: None, wake: None };
        let minute = Time::from_seconds(60);
        let mut events: Vec<Event> =
            instance.task_ids().filter(|&task| driven.cluster.submit(task)).map(Event::Submitted).collect();
        let (mut is_down, mut is_over) = (false, false);
        for event in 0..1000 {
            if event == at_event {
                // The period begins after the running tasks have ended, so that the period does not interrupt them.
                let start = driven.end_of_running(true).unwrap_or(driven.cluster.now()) + Time::from_seconds(7);
                driven.closes = Some(start);
                let period = Unavailable { processors: driven.closed.clone(), start, end: start + minute };
                assert!(driven.cluster.announce(vec![period]));
            }
            driven.tell(&mut policy, std::mem::take(&mut events));
            let closes = driven.closes.filter(|_| !is_over);
            let change = closes.map(|at| if is_down { at + minute } else { at });
            let end = driven.end_of_running(false);
            let Some(next) =
                [driven.wake, change.filter(|_| !driven.cluster.waiting().is_empty()), end].into_iter().flatten().min()
            else {
                break;
            };
            driven.cluster.advance(next);
            let ended: Vec<TaskId> = driven
                .cluster
                .running()
                .iter()
                .filter(|run| run.start + instance.time(run.task, &run.processors) <= next)
                .map(|run| run.task)
                .collect();
            for task in ended {
                let run = driven.cluster.end(task).unwrap();
                driven.cluster.succeed(task, next, &run.processors);
                events.push(Event::Finished(task));
            }
            if change == Some(next) && !is_down {
                is_down = true;
                driven.cluster.fail(Outage(0), &driven.closed.clone(), None);
                events.push(Event::NodeDown(0));
            } else if change == Some(next) {
                is_over = true;
                driven.closes = None;
                driven.cluster.repair(Outage(0));
                assert!(driven.cluster.announce(vec![]));
                events.push(Event::NodeUp(0));
            }
            if events.is_empty() {
                events.push(Event::Wake);
            }
        }
        assert!(driven.cluster.waiting().is_empty(), "{spec}: {:?} wait", driven.cluster.waiting().len());
        assert!(driven.cluster.running().is_empty(), "{spec}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn no_policy_starts_what_would_run_into_a_period_that_was_announced(
            shapes in prop::collection::vec((1_u32..=2, 1_i64..20), 1..12),
            at_event in 0_usize..4,
        ) {
            let job = |(index, (processors, seconds)): (usize, (u32, i64))| {
                Job::new(format!("j{index}"), Profile::rigid(processors, Time::from_seconds(seconds)).unwrap())
            };
            let jobs = shapes.into_iter().enumerate().map(job).collect();
            let instance = Instance::new(Platform::cluster(2, 2).unwrap(), jobs, vec![]).unwrap();
            let closed = Unavailable { processors: ProcSet::first(1), start: Time::ZERO, end: Time::from_seconds(1) };
            let with_period = Instance::new(Platform::cluster(2, 2).unwrap(), instance.all_submitted(), vec![closed]).unwrap();
            for entry in policies() {
                // A policy that does not support unavailable periods continues after the announcement.
                if policy_for(entry.name, &instance, 1).is_ok() && policy_for(entry.name, &with_period, 1).is_ok() {
                    drive(entry.name, &instance, at_event);
                }
            }
        }
    }
}
