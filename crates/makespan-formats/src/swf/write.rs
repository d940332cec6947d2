//! Writes a log.

use std::io::{self, Write};

use makespan_core::{Expansion, Instance, Job, JobId, Placement, Schedule};
use rustc_hash::FxHashSet;

/// Writes an instance as a log, by submit time. With a schedule each record has its wait time, run time and
/// processors. Without one a moldable job is written with its time on its fewest processors, as requested processors.
/// A bag becomes one record for each of its tasks.
///
/// Job numbers are the names where all of these are different numbers and no job is a bag, positions from 1 otherwise.
/// Weights, speed-ups, bags and unavailable periods have no place in the format; a header note tells what was left out.
///
/// # Errors
/// Those of the writer; [`io::ErrorKind::InvalidInput`] when there are more tasks than [`Expansion::MAX_TASKS`], or a
/// compound job.
pub fn write_swf(instance: &Instance, schedule: Option<&Schedule>, writer: &mut dyn Write) -> io::Result<()> {
    let refused = |error| io::Error::new(io::ErrorKind::InvalidInput, format!("SWF has one record a task; {error}"));
    Expansion::check_count(instance.jobs()).map_err(refused)?;
    if let Some(job) = instance.jobs().iter().find(|job| job.is_compound()) {
        let problem = format!("SWF has no place for the edges of a graph of tasks, such as job `{}`", job.name);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    header(instance, writer)?;
    let numbers = numbers(instance);
    let mut first = Vec::with_capacity(instance.jobs().len());
    let mut count = 0_usize;
    for job in instance.jobs() {
        first.push(count);
        count += job.tasks() as usize;
    }
    let mut placed: Vec<Option<&Placement>> = vec![None; count];
    for placement in schedule.map_or(&[][..], Schedule::placements) {
        let job = instance.jobs().get(placement.job.index());
        if job.is_some_and(|job| u64::from(placement.task) < job.tasks()) {
            placed[first[placement.job.index()] + placement.task as usize] = Some(placement);
        }
    }
    let mut order: Vec<JobId> = instance.ids().collect();
    order.sort_by_key(|&id| instance.job(id).release);
    for id in order {
        let from = first[id.index()];
        let own = &placed[from..from + instance.job(id).tasks() as usize];
        for (position, placed) in (from as u64 + 1..).zip(own) {
            let number = numbers.as_ref().map_or(position, |numbers| numbers[id.index()]);
            record(number, instance.job(id), *placed, writer)?;
        }
    }
    Ok(())
}

fn record(number: u64, job: &Job, placed: Option<&Placement>, writer: &mut dyn Write) -> io::Result<()> {
    let walltime = job.walltime.map_or_else(|| "-1".to_owned(), |walltime| walltime.to_string());
    let fewest = job.profile().min_processors();
    write!(writer, "{number} {} ", job.release)?;
    match placed {
        Some(at) => {
            let (wait, run, processors) = (at.start - job.release, at.end - at.start, at.processors.len());
            write!(writer, "{wait} {run} {processors} -1 -1 {processors} {walltime} -1 1")?;
        }
        None => write!(writer, "-1 {} -1 -1 -1 {fewest} {walltime} -1 -1", job.profile().time(fewest))?,
    }
    writeln!(writer, " -1 -1 -1 -1 -1 -1 -1")
}

pub(super) fn header(instance: &Instance, writer: &mut dyn Write) -> io::Result<()> {
    let (jobs, processors) = (instance.tasks(), instance.processors());
    writeln!(writer, "; Version: 2.2\n; MaxJobs: {jobs}\n; MaxRecords: {jobs}")?;
    writeln!(writer, "; MaxNodes: {}\n; MaxProcs: {processors}", instance.platform().node_count())?;
    let mut left_out = Vec::new();
    // A best-effort bag has no weight of its own to lose.
    if instance.jobs().iter().any(|job| job.weight != makespan_core::Weight::ONE && !job.is_best_effort()) {
        left_out.push("weights");
    }
    if instance.jobs().iter().any(|job| job.priority != 0) {
        left_out.push("priorities");
    }
    if instance.jobs().iter().any(|job| !job.profile().is_rigid()) {
        left_out.push("speed-ups");
    }
    if instance.has_machine_times() {
        left_out.push("times on machines (the shortest is written)");
    }
    if !instance.platform().has_unit_speed() {
        left_out.push("speeds");
    }
    if instance.has_bags() {
        left_out.push("bags of tasks (a record a task)");
    }
    if !instance.unavailable().is_empty() {
        left_out.push("unavailable periods");
    }
    if left_out.is_empty() {
        return Ok(());
    }
    writeln!(writer, "; Note: written by Makespan without {}", left_out.join(", "))
}

/// The names as job numbers, where each is a different number and of one record.
pub(super) fn numbers(instance: &Instance) -> Option<Vec<u64>> {
    if instance.has_bags() {
        return None;
    }
    let mut seen = FxHashSet::default();
    let number = |name: &str| name.parse().ok().filter(|&number| seen.insert(number));
    instance.jobs().iter().map(|job| job.name.as_str()).map(number).collect()
}
