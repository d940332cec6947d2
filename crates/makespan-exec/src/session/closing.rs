//! Handles processors that will go down at a known time.

use std::time::Duration;

use makespan_core::{Estimate, Instance, Outage, ProcSet, TaskId, Time, Unavailable};

use super::Session;
use crate::clock::ticks;

/// Assumed length of an outage. The engine reports longer outages ([`crate::engine::Notice::Down`]).
const AWAY: Time = Time::from_seconds(60);

/// Returns whether the run time of a task is a guess.
pub(super) fn is_guess(instance: &Instance, task: TaskId) -> bool {
    matches!(instance.task(task).estimate, Estimate::Guessed)
}

impl Session<'_> {
    /// Announces when processors will go down, or withdraws the announcement if `after` is `None`. Policies that
    /// respect unavailable periods do not plan tasks in this period. If long run times are guesses, announces nothing,
    /// because a task with a long guess might then never start.
    pub(super) fn announce(&mut self, outage: Outage, processors: ProcSet, after: Option<Duration>) {
        self.policy.closings.retain(|(other, _)| *other != outage);
        if let Some(after) = after.map(ticks)
            && !self.has_long_guesses(after)
        {
            let start = self.now() + after;
            self.policy.closings.push((outage, Unavailable { processors, start, end: start + AWAY }));
        }
        let periods = self.policy.closings.iter().map(|(_, period)| period.clone()).collect();
        // A period that is too far in the future for the planner is ignored.
        let _ = self.state.cluster.announce(periods);
    }

    /// Returns whether a task that has not started has a guessed run time of more than half of `before`.
    fn has_long_guesses(&self, before: Time) -> bool {
        let instance = self.state.cluster.instance();
        let left = self.state.cluster.waiting().iter().chain(self.state.unreleased.iter().copied());
        instance.has_guesses()
            && left
                .into_iter()
                .any(|task| is_guess(instance, task) && instance.profile(task).shortest() > before.divided_by(2.0))
    }

    /// Reports the waiting tasks to the engine.
    pub(super) fn tell_waiting(&mut self) {
        let (waiting, instance) = (self.state.cluster.waiting(), self.state.cluster.instance());
        let shortest = || {
            if waiting.iter().any(|task| is_guess(instance, task)) {
                return None;
            }
            let shortest = waiting.iter().map(|task| instance.profile(task).shortest()).min()?;
            Some(Duration::from_nanos(u64::try_from(shortest.ticks()).unwrap_or(0)))
        };
        self.machine.engine.hear_waiting(waiting.len(), &shortest);
    }
}
