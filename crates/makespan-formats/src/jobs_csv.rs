//! Writes `jobs.csv`, with the columns that Batsim writes and evalys reads.

use std::borrow::Cow;
use std::io::Write;

use makespan_core::{Accounting, Instance, MemoryKill, Outcome, ProcSet, Run, Schedule, Time, Trace};

use crate::names::CsvNames;

/// Columns of the table, in Batsim's order.
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

/// Additional columns for a trace with accounting data. They contain the CPU time in seconds, the peak resident memory
/// in bytes, the certainty that a run was killed for memory (`certain`, `likely`, or empty), and the reserved memory in
/// bytes.
pub const ACCOUNTING: [&str; 4] = ["cpu_time", "peak_memory", "memory_kill", "reserved_memory"];

/// Writes a schedule as if it had been executed, with one line for each placement. A task of a bag is named `name/17`.
///
/// # Errors
/// Errors of the writer.
pub fn write_schedule(
    instance: &Instance,
    workload: &str,
    schedule: &Schedule,
    names: CsvNames,
    writer: &mut dyn Write,
) -> csv::Result<()> {
    let runs = schedule.placements().iter().map(|placement| {
        let run = Run {
            task: placement.task,
            start: placement.start,
            end: placement.end,
            processors: placement.processors.clone(),
            outcome: Outcome::Succeeded,
            accounting: None,
        };
        let job = instance.job_of(placement.task);
        (TaskLine { task: instance.name(placement.task), job: Cow::Borrowed(&job.name), walltime: job.walltime }, run)
    });
    write(instance, &names.write(workload), runs, false, names, writer)
}

/// Writes a trace, with one line for each run, and one line for each task that never ran. If any run has accounting
/// data, the columns [`ACCOUNTING`] follow.
///
/// # Errors
/// Errors of the writer.
pub fn write_trace(
    instance: &Instance,
    workload: &str,
    trace: &Trace,
    names: CsvNames,
    writer: &mut dyn Write,
) -> csv::Result<()> {
    let mut has_run = vec![false; instance.tasks() as usize];
    trace.runs.iter().for_each(|run| has_run[run.task.index()] = true);
    let never = instance.task_ids().filter(|task| !has_run[task.index()]).map(|task| Run {
        task,
        start: Time::ZERO,
        end: Time::ZERO,
        processors: ProcSet::new(),
        outcome: Outcome::NotStarted,
        accounting: None,
    });
    let runs = trace.runs.iter().cloned().chain(never);
    // In a trace, the job name of a line is the task's name, not the name of its job.
    let counted = trace.runs.iter().any(|run| run.accounting.is_some());
    let of = |task| TaskLine { task: instance.name(task), job: instance.name(task), walltime: instance.walltime(task) };
    let runs = runs.map(|run| (of(run.task), run));
    write(instance, &names.write(workload), runs, counted, names, writer)
}

/// Data of a task for one line of the table.
struct TaskLine<'a> {
    task: Cow<'a, str>,
    job: Cow<'a, str>,
    walltime: Option<Time>,
}

fn write<'a>(
    instance: &'a Instance,
    workload: &str,
    runs: impl Iterator<Item = (TaskLine<'a>, Run)>,
    counted: bool,
    names: CsvNames,
    writer: &mut dyn Write,
) -> csv::Result<()> {
    let mut table = csv::Writer::from_writer(writer);
    table.write_record(COLUMNS.iter().chain(ACCOUNTING.iter().filter(|_| counted)))?;
    for (of, run) in runs {
        let texts = [&*names.write(&of.task), workload, &*names.write(&of.job)];
        let own = row(instance, texts, of.walltime, &run);
        table.write_record(own.into_iter().chain(used(run.accounting.as_ref()).into_iter().filter(|_| counted)))?;
    }
    table.flush()?;
    Ok(())
}

/// Returns the fields of a line. `names` are the names of the task, the workload and the job.
fn row(instance: &Instance, names: [&str; 3], walltime: Option<Time>, run: &Run) -> [String; 17] {
    let release = instance.release(run.task);
    let started = run.outcome != Outcome::NotStarted;
    let (execution, turnaround) = (run.end - run.start, run.end - release);
    // An empty field denotes a missing value in pandas.
    let known = |value: String| if started { value } else { String::new() };
    let stretch =
        if execution.ticks() > 0 { (turnaround.seconds() / execution.seconds()).to_string() } else { String::new() };
    let [name, workload, job] = names.map(str::to_owned);
    [
        name,
        workload,
        job,
        release.to_string(),
        if started { run.processors.len() } else { instance.profile(run.task).min_processors() }.to_string(),
        walltime.map_or_else(|| "-1".to_owned(), |walltime| walltime.to_string()),
        u8::from(run.outcome == Outcome::Succeeded).to_string(),
        final_state(run.outcome).to_owned(),
        known(run.start.to_string()),
        known(execution.to_string()),
        known(run.end.to_string()),
        known((run.start - release).to_string()),
        known(turnaround.to_string()),
        known(stretch),
        if started { intervals(&run.processors) } else { String::new() },
        "-1".to_owned(),
        String::new(),
    ]
}

/// Returns the fields for accounting data, or empty fields if `accounting` is `None`.
fn used(accounting: Option<&Accounting>) -> [String; 4] {
    accounting.map_or_else(Default::default, |accounting| {
        let kill = match accounting.memory_kill {
            None => "",
            Some(MemoryKill::Likely) => "likely",
            Some(MemoryKill::Certain) => "certain",
        };
        let reserved = accounting.reserved_memory.map_or_else(String::new, |bytes| bytes.to_string());
        [accounting.cpu.to_string(), accounting.peak_memory.to_string(), kill.to_owned(), reserved]
    })
}

/// Returns Batsim's word for an outcome.
fn final_state(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Succeeded => "COMPLETED_SUCCESSFULLY",
        Outcome::Failed { .. } => "COMPLETED_FAILED",
        Outcome::TimedOut => "COMPLETED_WALLTIME_REACHED",
        Outcome::Interrupted => "COMPLETED_KILLED",
        Outcome::NotStarted => "REJECTED",
    }
}

/// Returns processor intervals separated by spaces, such as `0-3 7`.
fn intervals(processors: &ProcSet) -> String {
    processors.to_string().replace(',', " ")
}

#[cfg(test)]
mod tests {
    use makespan_core::{Job, Placement, Platform, Profile, TaskId};

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
            task: TaskId(0),
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
            task: TaskId(0),
            start: Time::from_seconds(2),
            end: Time::from_seconds(2),
            processors: ProcSet::first(5),
            outcome,
            accounting: None,
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
    fn what_runs_used_follows_where_it_was_counted() {
        let run = |accounting| Run {
            task: TaskId(0),
            start: Time::from_seconds(2),
            end: Time::from_seconds(3),
            processors: ProcSet::first(5),
            outcome: Outcome::Succeeded,
            accounting,
        };
        let half = Time::from_ticks(500_000_000);
        let (memory_kill, reserved_memory) = (Some(MemoryKill::Likely), Some(8192));
        let used = Accounting { cpu: half, peak_memory: 4096, memory_kill, reserved_memory, ..Accounting::default() };
        let mut bytes = Vec::new();
        let trace = Trace { runs: vec![run(Some(used)), run(None)] };
        write_trace(&instance(), "w0", &trace, CsvNames::Guarded, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with("metadata,cpu_time,peak_memory,memory_kill,reserved_memory"), "{text}");
        assert!(lines[1].ends_with(",-1,,0.5,4096,likely,8192") && lines[2].ends_with(",-1,,,,,"), "{text}");
    }

    #[test]
    fn a_job_that_was_given_up_has_its_line() {
        let mut bytes = Vec::new();
        write_trace(&instance(), "w0", &Trace { runs: Vec::new() }, CsvNames::Guarded, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text.lines().nth(1), Some("\"a, b\",w0,\"a, b\",0.5,5,60,0,REJECTED,,,,,,,,-1,"));
    }

    /// Checks that a line of a plan names the task's job, and that a line of a trace names the task.
    #[test]
    fn tasks_of_bags_and_compound_jobs_have_names_of_their_own() {
        use makespan_core::{Graph, NamedTask};

        let s = Time::from_seconds;
        let profile = || Profile::rigid(1, s(4)).unwrap();
        let graph = Graph::new(vec![NamedTask::new("x", profile())], vec![]).unwrap();
        let bag = Job::new("bag", profile()).with_count(2.try_into().unwrap());
        let jobs = vec![bag.with_walltime(s(9)), Job::compound("job", graph).with_walltime(s(60))];
        let instance = Instance::new(Platform::flat(8).unwrap(), jobs, vec![]).unwrap();
        let run = |task| Run {
            task,
            start: s(0),
            end: s(4),
            processors: ProcSet::first(1),
            outcome: Outcome::Succeeded,
            accounting: None,
        };
        let trace = Trace { runs: [1, 2].map(|task| run(TaskId(task))).to_vec() };
        let begins = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).unwrap();
            let cells = |line: &str| line.split(',').take(6).collect::<Vec<_>>().join(",");
            text.lines().skip(1).map(cells).collect::<Vec<_>>()
        };
        let mut bytes = Vec::new();
        write_trace(&instance, "w", &trace, CsvNames::Guarded, &mut bytes).unwrap();
        assert_eq!(begins(bytes), ["bag/1,w,bag/1,0,1,9", "job/x,w,job/x,0,1,60", "bag/0,w,bag/0,0,1,9"]);
        let mut bytes = Vec::new();
        write_schedule(&instance, "w", &trace.schedule(), CsvNames::Guarded, &mut bytes).unwrap();
        assert_eq!(begins(bytes), ["bag/1,w,bag,0,1,9", "job/x,w,job,0,1,60"]);
    }
}
