//! Writes what happened, or what is to happen, as a log.

use std::io::{self, Write};

use makespan_core::{Actual, Instance, JobId, Outcome, ProcSet, Run, Trace};

use super::write::{header, numbers};

/// Writes what happened as a log, one record a job, by submit time: wait time, run time and processors of its last
/// run, its status (1 completed, 0 failed or ended at its walltime, 5 cancelled before it started) and its user, where
/// `users` has one. The requested time is the walltime, or else what the job was estimated to take on these processors.
///
/// Runs that lost processors before the last one are left out; a header note counts them. Read for replay, the log
/// gives the same jobs, but rigid on the processors that they had.
///
/// # Errors
/// Those of the writer.
pub fn write_swf_trace(
    instance: &Instance,
    trace: &Trace,
    users: &[Option<u32>],
    writer: &mut dyn Write,
) -> io::Result<()> {
    let mut last: Vec<Option<&Run>> = vec![None; instance.jobs().len()];
    let mut earlier = 0;
    for run in trace.runs.iter().filter(|run| run.outcome != Outcome::NotStarted) {
        if let Some(slot) = last.get_mut(run.job.index()) {
            earlier += usize::from(slot.is_some());
            *slot = Some(run);
        }
    }
    header(instance, writer)?;
    if earlier > 0 {
        writeln!(writer, "; Note: {earlier} interrupted runs are left out; wait times count to the last start")?;
    }
    let mut order: Vec<JobId> = instance.ids().collect();
    order.sort_by_key(|&id| instance.job(id).release);
    let numbers = numbers(instance);
    for id in order {
        let number = numbers.as_ref().map_or(id.index() as u64 + 1, |numbers| numbers[id.index()]);
        let user = users.get(id.index()).copied().flatten();
        record(instance, id, number, last[id.index()], user, writer)?;
    }
    Ok(())
}

fn record(
    instance: &Instance,
    id: JobId,
    number: u64,
    run: Option<&Run>,
    user: Option<u32>,
    writer: &mut dyn Write,
) -> io::Result<()> {
    let job = instance.job(id);
    write!(writer, "{number} {} ", job.release)?;
    match run {
        Some(run) => {
            let (wait, time, processors) = (run.start - job.release, run.end - run.start, run.processors.len());
            let requested = job.walltime.unwrap_or_else(|| instance.time(id, &run.processors));
            let status = u8::from(run.outcome == Outcome::Succeeded);
            write!(writer, "{wait} {time} {processors} -1 -1 {processors} {requested} -1 {status} ")?;
        }
        None => {
            let fewest = job.profile().min_processors();
            let requested = job.walltime.unwrap_or_else(|| job.profile().time(fewest));
            write!(writer, "-1 -1 -1 -1 -1 {fewest} {requested} -1 5 ")?;
        }
    }
    rest(user, writer)
}

/// The fields from the user on.
fn rest(user: Option<u32>, writer: &mut dyn Write) -> io::Result<()> {
    writeln!(writer, "{} -1 -1 -1 -1 -1 -1", user.map_or(-1, i64::from))
}

/// Writes a workload as a log to be replayed, by submit time: the real run times, the estimates as requested times, and
/// the users; no wait times, which are what a replay finds out. A moldable job is written on its fewest processors.
///
/// # Errors
/// Those of the writer.
pub fn write_swf_log(
    instance: &Instance,
    actual: &Actual,
    users: &[Option<u32>],
    writer: &mut dyn Write,
) -> io::Result<()> {
    header(instance, writer)?;
    let mut order: Vec<JobId> = instance.ids().collect();
    order.sort_by_key(|&id| instance.job(id).release);
    let numbers = numbers(instance);
    for id in order {
        let job = instance.job(id);
        let number = numbers.as_ref().map_or(id.index() as u64 + 1, |numbers| numbers[id.index()]);
        let fewest = job.profile().min_processors();
        let (estimate, run) = (job.profile().time(fewest), actual.time(instance, id, &ProcSet::first(fewest)));
        write!(writer, "{number} {} -1 {run} -1 -1 -1 {fewest} {estimate} -1 -1 ", job.release)?;
        rest(users.get(id.index()).copied().flatten(), writer)?;
    }
    Ok(())
}
