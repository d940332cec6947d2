//! Attempts that a previous agent of this place started.

use std::time::{Duration, Instant};

use makespan_exec::Local;
use makespan_exec::engine::{EndedBy, ended_by};

use super::board::{AttemptProcess, PilotBoard};
use makespan_exec::order::{AttemptEnd, AttemptOrder};

/// An attempt that a previous agent started. The process that wraps the task does not need an agent: it continues, and
/// writes the status file.
#[derive(Debug)]
pub(super) struct InheritedAttempt {
    pub id: String,
    pub order: AttemptOrder,
    left: AttemptProcess,
    /// True if this agent has seen the attempt running.
    has_lived: bool,
    /// Instant from which this agent has watched the attempt. The attempt started earlier.
    pub since: Instant,
    /// Instant of the request to end the attempt.
    pub asked: Option<Instant>,
    pub timed_out: bool,
}

impl InheritedAttempt {
    pub fn new(id: String, order: AttemptOrder, left: AttemptProcess) -> Self {
        let order = AttemptOrder { gpus: left.gpus.clone().or(order.gpus), ..order };
        Self { id, order, left, has_lived: false, since: Instant::now(), asked: None, timed_out: false }
    }

    /// If the attempt has ended, returns its fate. The flag is true if Slurm may have ended the attempt by stopping
    /// everything on this node.
    pub fn fate(&mut self, board: &PilotBoard, local: &Local, boot: &str) -> Option<(AttemptEnd, bool)> {
        if self.left.boot == boot && self.left.shim.is_alive() {
            self.has_lived = true;
            return None;
        }
        let by = ended_by(&board.run().join(&self.order.files.status));
        if by.is_none() && self.left.boot == boot {
            local.end_strays(&self.order.name);
        }
        Some(self.fate_if_ended(by))
    }

    fn fate_if_ended(&self, by: Option<EndedBy>) -> (AttemptEnd, bool) {
        match by {
            Some(_) if self.timed_out => (AttemptEnd::TimedOut, false),
            // The previous agent did not record the end. So the attempt ended together with that agent.
            Some(EndedBy::Signal) if !self.has_lived => (AttemptEnd::Gone, false),
            // The planner reads the exit status from the status file.
            Some(by) => (AttemptEnd::Exit(0), by == EndedBy::Signal && self.asked.is_none()),
            None => (AttemptEnd::Gone, false),
        }
    }

    pub fn end(&mut self, boot: &str, kill: bool) {
        self.asked.get_or_insert_with(Instant::now);
        if self.left.boot == boot {
            Local::end_shim(self.left.shim, kill);
        }
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
        let mut one = InheritedAttempt::new("a.1".into(), crate::pilot::example_order(), left);
        let ends = [Some(EndedBy::Itself), Some(EndedBy::Us), Some(EndedBy::Signal), None];
        let fates = |one: &InheritedAttempt| ends.map(|by| one.fate_if_ended(by));
        let (exit, gone) = ((AttemptEnd::Exit(0), false), (AttemptEnd::Gone, false));
        assert_eq!(fates(&one), [exit.clone(), exit.clone(), gone.clone(), gone.clone()]);
        one.has_lived = true;
        assert_eq!(fates(&one), [exit.clone(), exit.clone(), (AttemptEnd::Exit(0), true), gone.clone()]);
        one.asked = Some(Instant::now());
        assert_eq!(fates(&one), [exit.clone(), exit.clone(), exit, gone]);
    }
}
