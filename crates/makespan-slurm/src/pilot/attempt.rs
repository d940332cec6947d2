//! Running attempts, including attempts that a previous agent of this place started.

use std::time::{Duration, Instant};

use makespan_exec::Local;
use makespan_exec::engine::{EndedBy, Engine, ended_by};

use super::board::{AttemptProcess, PilotBoard};
use makespan_exec::order::{AttemptEnd, AttemptOrder};

/// Time after the walltime until the agent ends a task. A planner normally ends the task earlier.
const SLACK: Duration = Duration::from_secs(2);

/// A running attempt.
#[derive(Debug)]
pub(super) struct RunningAttempt {
    pub order: AttemptOrder,
    /// Instant from which this agent has watched the attempt. An inherited attempt started earlier.
    since: Instant,
    /// Instant of the request to end the attempt.
    pub asked: Option<Instant>,
    pub timed_out: bool,
    /// The process of an inherited attempt, which a previous agent started. This process wraps the task and does not
    /// need an agent: it continues, and writes the status file.
    left: Option<AttemptProcess>,
    /// True if this agent has seen the inherited attempt running.
    has_lived: bool,
}

impl RunningAttempt {
    /// Creates an attempt. `left` is its process if a previous agent started it.
    pub fn new(order: AttemptOrder, left: Option<AttemptProcess>) -> Self {
        let gpus = left.as_ref().and_then(|left| left.gpus.clone()).or(order.gpus);
        let order = AttemptOrder { gpus, ..order };
        Self { order, left, has_lived: false, since: Instant::now(), asked: None, timed_out: false }
    }

    pub fn is_inherited(&self) -> bool {
        self.left.is_some()
    }

    /// If the attempt is inherited and has ended, returns its fate. The flag is true if Slurm may have ended the attempt
    /// by stopping everything on this node.
    pub fn fate(&mut self, board: &PilotBoard, local: &Local, boot: &str) -> Option<(AttemptEnd, bool)> {
        let left = self.left.as_ref()?;
        if left.boot == boot && left.shim.is_alive() {
            self.has_lived = true;
            return None;
        }
        let by = ended_by(&board.run().join(&self.order.files.status));
        if by.is_none() && left.boot == boot {
            local.end_strays(&self.order.name);
        }
        Some(self.fate_if_ended(by))
    }

    fn fate_if_ended(&self, by: Option<EndedBy>) -> (AttemptEnd, bool) {
        match by {
            Some(_) if self.timed_out => (AttemptEnd::TimedOut, false),
            // The previous agent did not record the end. So the attempt ended together with that agent.
            Some(EndedBy::Signal) if !self.has_lived => (AttemptEnd::Gone, false),
            // The 0 is a placeholder: the planner reads the exit status of the task from the status file.
            Some(by) => (AttemptEnd::Exit(0), by == EndedBy::Signal && self.asked.is_none()),
            None => (AttemptEnd::Gone, false),
        }
    }

    pub fn end(&mut self, local: &mut Local, boot: &str, kill: bool) {
        self.asked.get_or_insert_with(Instant::now);
        match &self.left {
            None => local.end(self.order.task, kill),
            Some(left) if left.boot == boot => Local::end_shim(left.shim, kill),
            Some(_) => {}
        }
    }

    /// Returns true if the attempt must end because it has reached its walltime, and no planner has ended it.
    pub fn is_late(&self, now: Instant) -> bool {
        let limit = self.order.walltime.map(|walltime| u64::try_from(walltime.ticks()).unwrap_or(0));
        self.asked.is_none() && limit.is_some_and(|limit| now >= self.since + Duration::from_nanos(limit) + SLACK)
    }

    /// Returns true if the attempt must be killed, because it did not end at its walltime.
    pub fn is_overdue(&self, now: Instant) -> bool {
        self.timed_out && self.asked.is_some_and(|asked| now >= asked + self.order.grace)
    }
}

/// Time between two checks of inherited attempts.
pub(super) const GLANCE: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use makespan_exec::engine::Identity;

    use super::*;

    /// Checks the case that a node kills all processes at once. A task may then die a moment before its agent. The
    /// status of the task states a signal, but the attempt must count as ended together with the agent.
    #[test]
    fn what_a_signal_ended_before_anybody_saw_it_live_ended_with_its_agent() {
        let left = AttemptProcess { shim: Identity::of_this(), boot: "b".into(), gpus: None };
        let mut one = RunningAttempt::new(crate::pilot::example_order(), Some(left));
        let ends = [Some(EndedBy::Itself), Some(EndedBy::Us), Some(EndedBy::Signal), None];
        let fates = |one: &RunningAttempt| ends.map(|by| one.fate_if_ended(by));
        let (exit, gone) = ((AttemptEnd::Exit(0), false), (AttemptEnd::Gone, false));
        assert_eq!(fates(&one), [exit.clone(), exit.clone(), gone.clone(), gone.clone()]);
        one.has_lived = true;
        assert_eq!(fates(&one), [exit.clone(), exit.clone(), (AttemptEnd::Exit(0), true), gone.clone()]);
        one.asked = Some(Instant::now());
        assert_eq!(fates(&one), [exit.clone(), exit.clone(), exit, gone]);
    }
}
