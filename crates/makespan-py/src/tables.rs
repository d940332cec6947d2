//! Converts instances, schedules and traces to tables.

use makespan::{Instance, Objective, Payload, Schedule, Time, Trace};
use makespan_core::{Outcome, Run};
use pyo3::prelude::*;

use crate::columns::{Columns, Table};

/// Returns a table with one row for each placement. Times are in seconds, `processors` is a set such as `0-3,8`, and
/// `allotment` is the size of the set. If the algorithm assigns tasks to groups, the table has a column `group`.
pub fn schedule(instance: &Instance, schedule: &Schedule) -> PyResult<Columns> {
    let placements = schedule.placements();
    let table = Table::default()
        .texts("job", placements.iter().map(|placement| instance.job_of(placement.task).name.as_str()))
        .texts("task", placements.iter().map(|placement| instance.name(placement.task)))
        .floats("start", placements.iter().map(|placement| placement.start.seconds()))
        .floats("end", placements.iter().map(|placement| placement.end.seconds()))
        .integers("allotment", placements.iter().map(|placement| i64::from(placement.processors.len())))
        .texts("processors", placements.iter().map(|placement| placement.processors.to_string()));
    let table = if schedule.group_names().is_empty() {
        table
    } else {
        table.some_texts("group", (0..placements.len()).map(|at| schedule.group(at)))
    };
    table.finish()
}

/// Returns the jobs, one in each row. Times of compound jobs are missing.
pub fn jobs(instance: &Instance) -> PyResult<Columns> {
    let jobs = instance.jobs();
    let lone = |at: usize| (!jobs[at].is_compound()).then(|| instance.profile(jobs[at].first()));
    let seconds = |time: Option<Time>| time.map(Time::seconds);
    Table::default()
        .texts("job", jobs.iter().map(|job| job.name.as_str()))
        .integers("tasks", jobs.iter().map(|job| job.tasks() as i64))
        .floats("weight", jobs.iter().map(|job| job.weight.as_f64()))
        .integers("priority", jobs.iter().map(|job| i64::from(job.priority)))
        .floats("released", jobs.iter().map(|job| job.release.seconds()))
        .some_floats("deadline", jobs.iter().map(|job| seconds(job.deadline)))
        .some_floats("walltime", jobs.iter().map(|job| seconds(job.walltime)))
        .some_floats("longest", (0..jobs.len()).map(|at| lone(at).map(|profile| profile.longest().seconds())))
        .some_floats("shortest", (0..jobs.len()).map(|at| lone(at).map(|profile| profile.shortest().seconds())))
        .integers("min_processors", jobs.iter().map(|job| i64::from(instance.profile(job.first()).min_processors())))
        .integers("max_processors", jobs.iter().map(|job| i64::from(instance.profile(job.first()).max_processors())))
        .finish()
}

/// Returns the nodes, one in each row.
pub fn nodes(instance: &Instance) -> PyResult<Columns> {
    let nodes = instance.platform().nodes();
    let parent = |at: usize| nodes[at].parent.map(|parent| nodes[parent].name.as_str());
    Table::default()
        .texts("node", nodes.iter().map(|node| node.name.as_str()))
        .integers("processors", nodes.iter().map(|node| i64::from(node.processors)))
        .floats("speed", nodes.iter().map(|node| node.speed))
        .some_texts("parent", (0..nodes.len()).map(parent))
        .some_floats("bandwidth", nodes.iter().map(|node| node.link.map(|link| link.bandwidth)))
        .some_floats("latency", nodes.iter().map(|node| node.link.map(|link| link.latency.seconds())))
        .finish()
}

/// Returns the edges, one in each row. Their data are in bytes, or a fixed transfer time in seconds.
pub fn edges(instance: &Instance) -> PyResult<Columns> {
    let edges = instance.edges();
    let bytes = |payload: Payload| if let Payload::Bytes(bytes) = payload { Some(bytes as f64) } else { None };
    let fixed = |payload: Payload| if let Payload::Fixed(time) = payload { Some(time.seconds()) } else { None };
    Table::default()
        .texts("from", edges.iter().map(|edge| instance.name(edge.from)))
        .texts("to", edges.iter().map(|edge| instance.name(edge.to)))
        .some_floats("data", edges.iter().map(|edge| bytes(edge.payload)))
        .some_floats("transfer", edges.iter().map(|edge| fixed(edge.payload)))
        .finish()
}

/// Returns the runs, one in each row, ordered by their ends.
pub fn runs(instance: &Instance, trace: &Trace) -> PyResult<Columns> {
    let runs = &trace.runs;
    let started = |run: &Run, value: Time| (run.outcome != Outcome::NotStarted).then(|| value.seconds());
    let wait = |run: &Run| started(run, run.start - instance.release(run.task));
    Table::default()
        .texts("job", runs.iter().map(|run| instance.job_of(run.task).name.as_str()))
        .texts("task", runs.iter().map(|run| instance.name(run.task)))
        .floats("submitted", runs.iter().map(|run| instance.release(run.task).seconds()))
        .some_floats("start", runs.iter().map(|run| started(run, run.start)))
        .floats("end", runs.iter().map(|run| run.end.seconds()))
        .some_floats("wait", runs.iter().map(wait))
        .integers("allotment", runs.iter().map(|run| i64::from(run.processors.len())))
        .texts("processors", runs.iter().map(|run| run.processors.to_string()))
        .texts("outcome", runs.iter().map(|run| outcome(run.outcome)))
        .finish()
}

/// Returns the outcome of a run as text.
pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Succeeded => "succeeded",
        Outcome::Failed { .. } => "failed",
        Outcome::TimedOut => "timed out",
        Outcome::Interrupted => "interrupted",
        Outcome::NotStarted => "not started",
    }
}

/// Returns the objectives that measure plans of an instance.
pub fn measured(instance: &Instance) -> Vec<Objective> {
    let all = Objective::OF_SCHEDULES.into_iter();
    all.filter(|objective| objective.is_meant_for(instance)).collect()
}
