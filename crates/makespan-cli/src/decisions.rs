//! Report tables with the decisions that policies log.

use std::borrow::Cow;
use std::collections::BTreeMap;

use makespan_core::{CompoundMeasures, Instance, Job, JobId, JobMeasures, Rows, TaskId, Time};
use makespan_formats::LogRow;
use makespan_formats::gantt::{Deadline, Marks};
use makespan_formats::report::Section;

use crate::summary::figure;

/// Maximum number of rows of a table. If there are more rows, a note states their number.
const SHOWN: usize = 500;

/// Returns a table of the logged decisions, or `None` if `rows` is empty.
pub fn decisions(title: &str, rows: &[LogRow], all: &str) -> Option<Section> {
    let cells = |row: &LogRow| {
        let moved = moved(row).unwrap_or_else(|| row.text.clone());
        vec![figure(row.time), row.job.clone(), row.kind.replace('_', " "), moved]
    };
    let text = "Decisions that the policy logged; times are in seconds.".to_owned();
    (!rows.is_empty()).then(|| Section {
        title: title.to_owned(),
        text: text + &more(rows.len(), "entries", all),
        columns: ["time", "job", "decision", "what"].map(str::to_owned).to_vec(),
        rows: rows.iter().take(SHOWN).map(cells).collect(),
        words: true,
        ..Section::default()
    })
}

/// Describes how a collision (two tasks planned on one processor at the same time) was resolved: the processor and
/// start before and after.
fn moved(row: &LogRow) -> Option<String> {
    let spot = |processor: u32, start: f64| format!("processor {processor} at {} s", figure(start));
    let from = spot(row.from_processor?, row.from_start?);
    let to = spot(row.to_processor?, row.to_start?);
    Some(format!("{from} \u{2192} {to}, penalty {}", row.penalty?))
}

fn more(count: usize, what: &str, all: &str) -> String {
    if count > SHOWN {
        format!(" The first {SHOWN} of {count} {what} are shown; {all} lists all.")
    } else {
        String::new()
    }
}

/// Returns a table of the jobs, or `None` if the instance has no compound jobs.
pub fn jobs(title: &str, instance: &Instance, measures: &CompoundMeasures, all: &str) -> Option<Section> {
    if !instance.has_compound_jobs() {
        return None;
    }
    let seconds = |time: Option<Time>| time.map_or("-".into(), |time| figure(time.seconds()));
    let row = |(name, job): (&str, &JobMeasures)| {
        vec![
            name.to_owned(),
            job.ending.name().replace('_', " "),
            figure(job.release.seconds()),
            seconds(job.start),
            seconds(job.end),
            seconds(job.deadline()),
            job.is_in_time().map_or("-", |in_time| if in_time { "yes" } else { "no" }).to_owned(),
            figure(job.cost as f64 / 1e3),
        ]
    };
    let named = instance.jobs().iter().map(|job| job.name.as_str()).zip(&measures.jobs);
    let text = "Times are in seconds; the cost is the sum of V / T over all tasks.".to_owned();
    Some(Section {
        title: title.to_owned(),
        text: text + &more(instance.jobs().len(), "jobs", all),
        columns: ["job", "outcome", "released", "start", "end", "deadline", "in time", "cost"]
            .map(str::to_owned)
            .to_vec(),
        rows: named.take(SHOWN).map(row).collect(),
        ..Section::default()
    })
}

/// Returns the tasks that collided in the last plan of their job, with their log texts.
fn collided(instance: &Instance, log: &[LogRow]) -> BTreeMap<TaskId, String> {
    let mut tasks: BTreeMap<TaskId, String> = BTreeMap::new();
    if !instance.has_compound_jobs() || log.is_empty() {
        return tasks;
    }
    let ids: BTreeMap<Cow<'_, str>, TaskId> = instance.task_ids().map(|task| (instance.name(task), task)).collect();
    let jobs: BTreeMap<&str, &Job<Rows>> = instance.jobs().iter().map(|job| (job.name.as_str(), job)).collect();
    for row in log {
        if row.to_processor.is_some() {
            tasks.extend(ids.get(row.job.as_str()).map(|&task| (task, row.text.clone())));
        } else if ["planned", "fallback", "rejected", "unaffordable"].contains(&row.kind.as_str())
            && let Some(job) = jobs.get(row.job.as_str())
        {
            tasks.retain(|&task, _| !job.has_task(task));
        }
    }
    tasks
}

/// Returns chart marks for the tasks that collided and for the deadlines of jobs.
pub fn marks(instance: &Instance, log: &[LogRow], measures: Option<&CompoundMeasures>) -> Marks {
    let deadline = |(id, measures): (JobId, &JobMeasures)| {
        let name = &instance.job(id).name;
        let (at, missed) = (measures.deadline()?, measures.is_in_time() == Some(false));
        let word = if missed { "missed" } else { "kept" };
        let text = format!("{name}: deadline {} s, {word}", figure(at.seconds()));
        Some(Deadline { at, text, missed, job: id })
    };
    let deadlines = measures.map(|measures| instance.ids().zip(&measures.jobs).filter_map(deadline).collect());
    Marks { tasks: collided(instance, log), deadlines: deadlines.unwrap_or_default(), ..Marks::default() }
}
