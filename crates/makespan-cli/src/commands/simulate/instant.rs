//! The state of a simulated cluster at an instant, taken from what happened.

use makespan_core::{
    Ended, Failure, Instance, JobSet, Outcome, ProcSet, Running, Time, Trace, Unavailable, View, expected_repair,
};

/// What a policy would have seen after it had decided at that instant.
pub struct Moment {
    now: Time,
    pub waiting: JobSet,
    running: Vec<Running>,
    free: ProcSet,
    down: Vec<Unavailable>,
}

impl Moment {
    /// The state at `now`. A job waits from its release until it runs for good, but while an attempt of it runs that a
    /// failure ends; one that never ran was given up, and does not wait.
    pub fn of(instance: &Instance, trace: &Trace, failures: &[Failure], now: Time) -> Self {
        let mut waiting = JobSet::new();
        let mut running = Vec::new();
        let started = trace.runs.iter().filter(|run| run.outcome != Outcome::NotStarted);
        for run in started {
            if run.start <= now && now < run.end {
                running.push(Running { job: run.job, start: run.start, processors: run.processors.clone() });
            } else if run.start > now && instance.job(run.job).release <= now {
                waiting.insert(run.job);
            }
        }
        for run in &running {
            waiting.remove(run.job);
        }
        let held = running.iter().map(|run| &run.processors);
        let failed = failures.iter().filter(|failure| failure.down <= now && now < failure.up);
        let closed = instance.unavailable().iter().filter(|period| period.start <= now && now < period.end);
        let taken = held.chain(failed.clone().map(|failure| &failure.processors));
        let taken =
            taken.chain(closed.map(|period| &period.processors)).flat_map(|set| set.intervals().iter().copied());
        let free = ProcSet::first(instance.processors()).difference(&ProcSet::from_intervals(taken.collect()));
        let expected = |failure: &Failure| Unavailable {
            processors: failure.processors.clone(),
            start: failure.down,
            end: expected_repair(failure.down, failure.expected_up, now),
        };
        let down = failed.map(expected).collect();
        Self { now, waiting, running, free, down }
    }

    pub fn view<'a>(&'a self, instance: &'a Instance) -> View<'a> {
        let Self { now, waiting, running, free, down } = self;
        View { now: *now, instance, waiting, running, free, down, ended: Ended::default() }
    }
}
