//! The plan against what happened, in words.

use std::collections::BTreeMap;
use std::fmt::Write;

use makespan_core::{Instance, Job, Outcome, Rows, Run, Schedule, TaskId, Time, Trace};

use crate::output::{table, wrapped};
use crate::summary::figure;

/// Reasons that are told.
const REASONS: usize = 20;

/// A line for each job, all tasks of a bag or a compound job together; why some did not succeed; then the makespans and how many
/// succeeded.
pub fn describe(instance: &Instance, plan: &Schedule, trace: &Trace, reasons: &BTreeMap<TaskId, String>) -> String {
    let mut lines: Vec<Line> = instance.jobs().iter().map(|job| Line::new(job.tasks())).collect();
    for placement in plan.placements() {
        widen(&mut lines[instance.job_id(placement.task).index()].planned, placement.start, placement.end);
    }
    // A task that was run again counts by its last run.
    let happened: BTreeMap<TaskId, &Run> = trace.runs.iter().map(|run| (run.task, run)).collect();
    for (&task, run) in &happened {
        lines[instance.job_id(task).index()].add(run);
    }
    let rows = instance.jobs().iter().zip(&lines).map(|(job, line)| line.row(job));
    let heading = ["job", "outcome", "processors", "planned start", "end", "happened start", "end"];
    let mut text = table(&heading, 3, rows) + "\n";
    for (&task, reason) in reasons.iter().take(REASONS) {
        text += &wrapped("", 2, &format!("job `{}`: {reason}", instance.name(task)));
    }
    if reasons.len() > REASONS {
        let _ = writeln!(text, "and {} more; jobs.csv has all", reasons.len() - REASONS);
    }
    let _ = writeln!(
        text,
        "{} of {} jobs succeeded; makespan {} s, planned {} s",
        lines.iter().filter(|line| line.succeeded == line.tasks).count(),
        instance.jobs().len(),
        figure(trace.schedule().makespan().seconds()),
        figure(plan.makespan().seconds())
    );
    text
}

/// What was planned and what happened of one job.
struct Line<'a> {
    tasks: u64,
    succeeded: u64,
    planned: Option<(Time, Time)>,
    happened: Option<(Time, Time)>,
    /// Of a job of one task, or the last task of another.
    run: Option<&'a Run>,
}

impl<'a> Line<'a> {
    fn new(tasks: u64) -> Self {
        Self { tasks, succeeded: 0, planned: None, happened: None, run: None }
    }

    fn add(&mut self, run: &'a Run) {
        self.run = Some(run);
        self.succeeded += u64::from(run.outcome == Outcome::Succeeded);
        if run.outcome != Outcome::NotStarted {
            widen(&mut self.happened, run.start, run.end);
        }
    }

    fn row(&self, job: &Job<Rows>) -> Vec<String> {
        let outcome = match self.run.map(|run| run.outcome) {
            _ if many(job) => format!("{} of {} tasks succeeded", self.succeeded, self.tasks),
            None => "did not run".to_owned(),
            Some(Outcome::Succeeded) => "succeeded".into(),
            Some(Outcome::Failed { status }) => format!("failed, status {status}"),
            Some(Outcome::TimedOut) => "reached its walltime".into(),
            Some(Outcome::Interrupted) => "interrupted".into(),
            Some(Outcome::NotStarted) => "not started".into(),
        };
        let ran = self.run.filter(|run| run.outcome != Outcome::NotStarted && !many(job));
        let seconds = |time: Option<Time>| time.map_or("-".into(), |time| figure(time.seconds()));
        vec![
            job.name.clone(),
            outcome,
            ran.map_or("-".into(), |run| run.processors.to_string()),
            seconds(self.planned.map(|span| span.0)),
            seconds(self.planned.map(|span| span.1)),
            seconds(self.happened.map(|span| span.0)),
            seconds(self.happened.map(|span| span.1)),
        ]
    }
}

fn many(job: &Job<Rows>) -> bool {
    job.is_bag() || job.is_compound()
}

/// From the first start to the last end.
fn widen(span: &mut Option<(Time, Time)>, start: Time, end: Time) {
    let (first, last) = span.get_or_insert((start, end));
    (*first, *last) = (start.min(*first), end.max(*last));
}
