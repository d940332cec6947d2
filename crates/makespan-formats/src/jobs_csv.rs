//! `jobs.csv` in the columns that Batsim writes and evalys reads.

use std::io::Write;

use makespan_core::{Instance, Outcome, ProcSet, Run, Schedule, Time, Trace};

use crate::names::CsvNames;

/// The columns, in Batsim's order.
pub const COLUMNS: [&str; 17] = [
    "job_id",
    "workload_name",
    "profile",
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "success",
    "final_state",
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "allocated_resources",
    "consumed_energy",
    "metadata",
];

/// Writes a schedule as if it had happened, one line a placement; a task of a bag is called `name/17`.
///
/// # Errors
/// Those of the writer.
pub fn write_schedule(
    instance: &Instance,
    workload: &str,
    schedule: &Schedule,
    names: CsvNames,
    writer: &mut dyn Write,
) -> csv::Result<()> {
    let runs = schedule.placements().iter().map(|placement| {
        let run = Run {
            job: placement.job,
            start: placement.start,
            end: placement.end,
            processors: placement.processors.clone(),
            outcome: Outcome::Succeeded,
        };
        (instance.job(placement.job).task_name(placement.task), run)
    });
    write(instance, &names.write(workload), runs, names, writer)
}

/// Writes what happened, one line an execution, and one for each job without any, which was given up or never started.
///
/// # Errors
/// Those of the writer.
pub fn write_trace(
    instance: &Instance,
    workload: &str,
    trace: &Trace,
    names: CsvNames,
    writer: &mut dyn Write,
) -> csv::Result<()> {
    let mut has_run = vec![false; instance.jobs().len()];
    trace.runs.iter().for_each(|run| has_run[run.job.index()] = true);
    let never = instance.ids().filter(|job| !has_run[job.index()]).map(|job| Run {
        job,
        start: Time::ZERO,
        end: Time::ZERO,
        processors: ProcSet::new(),
        outcome: Outcome::NotStarted,
    });
    let runs = trace.runs.iter().cloned().chain(never);
    let runs = runs.map(|run| (instance.job(run.job).name.clone(), run));
    write(instance, &names.write(workload), runs, names, writer)
}

fn write(
    instance: &Instance,
    workload: &str,
    runs: impl Iterator<Item = (String, Run)>,
    names: CsvNames,
    writer: &mut dyn Write,
) -> csv::Result<()> {
    let mut table = csv::Writer::from_writer(writer);
    table.write_record(COLUMNS)?;
    for (name, run) in runs {
        let whole = names.write(&instance.job(run.job).name);
        table.write_record(row(instance, [&names.write(&name), workload, &whole], &run))?;
    }
    table.flush()?;
    Ok(())
}

/// A line; the texts are the names of the task, the workload and the job.
fn row(instance: &Instance, names: [&str; 3], run: &Run) -> [String; 17] {
    let job = instance.job(run.job);
    let started = run.outcome != Outcome::NotStarted;
    let (execution, turnaround) = (run.end - run.start, run.end - job.release);
    // Empty is how pandas writes and reads what does not exist.
    let known = |value: String| if started { value } else { String::new() };
    let stretch =
        if execution.ticks() > 0 { (turnaround.seconds() / execution.seconds()).to_string() } else { String::new() };
    let [name, workload, whole] = names.map(str::to_owned);
    [
        name,
        workload,
        whole,
        job.release.to_string(),
        if started { run.processors.len() } else { job.profile().min_processors() }.to_string(),
        job.walltime.map_or_else(|| "-1".to_owned(), |walltime| walltime.to_string()),
        u8::from(run.outcome == Outcome::Succeeded).to_string(),
        final_state(run.outcome).to_owned(),
        known(run.start.to_string()),
        known(execution.to_string()),
        known(run.end.to_string()),
        known((run.start - job.release).to_string()),
        known(turnaround.to_string()),
        known(stretch),
        if started { intervals(&run.processors) } else { String::new() },
        "-1".to_owned(),
        String::new(),
    ]
}

/// Batsim's words.
fn final_state(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Succeeded => "COMPLETED_SUCCESSFULLY",
        Outcome::Failed { .. } => "COMPLETED_FAILED",
        Outcome::TimedOut => "COMPLETED_WALLTIME_REACHED",
        Outcome::Interrupted => "COMPLETED_KILLED",
        Outcome::NotStarted => "REJECTED",
    }
}

/// Intervals separated by spaces, such as `0-3 7`.
fn intervals(processors: &ProcSet) -> String {
    processors.to_string().replace(',', " ")
}

#[cfg(test)]
mod tests {
    use makespan_core::{Job, JobId, Placement, Platform, Profile};

    use super::*;

    fn instance() -> Instance {
        let job = Job::new("a, b", Profile::rigid(5, Time::from_seconds(4)).unwrap());
        let mut job = job.with_release(Time::from_ticks(500_000_000));
        job.walltime = Some(Time::from_seconds(60));
        Instance::new(Platform::flat(8).unwrap(), vec![job], vec![]).unwrap()
    }

    #[test]
    fn a_schedule_gives_the_columns_of_batsim() {
        let placement = Placement {
            job: JobId(0),
            task: 0,
            start: Time::from_seconds(2),
            end: Time::from_seconds(6),
            processors: "0-3,7".parse().unwrap(),
        };
        let mut bytes = Vec::new();
        write_schedule(&instance(), "w0", &Schedule::new(vec![placement]), CsvNames::Guarded, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (header, line) = text.split_once('\n').unwrap();
        assert_eq!(header, COLUMNS.join(","));
        assert_eq!(line, "\"a, b\",w0,\"a, b\",0.5,5,60,1,COMPLETED_SUCCESSFULLY,2,4,6,1.5,5.5,1.375,0-3 7,-1,\n");
    }

    #[test]
    fn a_trace_tells_how_each_run_ended() {
        let run = |outcome| Run {
            job: JobId(0),
            start: Time::from_seconds(2),
            end: Time::from_seconds(2),
            processors: ProcSet::first(5),
            outcome,
        };
        let outcomes = [Outcome::Failed { status: 3 }, Outcome::TimedOut, Outcome::NotStarted];
        let trace = Trace { runs: outcomes.map(run).to_vec() };
        let mut bytes = Vec::new();
        write_trace(&instance(), "w0", &trace, CsvNames::Guarded, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let states: Vec<&str> = text.lines().skip(1).map(|line| line.split_once(",0,").unwrap().1).collect();
        assert!(states[0].starts_with("COMPLETED_FAILED,2,0,2,1.5,1.5,,0-4"), "{text}");
        assert!(states[1].starts_with("COMPLETED_WALLTIME_REACHED,2,"), "{text}");
        assert!(states[2].starts_with("REJECTED,,,,,,,,-1,"), "{text}");
    }

    #[test]
    fn a_job_that_was_given_up_has_its_line() {
        let mut bytes = Vec::new();
        write_trace(&instance(), "w0", &Trace { runs: Vec::new() }, CsvNames::Guarded, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text.lines().nth(1), Some("\"a, b\",w0,\"a, b\",0.5,5,60,0,REJECTED,,,,,,,,-1,"));
    }
}
