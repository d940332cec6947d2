//! Online decisions by policies. A policy works in the same way for a simulated and for a real cluster.

mod log;

pub use log::{LogEntry, LoggedDecision};

use crate::model::{Instance, ProcSet, TaskId, Time, Unavailable};
use crate::online::{EndedTasks, TaskSet};

/// An event that a policy receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A task ended with success.
    Finished(TaskId),
    /// A task failed and will not run again, or it will never start because one of its predecessors failed.
    Failed(TaskId),
    /// A running task lost processors. The work of the task is lost, and the task waits again.
    Interrupted(TaskId),
    /// Processors of this node are up again after a failure, or their expected repair is now earlier.
    NodeUp(usize),
    /// Processors of this node went down, or their expected repair is now later.
    NodeDown(usize),
    /// A task is released and all its predecessors have succeeded. The task may start on processors on which its data
    /// have arrived ([`View::arrival`]).
    Submitted(TaskId),
    /// The estimated times of this task have changed ([`Instance::restate`]). For a bag, the event contains the first
    /// task, and the times of all tasks of the bag have changed. The tasks may be waiting, running or not yet
    /// submitted. A policy needs the new times of a task that is not yet submitted only if its plan contains this task.
    Estimated(TaskId),
    /// The instant has come for which the policy requested a wake-up.
    Wake,
}

/// A decision of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Start a waiting task now on free processors.
    Start {
        /// The task that starts.
        task: TaskId,
        /// The processors. Their number is the allotment.
        processors: ProcSet,
    },
    /// Limit the run time of a waiting task, independently of its walltime. Must precede the start of the task.
    Limit {
        /// The task to limit.
        task: TaskId,
        /// Maximum run time of the task.
        time: Time,
    },
    /// Send [`Event::Wake`] at this instant, unless another event comes earlier.
    WakeAt(Time),
    /// Cancel a waiting task.
    Cancel(TaskId),
}

/// A running task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// The task that runs.
    pub task: TaskId,
    /// Start of the task.
    pub start: Time,
    /// Processors of the task.
    pub processors: ProcSet,
}

/// The state of the cluster that a policy may see. The view contains only estimated run times, never real ones.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The current instant.
    pub now: Time,
    /// Platform, jobs and tasks, with estimated times. A policy must ignore tasks that have not been submitted. Once a
    /// task of a compound job is submitted, the policy may read all tasks of this job. Between two calls of the
    /// policy, jobs may be appended to the instance, and times may change; [`Event::Estimated`] reports changed times.
    /// If the policy supports announced periods, unavailable periods may also change ([`crate::Cluster::announce`]).
    pub instance: &'a Instance,
    /// Tasks that may start: they are released, all their predecessors have succeeded, and they have not started yet.
    pub waiting: &'a TaskSet,
    /// Running tasks, in arbitrary order.
    pub running: &'a [Running],
    /// Processors on which a task may start now: no task holds them, and they are neither unavailable nor down.
    pub free: &'a ProcSet,
    /// Processors that are down, each with its expected repair. No processor is in two entries.
    pub down: &'a [Unavailable],
    /// Ends and processors of the succeeded tasks that other tasks wait for.
    pub ended: EndedTasks<'a>,
}

impl View<'_> {
    /// Returns the instant at which all data of a task have arrived on these processors. The instant may be in the
    /// past. The task must not start on these processors before the instant; a policy can request a wake-up at the
    /// instant. Returns zero for a task without predecessors, and `None` if a predecessor has not succeeded. Takes
    /// O(number of dependences * number of nodes).
    pub fn arrival(&self, task: TaskId, processors: &ProcSet) -> Option<Time> {
        let mut latest = Time::ZERO;
        for edge in self.instance.incoming(task).filter(|edge| !edge.is_between_jobs(self.instance)) {
            latest = latest.max(self.ended.arrival(self.instance, edge, processors)?);
        }
        Some(latest)
    }
}

/// An online algorithm. A policy returns decisions; the driver of the cluster executes them.
pub trait Policy {
    /// Handles all events of one instant, in the order of [`Event::order`]. `view` is the state after the last of
    /// these events. The policy appends its decisions to `decisions`, in the order in which the driver executes them.
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>);

    /// Returns the log entries about the policy's plans that were added since the last call of this function, in order
    /// of time. Most policies log nothing.
    fn log(&mut self) -> Vec<LogEntry> {
        Vec::new()
    }

    /// Restores the state of an interrupted policy before the first event of a resumed run. `_told` is the log, in
    /// order of time, of the interrupted policy, which had the same spec and instance. Most policies ignore the log.
    fn recall(&mut self, _told: &[LogEntry]) {}

    /// Returns a copy of this policy in its present state, or `None` if the policy cannot be copied. A forecast runs a
    /// copy.
    fn copy(&self) -> Option<Box<dyn Policy>> {
        None
    }

    /// Restricts the policy to some processors, before the first event. All other processors are down in every view.
    /// Policies that derive limits or shapes from the whole platform must derive them from these processors.
    fn confine(&mut self, _processors: &ProcSet) {}
}

impl Event {
    /// Returns the tasks for which these events report new times, including all tasks of a changed bag.
    pub fn estimated(events: &[Self], instance: &Instance) -> TaskSet {
        let named =
            events.iter().filter_map(|event| if let Self::Estimated(task) = *event { Some(task) } else { None });
        named.flat_map(|task| instance.equal_tasks(task)).collect()
    }

    /// Returns the sort key of events at one instant: the kind of event, then the id in it. Events that free processors
    /// come before events that request them.
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
    /// Returns the expected end of the task: its start plus its estimated time if this instant is in the future,
    /// otherwise the result of [`believed_end`].
    pub fn expected_end(&self, instance: &Instance, now: Time) -> Time {
        believed_end(self.start, self.start + instance.time(self.task, &self.processors), now)
    }
}

/// Returns the expected end of a running task. If `expected` is in the future, the result is `expected`. Otherwise,
/// adds a quarter of the expected run time repeatedly until the result is in the future. So the result does not depend
/// on earlier calls.
///
/// If the expected run time is a whole number of seconds, the quarter is rounded up to whole seconds, because some
/// logs have only whole seconds.
pub fn believed_end(start: Time, expected: Time, now: Time) -> Time {
    let whole = (expected - start).ticks() % Time::TICKS_PER_SECOND == 0;
    let unit = if whole { Time::TICKS_PER_SECOND } else { 1 };
    let mut end = expected;
    while end <= now && end < Time::MAX {
        end += quarter(end.saturating_since(start), unit);
    }
    end
}

/// Returns the expected remaining run time of a task that has run longer than every similar task: a quarter of the run
/// time `elapsed`, rounded down, and at least 1. Both times are in the same unit.
pub fn remaining_after(elapsed: i64) -> i64 {
    (elapsed / 4).max(1)
}

/// Returns a quarter of a duration, rounded up to a multiple of `unit` ticks, and at least `unit` ticks.
pub(crate) fn quarter(duration: Time, unit: i64) -> Time {
    let ticks = (duration.ticks() / 4).max(1);
    let missing = (unit - ticks % unit) % unit;
    Time::from_ticks(ticks.saturating_add(missing))
}
