//! The plan against what happened, in words.

use std::collections::BTreeMap;
use std::fmt::Write;

use makespan_core::{Instance, JobId, Outcome, Placement, Run, Schedule, Trace};

use crate::output::{table, wrapped};
use crate::summary::figure;

/// A line for each job, why some did not succeed, then the makespans and how many succeeded.
pub fn describe(instance: &Instance, plan: &Schedule, trace: &Trace, reasons: &BTreeMap<JobId, String>) -> String {
    let planned: BTreeMap<JobId, &Placement> =
        plan.placements().iter().map(|placement| (placement.job, placement)).collect();
    // A job that was run again counts by its last run.
    let happened: BTreeMap<JobId, &Run> = trace.runs.iter().map(|run| (run.job, run)).collect();
    let rows = instance.ids().map(|id| row(instance, id, planned.get(&id).copied(), happened.get(&id).copied()));
    let heading = ["job", "outcome", "processors", "planned start", "end", "happened start", "end"];
    let mut text = table(&heading, 3, rows) + "\n";
    for (&id, reason) in reasons {
        text += &wrapped("", 2, &format!("job `{}`: {reason}", instance.job(id).name));
    }
    let succeeded = happened.values().filter(|run| run.outcome == Outcome::Succeeded).count();
    let _ = writeln!(
        text,
        "{succeeded} of {} jobs succeeded; makespan {} s, planned {} s",
        instance.jobs().len(),
        figure(trace.schedule().makespan().seconds()),
        figure(plan.makespan().seconds())
    );
    text
}

fn row(instance: &Instance, id: JobId, planned: Option<&Placement>, run: Option<&Run>) -> Vec<String> {
    let outcome = match run.map(|run| run.outcome) {
        None => "did not run".to_owned(),
        Some(Outcome::Succeeded) => "succeeded".into(),
        Some(Outcome::Failed { status }) => format!("failed, status {status}"),
        Some(Outcome::TimedOut) => "reached its walltime".into(),
        Some(Outcome::NotStarted) => "not started".into(),
    };
    let seconds = |time: Option<makespan_core::Time>| time.map_or("-".into(), |time| figure(time.seconds()));
    let ran = run.filter(|run| run.outcome != Outcome::NotStarted);
    vec![
        instance.job(id).name.clone(),
        outcome,
        ran.map_or("-".into(), |run| run.processors.to_string()),
        seconds(planned.map(|placement| placement.start)),
        seconds(planned.map(|placement| placement.end)),
        seconds(ran.map(|run| run.start)),
        seconds(ran.map(|run| run.end)),
    ]
}
