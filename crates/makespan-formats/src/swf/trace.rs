//! Writes a trace, or a workload for a replay, as a log.

use std::io::{self, Write};

use makespan_core::{Actual, Instance, Outcome, ProcSet, Run, TaskId, Trace, Weight};

use super::write::{JobNumbers, by_release, header, memory};

/// Writes a trace as a log, with one record for each task, in the order of submit times. A record contains the wait
/// time, run time and processors of the last run of the task, the status, and the user of the job. The status is 1 if
/// the run completed, 0 if it failed or reached its walltime, and 5 if the task was cancelled before it started. The
/// requested time is the walltime, or else the estimated run time on these processors.
///
/// Earlier runs of a task, which ended because processors failed, are omitted. A header note states the number of
/// these runs. Reading the log for a replay gives the same tasks, but each task is rigid on the processors that it
/// used.
///
/// # Errors
/// Errors of the writer.
pub fn write_swf_trace(instance: &Instance, trace: &Trace, writer: &mut dyn Write) -> io::Result<()> {
    let mut last: Vec<Option<&Run>> = vec![None; instance.tasks() as usize];
    let mut earlier = 0;
    for run in trace.runs.iter().filter(|run| run.outcome != Outcome::NotStarted) {
        if let Some(slot) = last.get_mut(run.task.index()) {
            earlier += usize::from(slot.is_some());
            *slot = Some(run);
        }
    }
    header(instance, has_weights(instance), None, writer)?;
    if earlier > 0 {
        writeln!(writer, "; Note: {earlier} interrupted runs are omitted; wait times end at the last start")?;
    }
    let numbers = JobNumbers::new(instance);
    by_release(instance).try_for_each(|task| record(instance, task, numbers.of(task), last[task.index()], writer))
}

/// Returns whether a task has a weight other than one.
fn has_weights(instance: &Instance) -> bool {
    instance.jobs().iter().any(|job| job.task_weight() != Weight::ONE)
}

fn record(instance: &Instance, task: TaskId, number: u64, run: Option<&Run>, writer: &mut dyn Write) -> io::Result<()> {
    let (job, walltime) = (instance.job_of(task), instance.walltime(task));
    write!(writer, "{number} {} ", job.release)?;
    match run {
        Some(run) => {
            let (wait, time, processors) = (run.start - job.release, run.end - run.start, run.processors.len());
            let requested = walltime.unwrap_or_else(|| instance.time(task, &run.processors));
            let status = u8::from(run.outcome == Outcome::Succeeded);
            let memory = memory(instance, task, processors);
            write!(writer, "{wait} {time} {processors} -1 -1 {processors} {requested} {memory} {status} ")?;
        }
        None => {
            let profile = instance.profile(task);
            let fewest = profile.min_processors();
            let requested = walltime.unwrap_or_else(|| profile.time(fewest));
            write!(writer, "-1 -1 -1 -1 -1 {fewest} {requested} {} 5 ", memory(instance, task, fewest))?;
        }
    }
    rest(job.user, writer)
}

/// Writes the last fields of a record, beginning with the user.
fn rest(user: Option<u32>, writer: &mut dyn Write) -> io::Result<()> {
    writeln!(writer, "{} -1 -1 -1 -1 -1 -1", user.map_or(-1, i64::from))
}

/// Writes a workload as a log for replays, in the order of submit times. The log contains the real run times, the
/// estimates as requested times, and the users. The log contains no wait times, because a replay computes them. A
/// moldable task is written on its minimum number of processors.
///
/// # Errors
/// Errors of the writer.
pub fn write_swf_log(instance: &Instance, actual: &Actual, writer: &mut dyn Write) -> io::Result<()> {
    header(instance, has_weights(instance), None, writer)?;
    let numbers = JobNumbers::new(instance);
    for task in by_release(instance) {
        let (job, number, profile) = (instance.job_of(task), numbers.of(task), instance.profile(task));
        let fewest = profile.min_processors();
        let (estimate, run) = (profile.time(fewest), actual.time(instance, task, &ProcSet::first(fewest)));
        let memory = memory(instance, task, fewest);
        write!(writer, "{number} {} -1 {run} -1 -1 -1 {fewest} {estimate} {memory} -1 ", job.release)?;
        rest(job.user, writer)?;
    }
    Ok(())
}
