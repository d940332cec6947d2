//! Online decisions: the same policy drives a simulated and a real cluster.

use crate::{Instance, JobId, ProcSet, Time};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A job reached its release date and may start.
    Submitted(JobId),
    /// A job ended with success.
    Finished(JobId),
    /// A job ended without success; it will not be run again.
    Failed(JobId),
    /// An instant that the policy asked for.
    Wake,
}

/// What the policy wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Start a waiting job now on free processors.
    Start {
        /// Which job.
        job: JobId,
        /// Where; its size is the allotment.
        processors: ProcSet,
    },
    /// Send [`Event::Wake`] at this instant, unless another event comes first.
    WakeAt(Time),
    /// Give up a waiting job.
    Cancel(JobId),
}

/// A job that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// Which job.
    pub job: JobId,
    /// Since when.
    pub start: Time,
    /// Where.
    pub processors: ProcSet,
}

/// What a policy may know: estimates only, never how long a job will really run.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The present instant.
    pub now: Time,
    /// Machines and jobs, with estimated times.
    pub instance: &'a Instance,
    /// Jobs that are released and not started, ascending. Jobs of one instant are all here before the first of them
    /// is announced, so that they can be planned together.
    pub waiting: &'a [JobId],
    /// Jobs that run, by start.
    pub running: &'a [Running],
}

/// An online algorithm. It returns decisions and performs none. It speaks of jobs, so bags are taken apart first
/// ([`crate::Expansion`]).
pub trait Policy {
    /// Answers one event. Events of one instant come one after another, each with the state after it.
    fn on(&mut self, event: &Event, view: &View<'_>) -> Vec<Decision>;
}

impl Running {
    /// When the job is expected to end. One that has outlived its estimate is expected to take a quarter longer than
    /// it has taken so far.
    pub fn expected_end(&self, instance: &Instance, now: Time) -> Time {
        let estimate = self.start + instance.job(self.job).profile().time(self.processors.len());
        if estimate > now {
            return estimate;
        }
        let elapsed = now.saturating_since(self.start);
        now + Time::from_ticks((elapsed.ticks() / 4).max(1))
    }
}
