//! Facts about a run for its report: title, commands, exit statuses and output files.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::UNIX_EPOCH;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use makespan_core::{Instance, Outcome, Run, Schedule, TaskId, Time, Trace, counted};
use makespan_formats::list::quoted;
use makespan_formats::report::{Attempt, RunDetails};

use super::folder::PLAN;
use super::outcome::Outcomes;
use crate::args::{STANDARD_INPUT, SourceOptions};
use crate::output::shortened;

/// Characters of a command in a title.
const TITLE: usize = 60;
/// Characters of a command in the table of jobs.
const COMMAND: usize = 1000;
/// Characters of all commands in the table of jobs, so that a page of many jobs stays small.
const ALL_COMMANDS: usize = 4_000_000;
/// Characters of a command if there are very many.
const SHORT_COMMAND: usize = 40;
/// Shells whose option -c is not shown.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "ksh", "zsh"];

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

/// Returns when the first session of a run wrote the plan, on the clock of this machine.
fn begin(folder: &Path) -> Option<String> {
    let written = folder.join(PLAN).metadata().ok()?.modified().ok()?;
    let seconds = written.duration_since(UNIX_EPOCH).ok()?.as_secs();
    let begin = Timestamp::from_second(i64::try_from(seconds).ok()?).ok()?;
    Some(begin.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string())
}

/// Returns the facts about a run whose executions are `ran`.
pub fn details(outcomes: &Outcomes<'_>, ran: &Schedule) -> RunDetails {
    let (instance, folder) = (outcomes.instance, outcomes.folder);
    let runs: BTreeMap<(TaskId, Time), &Run> =
        outcomes.trace.runs.iter().map(|run| ((run.task, run.start), run)).collect();
    let lasts = lasts(outcomes.trace);
    let attempt = |task, start| {
        let ended = runs.get(&(task, start)).map(|run| ended(run)).unwrap_or_default();
        if lasts.get(&task) == Some(&start) {
            Attempt { ended, ..with_files(folder, instance, task) }
        } else {
            Attempt { ended, ..Attempt::default() }
        }
    };
    let (succeeded, others) = outcomes.numbers();
    let machine = counted(instance.processors(), "processor");
    RunDetails {
        origin: vec![machine, format!("folder {}", folder.display())],
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

/// Returns the exit status, or another reason why a run ended.
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

fn with_files(folder: &Path, instance: &Instance, task: TaskId) -> Attempt {
    let [out, err] = makespan_exec::output_files(folder, instance, task);
    let is_written = |path: &Path| path.symlink_metadata().is_ok_and(|file| file.is_file() && file.len() > 0);
    let stem = out.strip_prefix(folder).unwrap_or(&out).with_extension("").to_string_lossy().into_owned();
    Attempt { ended: String::new(), stem, has_output: is_written(&out), has_errors: is_written(&err) }
}

/// Returns the command of each different task as a user would type it.
fn commands(instance: &Instance) -> Vec<String> {
    let room = (ALL_COMMANDS / instance.different_tasks().max(1)).clamp(SHORT_COMMAND, COMMAND);
    instance.different_task_ids().map(|task| shortened(&typed(&instance.task(task).command), room)).collect()
}

fn typed(words: &[String]) -> String {
    match words {
        [shell, option, line] if option == "-c" && SHELLS.contains(&shell.rsplit('/').next().unwrap_or_default()) => {
            line.clone()
        }
        words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn commands_are_shown_as_typed() {
        let typed = |words: &[&str]| super::typed(&words.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(typed(&["sh", "-c", "echo a | wc"]), "echo a | wc");
        assert_eq!(typed(&["/bin/bash", "-c", "echo $x"]), "echo $x");
        assert_eq!(typed(&["gzip", "-9", "a b"]), "gzip -9 'a b'");
        assert_eq!(typed(&["python", "-c", "print(1)"]), "python -c 'print(1)'");
    }
}
