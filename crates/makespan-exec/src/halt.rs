//! Rules that end a run early, after some of its tasks have failed or succeeded.

use makespan_core::{Outcome, Run};

/// A rule that ends a run before all tasks have ended. After the rule has been met, no further task starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HaltRule {
    /// True to end the running tasks, which run again when the run is resumed. False to let running tasks finish.
    pub ends_running: bool,
    /// The ends of tasks that the rule counts.
    pub counts: HaltCount,
    /// The limit that halts the run.
    pub limit: HaltLimit,
}

impl HaltRule {
    /// Starts nothing after the first failure.
    pub const FAIL_FAST: Self = Self { ends_running: false, counts: HaltCount::Failures, limit: HaltLimit::Number(1) };
}

/// The ends of tasks that a [`HaltRule`] counts. An attempt that is retried does not count as an end of its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HaltCount {
    /// Tasks that failed.
    Failures,
    /// Tasks that succeeded.
    Successes,
    /// Tasks that ended in any way.
    Ends,
}

/// A number of ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HaltLimit {
    /// An absolute number.
    Number(u64),
    /// A percentage of all tasks of the instance.
    Percent(u32),
}

impl HaltLimit {
    /// Returns whether `ended` ends reach the limit, for a run of `tasks` tasks.
    fn is_reached(self, ended: u64, tasks: u64) -> bool {
        match self {
            Self::Number(number) => ended >= number,
            Self::Percent(percent) => u128::from(ended) * 100 >= u128::from(tasks) * u128::from(percent),
        }
    }

    /// Returns whether a single end reaches the limit exactly.
    pub fn is_one(self, tasks: u64) -> bool {
        match self {
            Self::Number(number) => number == 1,
            Self::Percent(percent) => u128::from(tasks) * u128::from(percent) == 100,
        }
    }
}

/// The end of a task that halted a run, and the rule that was met.
#[derive(Clone, Debug)]
pub struct HaltCause {
    /// The rule that was met.
    pub rule: HaltRule,
    /// The number of tasks that had failed in this session.
    pub failed: u64,
    /// The number of tasks of the instance.
    pub tasks: u64,
    /// The outcome of the task.
    pub outcome: Outcome,
}

/// Counts the tasks that have ended in a session.
#[derive(Debug)]
pub(crate) struct EndCounter {
    rule: Option<HaltRule>,
    failed: u64,
    succeeded: u64,
    is_reached: bool,
}

impl EndCounter {
    pub fn new(rule: Option<HaltRule>) -> Self {
        Self { rule, failed: 0, succeeded: 0, is_reached: false }
    }

    /// Returns whether running tasks must be ended.
    pub fn ends_running(&self) -> bool {
        self.is_reached && self.rule.is_some_and(|rule| rule.ends_running)
    }

    /// Counts the end of a task that is not tried again. Returns the cause if this end halts the run. Tasks that did
    /// not start because a predecessor failed are not counted.
    pub fn count(&mut self, run: &Run, tasks: u64) -> Option<HaltCause> {
        let succeeded = run.outcome == Outcome::Succeeded;
        if run.outcome == Outcome::NotStarted && run.processors.is_empty() {
            return None;
        }
        *if succeeded { &mut self.succeeded } else { &mut self.failed } += 1;
        let rule = self.rule.filter(|_| !self.is_reached)?;
        let ended = match rule.counts {
            HaltCount::Failures => self.failed,
            HaltCount::Successes => self.succeeded,
            HaltCount::Ends => self.failed + self.succeeded,
        };
        let is_counted = match rule.counts {
            HaltCount::Failures => !succeeded,
            HaltCount::Successes => succeeded,
            HaltCount::Ends => true,
        };
        self.is_reached = is_counted && rule.limit.is_reached(ended, tasks);
        self.is_reached.then_some(HaltCause { rule, failed: self.failed, tasks, outcome: run.outcome })
    }
}
