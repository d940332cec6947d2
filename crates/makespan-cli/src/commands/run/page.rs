//! Facts about a run for its report: title, commands, exit statuses and output files.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::UNIX_EPOCH;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use makespan_core::{Instance, Outcome, Run, Schedule, TaskId, Time, Trace, counted};
use makespan_exec::OutputFiles;
use makespan_formats::report::{Attempt, RunDetails};

use super::command::command_line;
use super::folder::PLAN;
use super::outcome::Outcomes;
use crate::args::{STANDARD_INPUT, SourceOptions};
use crate::output::shortened;

/// Maximum number of characters of a command in a title.
const TITLE: usize = 60;
/// Maximum number of characters of a command in the table of jobs.
const COMMAND: usize = 1000;
/// Maximum number of characters of all commands together in the table of jobs. The limit keeps the page small.
const ALL_COMMANDS: usize = 4_000_000;
/// Smallest limit for the length of a command in the table, in characters.
const SHORT_COMMAND: usize = 40;

/// Returns the title of a report: the list or the command, the date and the machine.
pub fn title(source: &SourceOptions, machine: &str, folder: &Path) -> String {
    let name = match &source.instance {
        Some(path) if path.as_os_str() == STANDARD_INPUT => "standard input".to_owned(),
        Some(path) => path.file_name().map_or_else(|| source.name(), |name| name.to_string_lossy().into_owned()),
        None => shortened(&source.stated_template().unwrap_or_default(), TITLE),
    };
    let begin = begin(folder).map_or_else(String::new, |begin| format!(", {begin}"));
    format!("{name}{begin}, {machine}")
}

/// Returns the local date and time at which the first session of a run wrote the plan.
fn begin(folder: &Path) -> Option<String> {
    let written = folder.join(PLAN).metadata().ok()?.modified().ok()?;
    let seconds = written.duration_since(UNIX_EPOCH).ok()?.as_secs();
    let begin = Timestamp::from_second(i64::try_from(seconds).ok()?).ok()?;
    Some(begin.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string())
}

/// Returns the facts about a run for the report. `ran` is the schedule of the actual executions.
pub fn details(outcomes: &Outcomes<'_>, ran: &Schedule) -> RunDetails {
    let (instance, outputs) = (outcomes.instance, outcomes.outputs);
    let runs: BTreeMap<(TaskId, Time), &Run> =
        outcomes.trace.runs.iter().map(|run| ((run.task, run.start), run)).collect();
    let lasts = lasts(outcomes.trace);
    let attempt = |task, start| {
        let ended = runs.get(&(task, start)).map(|run| ended(run)).unwrap_or_default();
        if lasts.get(&task) == Some(&start) {
            Attempt { ended, ..with_files(outputs, instance, task) }
        } else {
            Attempt { ended, ..Attempt::default() }
        }
    };
    let (succeeded, others) = outcomes.numbers();
    let machine = counted(instance.processors(), "processor");
    RunDetails {
        origin: vec![machine, format!("folder {}", outputs.folder().display())],
        succeeded,
        others,
        commands: commands(instance),
        attempts: ran.placements().iter().map(|one| attempt(one.task, one.start)).collect(),
    }
}

/// Returns the start of the last execution of each task.
fn lasts(trace: &Trace) -> BTreeMap<TaskId, Time> {
    trace.runs.iter().filter(|run| run.outcome != Outcome::NotStarted).map(|run| (run.task, run.start)).collect()
}

/// Describes the end of an execution: the exit status or another reason.
fn ended(run: &Run) -> String {
    match run.outcome {
        Outcome::Succeeded => "0".to_owned(),
        Outcome::Failed { .. } if run.accounting.is_some_and(|used| used.memory_kill.is_some()) => "no memory".into(),
        Outcome::Failed { status } => match run.outcome.signal() {
            Some(signal) => format!("signal {signal}"),
            None => status.to_string(),
        },
        Outcome::TimedOut => "time limit".into(),
        Outcome::Interrupted => "interrupted".into(),
        Outcome::NotStarted => "not started".into(),
    }
}

fn with_files(outputs: &OutputFiles, instance: &Instance, task: TaskId) -> Attempt {
    let [out, err] = outputs.of(instance, task);
    let is_written = |path: &Path| path.symlink_metadata().is_ok_and(|file| file.is_file() && file.len() > 0);
    let stem = outputs.stem(instance, task);
    Attempt { ended: String::new(), stem, has_output: is_written(&out), has_errors: is_written(&err) }
}

/// Returns the command of each distinct task as a user would type it.
fn commands(instance: &Instance) -> Vec<String> {
    let room = (ALL_COMMANDS / instance.different_tasks().max(1)).clamp(SHORT_COMMAND, COMMAND);
    instance.different_task_ids().map(|task| shortened(&command_line(&instance.task(task).command), room)).collect()
}
