//! Online decisions: the same policy drives a simulated and a real cluster.

mod log;

pub use log::{LogEntry, Logged, Spot};

use crate::model::{Instance, ProcSet, TaskId, Time, Unavailable};
use crate::online::{Ended, TaskSet};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A task ended with success.
    Finished(TaskId),
    /// A task ended without success and will not be run again, or will never start since it waits for such a task.
    Failed(TaskId),
    /// A task lost processors while it ran; all that it did is lost, and it waits again.
    Interrupted(TaskId),
    /// Processors of this node that were down are up again, or are expected up earlier than before.
    NodeUp(usize),
    /// Processors of this node went down, or are expected up later than before.
    NodeDown(usize),
    /// A task reached its release date, and all that it waits for has ended with success: it may start, where its data are
    /// there ([`View::arrival`]).
    Submitted(TaskId),
    /// The estimated times of this task, and of those that are equal to it, are other than before ([`Instance::restate`]); of a bag
    /// it is the first task. Some of them may wait, some may run, and others may be those of which a policy has not heard: they do not
    /// concern it, unless it was given a plan of them.
    Estimated(TaskId),
    /// An instant that the policy asked for.
    Wake,
}

/// What the policy wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Start a waiting task now on free processors.
    Start {
        /// Which task.
        task: TaskId,
        /// Where; its size is the allotment.
        processors: ProcSet,
    },
    /// End a waiting task so long after its start, whatever its walltime is; said before the start that it is for.
    Limit {
        /// Which task.
        task: TaskId,
        /// How long it may run.
        time: Time,
    },
    /// Send [`Event::Wake`] at this instant, unless another event comes first.
    WakeAt(Time),
    /// Give up a waiting task.
    Cancel(TaskId),
}

/// A task that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// Which task.
    pub task: TaskId,
    /// Since when.
    pub start: Time,
    /// Where.
    pub processors: ProcSet,
}

/// What a policy may know: estimates only, never how long a task will really run.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The present instant.
    pub now: Time,
    /// Machines, jobs and tasks, with estimated times. A policy does not look at tasks that it has not heard of; of all the
    /// tasks of a compound job it has heard when it has heard of one. More may be there at every event: an instance grows. And
    /// times may be other than at the event before, of the tasks of which [`Event::Estimated`] says so. So may be unavailable periods
    /// ([`crate::Cluster::announce`]), where a policy is driven that can bear it.
    pub instance: &'a Instance,
    /// Tasks that are released, wait for no other and are not started.
    pub waiting: &'a TaskSet,
    /// Tasks that run, in no order.
    pub running: &'a [Running],
    /// Processors on which a task may start now: not held, not unavailable, not down.
    pub free: &'a ProcSet,
    /// Processors that went down, until they are expected to be up again. None is in two of these.
    pub down: &'a [Unavailable],
    /// When and where the tasks ended that others wait for; empty where none does.
    pub ended: Ended<'a>,
}

impl View<'_> {
    /// When all data of a task have arrived on these processors, which may be in the past: it must not start there before
    /// (a policy asks to be woken then). Zero for a task that waits for none; `None` when something that it waits for has
    /// not ended with success. O(dependences * nodes).
    pub fn arrival(&self, task: TaskId, processors: &ProcSet) -> Option<Time> {
        let mut latest = Time::ZERO;
        for edge in self.instance.incoming(task).filter(|edge| !edge.is_between_jobs(self.instance)) {
            latest = latest.max(self.ended.arrival(self.instance, edge, processors)?);
        }
        Some(latest)
    }
}

/// An online algorithm. It returns decisions and performs none.
pub trait Policy {
    /// Answers all events of one instant, in the order of [`Event::order`], with the state after the
    /// last of them. What it wants is added to `decisions` and done in that order.
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>);

    /// Hands over what it has to tell of its plans since it was last asked, by time. Most policies tell nothing.
    fn log(&mut self) -> Vec<LogEntry> {
        Vec::new()
    }

    /// Takes in what an earlier policy of the same rules told of the same instance, by time, before anything happens: a run
    /// goes on in another process. Most policies have no use for it.
    fn recall(&mut self, _told: &[LogEntry]) {}
}

impl Event {
    /// The tasks whose times are other than before, those of a bag each.
    pub fn estimated(events: &[Self], instance: &Instance) -> TaskSet {
        let named =
            events.iter().filter_map(|event| if let Self::Estimated(task) = *event { Some(task) } else { None });
        named.flat_map(|task| instance.equal_tasks(task)).collect()
    }

    /// The order of the events of one instant: that of the variants, then of ids. What gives processors back comes before
    /// what asks for them.
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
    /// When the task is expected to end: by its estimate, and when that has passed as [`believed_end`] says.
    pub fn expected_end(&self, instance: &Instance, now: Time) -> Time {
        believed_end(self.start, self.start + instance.time(self.task, &self.processors), now)
    }
}

/// When a task that was expected to end at some instant, and runs now, is believed to end: then, or, while that has passed, a
/// quarter later than it would have taken by that, again and again. So the belief depends on when the task began and on
/// the present, and not on when somebody looked.
///
/// A quarter is rounded up to whole seconds where the expected time is one of whole seconds, so that instants of a log
/// in seconds stay whole.
pub fn believed_end(start: Time, expected: Time, now: Time) -> Time {
    let whole = (expected - start).ticks() % Time::TICKS_PER_SECOND == 0;
    let unit = if whole { Time::TICKS_PER_SECOND } else { 1 };
    let mut end = expected;
    while end <= now && end < Time::MAX {
        end += quarter(end.saturating_since(start), unit);
    }
    end
}

/// A quarter of a duration, rounded up to whole units, and at least one.
pub(crate) fn quarter(duration: Time, unit: i64) -> Time {
    let ticks = (duration.ticks() / 4).max(1);
    let missing = (unit - ticks % unit) % unit;
    Time::from_ticks(ticks.saturating_add(missing))
}
