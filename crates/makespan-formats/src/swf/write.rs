//! Writes a log.

use std::io::{self, Write};

use makespan_core::{Instance, JobId, Placement, Schedule};
use rustc_hash::FxHashSet;

/// Writes an instance as a log, by submit time. With a schedule each record has its wait time, run time and
/// processors. Without one a moldable job is written with its time on its fewest processors, as requested processors.
///
/// Job numbers are the names where all of these are different numbers, positions from 1 otherwise. Weights, speed-ups
/// and unavailable periods have no place in the format; a header note tells what was left out.
///
/// # Errors
/// Those of the writer.
pub fn write_swf(instance: &Instance, schedule: Option<&Schedule>, writer: &mut dyn Write) -> io::Result<()> {
    header(instance, writer)?;
    let numbers = numbers(instance);
    let mut placed: Vec<Option<&Placement>> = vec![None; instance.jobs().len()];
    for placement in schedule.map_or(&[][..], Schedule::placements) {
        if let Some(slot) = placed.get_mut(placement.job.index()) {
            *slot = Some(placement);
        }
    }
    let mut order: Vec<JobId> = instance.ids().collect();
    order.sort_by_key(|&id| instance.job(id).release);
    for id in order {
        let job = instance.job(id);
        let number = numbers.as_ref().map_or(id.index() as u64 + 1, |numbers| numbers[id.index()]);
        let walltime = job.walltime.map_or_else(|| "-1".to_owned(), |walltime| walltime.to_string());
        let fewest = job.profile().min_processors();
        write!(writer, "{number} {} ", job.release)?;
        match placed[id.index()] {
            Some(at) => {
                let (wait, run, processors) = (at.start - job.release, at.end - at.start, at.processors.len());
                write!(writer, "{wait} {run} {processors} -1 -1 {processors} {walltime} -1 1")?;
            }
            None => write!(writer, "-1 {} -1 -1 -1 {fewest} {walltime} -1 -1", job.profile().time(fewest))?,
        }
        writeln!(writer, " -1 -1 -1 -1 -1 -1 -1")?;
    }
    Ok(())
}

fn header(instance: &Instance, writer: &mut dyn Write) -> io::Result<()> {
    let (jobs, processors) = (instance.jobs().len(), instance.processors());
    writeln!(writer, "; Version: 2.2\n; MaxJobs: {jobs}\n; MaxRecords: {jobs}")?;
    writeln!(writer, "; MaxNodes: {}\n; MaxProcs: {processors}", instance.platform().nodes().len())?;
    let mut left_out = Vec::new();
    if instance.jobs().iter().any(|job| job.weight != makespan_core::Weight::ONE) {
        left_out.push("weights");
    }
    if instance.jobs().iter().any(|job| !job.profile().is_rigid()) {
        left_out.push("speed-ups");
    }
    if !instance.unavailable().is_empty() {
        left_out.push("unavailable periods");
    }
    if left_out.is_empty() {
        return Ok(());
    }
    writeln!(writer, "; Note: written by Makespan without {}", left_out.join(", "))
}

/// The names as job numbers, where each is a different number.
fn numbers(instance: &Instance) -> Option<Vec<u64>> {
    let mut seen = FxHashSet::default();
    let number = |name: &str| name.parse().ok().filter(|&number| seen.insert(number));
    instance.jobs().iter().map(|job| job.name.as_str()).map(number).collect()
}
