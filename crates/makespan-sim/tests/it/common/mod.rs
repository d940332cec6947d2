//! Simple policies and helper functions.

pub mod cases;
pub mod wanderer;

use makespan_core::{Decision, Event, Policy, ProcSet, Profile, TaskId, Time, View};
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

pub fn start(task: u64, processors: &str) -> Decision {
    Decision::Start { task: TaskId(task), processors: set(processors) }
}

/// Checks the runs of a simulation against the expected runs: task, start and end in seconds, and processors.
#[track_caller]
pub fn check(simulation: &Simulation, expected: &[(u64, i64, i64, &str)]) {
    let text = |task: u64, start: Time, end: Time, on: &str| format!("{task} from {start} to {end} on {on}");
    let runs = simulation.trace.runs.iter();
    let played: Vec<_> = runs.map(|run| text(run.task.0, run.start, run.end, &run.processors.to_string())).collect();
    let expected: Vec<_> =
        expected.iter().map(|&(task, start, end, on)| text(task, seconds(start), seconds(end), on)).collect();
    assert_eq!(played, expected);
}

/// A policy that starts tasks in the order of their arrival, each on the minimum number of processors that it accepts.
pub struct FirstCome;

impl Policy for FirstCome {
    fn on(&mut self, _events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let mut free = view.free.clone();
        for task in view.waiting.iter() {
            let Some(processors) = free.take(view.instance.profile(task).min_processors()) else { break };
            decisions.push(Decision::Start { task, processors });
        }
    }
}

/// A policy that makes these decisions when it is called for the first time, and no decisions later.
pub struct Once(pub Vec<Decision>);

impl Policy for Once {
    fn on(&mut self, _events: &[Event], _view: &View<'_>, decisions: &mut Vec<Decision>) {
        decisions.append(&mut self.0);
    }
}
