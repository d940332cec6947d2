//! Answers the question when a job starts and which jobs delay it.

use makespan::policy::ExpectedStart;
use makespan::{ClusterState, Simulated, SimulationInput, expected_at};
use makespan_core::{Outcome, TaskId, Time, counted};
use makespan_formats::gantt::duration;
use makespan_formats::{Clock, LoggedStarts};
use miette::{Result, miette};
use serde_json::{Value, json};

use crate::args::StartQuestion;
use crate::output::{shown, wrapped};
use crate::summary::figure;

/// Maximum number of jobs that a text names.
const NAMED: usize = 20;

/// A question about the start of a job, asked at an instant of the simulation.
pub struct Question {
    task: TaskId,
    at: Time,
    clock: Option<Clock>,
}

/// Parses a time of the log or a date.
fn instant(text: &str, past: &LoggedStarts) -> Result<Time> {
    if let Some(read) = past.clock.as_ref().and_then(|clock| clock.read(text)) {
        return read.map_err(|problem| miette!("--at {text}: {problem}"));
    }
    let is_date = past.clock.is_none() && Clock::local(0).is_some_and(|clock| clock.read(text).is_some());
    if is_date {
        return Err(miette!(
            "--at {text}: the log does not state when it begins (in SWF: UnixStartTime); write a time from the beginning of the \
             log, such as 36h"
        ));
    }
    let hint = if past.clock.is_some() { ", or a date such as 1996-10-01T12:00" } else { "" };
    Time::parse(text).map_err(|error| miette!("--at {text}: {error}{hint}"))
}

/// The answer of one policy.
pub struct PolicyAnswer {
    state: State,
    /// Start of the job's last run in the simulation.
    simulated: Option<Time>,
}

enum State {
    /// The job is pending. `None` if the policy would never start it.
    Waiting(Option<ExpectedStart>),
    Running(Time),
    Ended,
    GivenUp,
}

impl Question {
    /// Finds the job and parses the instant. Returns `None` if the options ask no question.
    pub fn new(options: &StartQuestion, scene: &SimulationInput<'_>, past: &LoggedStarts) -> Result<Option<Self>> {
        let Some(name) = &options.start_time_of else { return Ok(None) };
        let instance = scene.instance;
        if !instance.edges().is_empty() || instance.has_compound_jobs() {
            return Err(miette!(
                "--start-time-of {name}: the start of a task of a compound job, or of a job that waits for other jobs, cannot be predicted; \
                 use a log without such jobs"
            ));
        }
        let task = instance.task_named(name).ok_or_else(|| {
            let first = instance.task_ids().next().map_or_else(Default::default, |task| instance.name(task));
            miette!("--start-time-of {name}: there is no such job; write a name of the log, such as `{first}`")
        })?;
        let release = instance.release(task);
        let at = match &options.at {
            // If the job was still pending at the end of the log, the default is the end of the log.
            None => past.now.filter(|_| past.starts.get(task.index()) == Some(&None)).unwrap_or(release),
            Some(text) => instant(text, past)?,
        };
        if at < release {
            let at = at.seconds();
            return Err(miette!(
                "--at {at}: job `{name}` is submitted at {release} s; state this instant or a later one"
            ));
        }
        let clock = past.clock.clone();
        Ok(Some(Self { task, at, clock }))
    }

    /// Formats a time of the log. If the log states the date of time 0, the date of this time follows.
    fn dated(&self, time: Time) -> String {
        let date = self.clock.as_ref().map_or_else(String::new, |clock| format!(" ({})", clock.shows(time)));
        figure(time.seconds()) + " s" + &date
    }

    /// Returns the prediction of the policy at the instant of the question, computed from estimates only.
    pub fn answer(&self, scene: &SimulationInput<'_>, simulated: &Simulated) -> Result<PolicyAnswer> {
        let trace = &simulated.simulation.trace;
        let runs = || trace.runs.iter().filter(|run| run.task == self.task && run.outcome != Outcome::NotStarted);
        let last = runs().map(|run| run.start).max();
        let moment = ClusterState::of(scene, trace, self.at);
        let state = if moment.waiting.contains(self.task) {
            let expected = expected_at(scene, simulated, &moment).map_err(|error| miette!("{error}"))?;
            State::Waiting(expected.into_iter().find(|expected| expected.task == self.task))
        } else if let Some(run) = runs().find(|run| run.start <= self.at && self.at < run.end) {
            State::Running(run.start)
        } else if last.is_some() {
            State::Ended
        } else {
            State::GivenUp
        };
        Ok(PolicyAnswer { state, simulated: last })
    }

    /// Formats the question in one line.
    pub fn text(&self, scene: &SimulationInput<'_>) -> String {
        let (release, at) = (self.dated(scene.instance.release(self.task)), self.dated(self.at));
        let profile = scene.instance.profile(self.task);
        let (fewest, most) = (profile.min_processors(), profile.max_processors());
        let processors = match (fewest, most) {
            (1, 1) => "1 processor".to_owned(),
            (fewest, most) if fewest == most => format!("{fewest} processors"),
            _ => format!("{fewest} to {most} processors"),
        };
        format!(
            "job `{}` ({processors}, submitted at {release}), seen at {at}\n",
            shown(&scene.instance.name(self.task))
        )
    }

    /// Formats the answer of a policy in a few lines.
    pub fn describe(&self, scene: &SimulationInput<'_>, policy: &str, answer: &PolicyAnswer) -> String {
        let release = scene.instance.release(self.task);
        let started = answer.simulated.map_or("in the simulation never".into(), |start| {
            format!(
                "in the simulation at {} s, after {}",
                figure(start.seconds()),
                duration((start - release).seconds())
            )
        });
        let label = format!("{policy}: ");
        match &answer.state {
            State::Running(since) if *since == self.at => wrapped(&label, 2, &format!("starts at once; {started}")),
            State::Running(since) => wrapped(&label, 2, &format!("has run since {} s", figure(since.seconds()))),
            State::Ended => wrapped(&label, 2, &format!("the job would have ended by then; {started}")),
            State::GivenUp => wrapped(&label, 2, "the policy would have cancelled the job by then"),
            State::Waiting(None) => wrapped(&label, 2, &format!("not expected to start at all; {started}")),
            State::Waiting(Some(expected)) => {
                let wait = expected.start - release;
                let (start, wait) = (self.dated(expected.start), duration(wait.seconds()));
                let text = format!("expected to start at {start}, after {wait}; {started}");
                let behind = [("running", &expected.running), ("waiting", &expected.waiting)];
                let lists = behind.iter().filter(|(_, jobs)| !jobs.is_empty());
                let lists = lists.map(|(kind, jobs)| wrapped("  ", 4, &held_back(scene, kind, jobs)));
                wrapped(&label, 2, &text) + &lists.collect::<String>()
            }
        }
    }

    /// Returns the answer of a policy as JSON.
    pub fn json(&self, scene: &SimulationInput<'_>, answer: &PolicyAnswer) -> Value {
        let names = |tasks: &[TaskId]| -> Value {
            tasks.iter().map(|&task| scene.instance.name(task)).collect::<Vec<_>>().into()
        };
        let mut object = json!({
            "job": scene.instance.name(self.task),
            "at": self.at.seconds(),
            "simulated": answer.simulated.map(Time::seconds),
        });
        let (state, expected) = match &answer.state {
            State::Waiting(expected) => ("waiting", expected.as_ref()),
            State::Running(_) => ("running", None),
            State::Ended => ("ended", None),
            State::GivenUp => ("given up", None),
        };
        object["state"] = state.into();
        if let Some(expected) = expected {
            object["expected"] = expected.start.seconds().into();
            object["processors"] = expected.processors.to_string().into();
            object["held_back_by"] =
                json!({ "running": names(&expected.running), "waiting": names(&expected.waiting) });
        }
        object
    }
}

/// Lists the jobs that delay a job, such as `behind 2 running jobs: a, b`.
fn held_back(scene: &SimulationInput<'_>, kind: &str, jobs: &[TaskId]) -> String {
    let names: Vec<_> = jobs.iter().take(NAMED).map(|&task| scene.instance.name(task)).collect();
    let more = jobs.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("behind {}: {}{more}", counted(jobs.len(), &format!("{kind} job")), names.join(", "))
}
