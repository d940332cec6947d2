//! Online decisions: the same policy drives a simulated and a real cluster.

mod log;

pub use log::{LogEntry, Logged, Spot};

use crate::model::{Instance, ProcSet, TaskId, Time, Unavailable};
use crate::online::{Ended, TaskSet};

/// An event that a policy receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A task ended with success.
    Finished(TaskId),
    /// A task failed and will not run again, or will never start because it waits for such a task.
    Failed(TaskId),
    /// A running task lost processors. Its work is lost, and it waits again.
    Interrupted(TaskId),
    /// Processors of this node are up again after a failure, or their expected repair is now earlier.
    NodeUp(usize),
    /// Processors of this node went down, or their expected repair is now later.
    NodeDown(usize),
    /// A task is released and all its predecessors have succeeded. It may start on processors on which its data have
    /// arrived ([`View::arrival`]).
    Submitted(TaskId),
    /// The estimated times of this task and of all equal tasks have changed ([`Instance::restate`]). For a bag, this is
    /// its first task. These tasks may be waiting, running or not yet submitted. A policy can ignore tasks that are not
    /// submitted, unless it has a plan that includes them.
    Estimated(TaskId),
    /// An instant that the policy requested.
    Wake,
}

/// A decision of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Start a waiting task now on free processors.
    Start {
        /// The task.
        task: TaskId,
        /// The processors. Their number is the allotment.
        processors: ProcSet,
    },
    /// Limit the run time of a waiting task, independently of its walltime. Must precede the start of the task.
    Limit {
        /// The task.
        task: TaskId,
        /// Maximum run time.
        time: Time,
    },
    /// Send [`Event::Wake`] at this instant, unless another event comes first.
    WakeAt(Time),
    /// Cancel a waiting task.
    Cancel(TaskId),
}

/// A running task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// The task.
    pub task: TaskId,
    /// Start of the task.
    pub start: Time,
    /// Processors of the task.
    pub processors: ProcSet,
}

/// The state that a policy may see. It contains only estimates, never real run times.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The current instant.
    pub now: Time,
    /// Platform, jobs and tasks, with estimated times. A policy must ignore tasks that have not been submitted. Once a
    /// task of a compound job is submitted, the policy may read all tasks of this job. Between events, the instance may
    /// grow, and times may change if [`Event::Estimated`] reports it. Unavailable periods may also change
    /// ([`crate::Cluster::announce`]) if the policy supports this.
    pub instance: &'a Instance,
    /// Tasks that are released, have no open predecessors and are not started.
    pub waiting: &'a TaskSet,
    /// Running tasks, in arbitrary order.
    pub running: &'a [Running],
    /// Processors on which a task may start now: no task holds them, and they are neither unavailable nor down.
    pub free: &'a ProcSet,
    /// Processors that are down, with their expected repair. The entries are disjoint.
    pub down: &'a [Unavailable],
    /// Ends and processors of the tasks that other tasks wait for; empty if there are none.
    pub ended: Ended<'a>,
}

impl View<'_> {
    /// Returns the instant at which all data of a task have arrived on these processors. It may be in the past. The
    /// task must not start there earlier; a policy can request a wake-up at this instant. Returns zero for a task
    /// without predecessors, and `None` if a predecessor has not succeeded. Takes O(dependences * nodes).
    pub fn arrival(&self, task: TaskId, processors: &ProcSet) -> Option<Time> {
        let mut latest = Time::ZERO;
        for edge in self.instance.incoming(task).filter(|edge| !edge.is_between_jobs(self.instance)) {
            latest = latest.max(self.ended.arrival(self.instance, edge, processors)?);
        }
        Some(latest)
    }
}

/// An online algorithm. It returns decisions and does not execute them.
pub trait Policy {
    /// Handles all events of one instant, in the order of [`Event::order`]. `view` is the state after the last event.
    /// The policy appends its decisions to `decisions`, and they are executed in this order.
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>);

    /// Returns the log entries about the policy's plans since the last call, in order of time. Most policies log
    /// nothing.
    fn log(&mut self) -> Vec<LogEntry> {
        Vec::new()
    }

    /// Restores state from the log of an earlier policy with equal rules for the same instance, in order of time. A
    /// resumed run calls this before the first event. Most policies ignore it.
    fn recall(&mut self, _told: &[LogEntry]) {}
}

impl Event {
    /// Returns the tasks whose times have changed, including all tasks of bags.
    pub fn estimated(events: &[Self], instance: &Instance) -> TaskSet {
        let named =
            events.iter().filter_map(|event| if let Self::Estimated(task) = *event { Some(task) } else { None });
        named.flat_map(|task| instance.equal_tasks(task)).collect()
    }

    /// Returns the sort key of events at one instant: variant, then id. Events that free processors come before events
    /// that request them.
    pub const fn order(&self) -> (u8, usize) {
        match *self {
            Self::Finished(task) => (0, task.index()),
            Self::Failed(task) => (1, task.index()),
            Self::Interrupted(task) => (2, task.index()),
            Self::NodeUp(node) => (3, node),
            Self::NodeDown(node) => (4, node),
            Self::Submitted(task) => (5, task.index()),
            Self::Estimated(task) => (6, task.index()),
            Self::Wake => (7, 0),
        }
    }
}

impl Running {
    /// Returns the expected end of the task: by its estimate, or by [`believed_end`] if the estimate has passed.
    pub fn expected_end(&self, instance: &Instance, now: Time) -> Time {
        believed_end(self.start, self.start + instance.time(self.task, &self.processors), now)
    }
}

/// Returns the expected end of a running task. This is `expected`, if it is in the future. If it has passed, a quarter
/// of the expected run time is added repeatedly. So the result depends only on the start of the task and the current
/// instant, not on earlier calls.
///
/// If the expected run time is a whole number of seconds, a quarter is rounded up to whole seconds, so that instants of
/// a log in seconds remain whole.
pub fn believed_end(start: Time, expected: Time, now: Time) -> Time {
    let whole = (expected - start).ticks() % Time::TICKS_PER_SECOND == 0;
    let unit = if whole { Time::TICKS_PER_SECOND } else { 1 };
    let mut end = expected;
    while end <= now && end < Time::MAX {
        end += quarter(end.saturating_since(start), unit);
    }
    end
}

/// Returns a quarter of a duration, rounded up to whole units, and at least one unit.
pub(crate) fn quarter(duration: Time, unit: i64) -> Time {
    let ticks = (duration.ticks() / 4).max(1);
    let missing = (unit - ticks % unit) % unit;
    Time::from_ticks(ticks.saturating_add(missing))
}
