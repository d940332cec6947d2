//! Reads and writes the critical chains of a strategy in Schedule JSON.

use std::io::{self, Write};

use makespan_core::{ChainReport, CriticalChain, Instance, ResolvedCollision, StartPlace, TaskId, TaskWindow, Time};
use serde::Deserialize;

use crate::native::error::{FilePlace, FormatError};
use crate::native::scalar::{Count, Scalar};
use crate::native::suggest::nearest;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChainEntry {
    job: String,
    rank: Scalar<Count>,
    length: Scalar<Time>,
    tasks: Vec<String>,
    variants: Option<Scalar<Count>>,
    windows: Vec<WindowEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WindowEntry {
    task: String,
    earliest: Scalar<Time>,
    latest: Scalar<Time>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CollisionEntry {
    job: String,
    task: String,
    planned: PlaceEntry,
    resolved: PlaceEntry,
    penalty: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceEntry {
    processor: Scalar<Count>,
    start: Scalar<Time>,
}

impl PlaceEntry {
    fn read(&self) -> StartPlace {
        StartPlace { processor: self.processor.0.0, start: self.start.0 }
    }
}

/// Reads the chains and collisions of a strategy.
pub(super) fn read(
    file: &str,
    chains: Vec<ChainEntry>,
    collisions: Vec<CollisionEntry>,
    instance: &Instance,
) -> Result<ChainReport, FormatError> {
    let task = |path: String, job: &str, task: &str| {
        find(instance, job, task).map_err(|problem| FormatError::content(file, FilePlace::field(path), problem))
    };
    let mut report = ChainReport::default();
    for (at, entry) in chains.into_iter().enumerate() {
        let path = |list: &str, number: usize| format!("strategy.chains[{at}].{list}[{number}]");
        let tasks = entry.tasks.iter().enumerate().map(|(number, name)| task(path("tasks", number), &entry.job, name));
        let tasks = tasks.collect::<Result<Vec<_>, _>>()?;
        let window = |(number, window): (usize, &WindowEntry)| {
            let task = task(path("windows", number), &entry.job, &window.task)?;
            Ok(TaskWindow { task, earliest: window.earliest.0, latest: window.latest.0 })
        };
        let windows = entry.windows.iter().enumerate().map(window).collect::<Result<_, FormatError>>()?;
        let variants = entry.variants.map(|count| count.0.0);
        report.chains.push(CriticalChain { rank: entry.rank.0.0, length: entry.length.0, tasks, windows, variants });
    }
    for (at, entry) in collisions.into_iter().enumerate() {
        let task = task(format!("strategy.collisions[{at}]"), &entry.job, &entry.task)?;
        let (planned, resolved) = (entry.planned.read(), entry.resolved.read());
        report.collisions.push(ResolvedCollision { task, planned, resolved, penalty: entry.penalty });
    }
    Ok(report)
}

/// Returns a task of a compound job.
fn find(instance: &Instance, job: &str, name: &str) -> Result<TaskId, String> {
    let Some(own) = instance.jobs().iter().find(|own| own.name == job && own.is_compound()) else {
        return Err(format!("the instance has no compound job `{job}`"));
    };
    let mut tasks = own.task_ids();
    tasks.find(|&task| instance.short_name(task) == name).ok_or_else(|| {
        let names: Vec<_> = own.task_ids().map(|task| instance.short_name(task)).collect();
        let near = nearest(name, names.iter().map(|name| &**name));
        let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        format!("job `{job}` has no task `{name}`{hint}")
    })
}

/// Writes the keys `chains` and `collisions`. Writes nothing if there are no chains.
pub(super) fn write(report: &ChainReport, instance: &Instance, writer: &mut dyn Write) -> io::Result<()> {
    if report.is_empty() {
        return Ok(());
    }
    let text = |name: &str| serde_json::to_string(name);
    let job = |task: TaskId| text(&instance.job_of(task).name);
    let name = |task: TaskId| text(&instance.short_name(task));
    write!(writer, ",\n  \"chains\": [")?;
    for (at, chain) in report.chains.iter().enumerate() {
        let CriticalChain { rank, length, tasks, windows, variants } = chain;
        let Some(&first) = tasks.first() else { continue };
        let names = tasks.iter().map(|&task| name(task)).collect::<Result<Vec<_>, _>>()?.join(", ");
        writer.write_all(if at == 0 { b"\n   " } else { b",\n   " })?;
        write!(writer, "{{\"job\": {}, \"rank\": {rank}, \"length\": {length}, \"tasks\": [{names}]", job(first)?)?;
        if let Some(variants) = variants {
            write!(writer, ", \"variants\": {variants}")?;
        }
        write!(writer, ", \"windows\": [")?;
        for (at, TaskWindow { task, earliest, latest }) in windows.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let task = name(*task)?;
            write!(writer, "{comma}{{\"task\": {task}, \"earliest\": {earliest}, \"latest\": {latest}}}")?;
        }
        write!(writer, "]}}")?;
    }
    write!(writer, "],\n  \"collisions\": [")?;
    for (at, ResolvedCollision { task, planned, resolved, penalty }) in report.collisions.iter().enumerate() {
        let place = |place: &StartPlace| format!("{{\"processor\": {}, \"start\": {}}}", place.processor, place.start);
        writer.write_all(if at == 0 { b"\n   " } else { b",\n   " })?;
        write!(writer, "{{\"job\": {}, \"task\": {}", job(*task)?, name(*task)?)?;
        let (planned, resolved) = (place(planned), place(resolved));
        write!(writer, ", \"planned\": {planned}, \"resolved\": {resolved}, \"penalty\": {penalty}}}")?;
    }
    write!(writer, "]")
}
