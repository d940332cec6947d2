//! Simple policies and short forms.

#![allow(dead_code, reason = "each test binary uses a part")]

pub mod cases;
pub mod wanderer;

use makespan_core::{Decision, Event, JobId, Policy, ProcSet, Profile, Time, View};
use makespan_sim::Simulation;

pub fn seconds(seconds: i64) -> Time {
    Time::from_seconds(seconds)
}

pub fn set(text: &str) -> ProcSet {
    text.parse().unwrap()
}

pub fn rigid(processors: u32, time: i64) -> Profile {
    Profile::rigid(processors, seconds(time)).unwrap()
}

pub fn start(job: u32, processors: &str) -> Decision {
    Decision::Start { job: JobId(job), processors: set(processors) }
}

/// The runs of a simulation are these: job, start, end in seconds, processors.
#[track_caller]
pub fn check(simulation: &Simulation, expected: &[(u32, i64, i64, &str)]) {
    let text = |job: u32, start: Time, end: Time, on: &str| format!("{job} from {start} to {end} on {on}");
    let runs = simulation.trace.runs.iter();
    let played: Vec<_> = runs.map(|run| text(run.job.0, run.start, run.end, &run.processors.to_string())).collect();
    let expected: Vec<_> =
        expected.iter().map(|&(job, start, end, on)| text(job, seconds(start), seconds(end), on)).collect();
    assert_eq!(played, expected);
}

/// First come, first served, on the fewest processors that a job accepts.
pub struct FirstCome;

impl Policy for FirstCome {
    fn on(&mut self, _events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let mut free = view.free.clone();
        for job in view.waiting.iter() {
            let profile = view.instance.job(job).profile();
            let Some(processors) = free.take(profile.min_processors()) else { break };
            decisions.push(Decision::Start { job, processors });
        }
    }
}

/// Answers the first event with these decisions, and no other.
pub struct Once(pub Vec<Decision>);

impl Policy for Once {
    fn on(&mut self, _events: &[Event], _view: &View<'_>, decisions: &mut Vec<Decision>) {
        decisions.append(&mut self.0);
    }
}
