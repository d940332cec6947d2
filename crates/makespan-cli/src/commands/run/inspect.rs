//! Shows a run from its folder: its state, one of its jobs, and the outputs of all jobs.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use makespan_core::{Outcome, Run, Time, counted};
use makespan_exec::journal::{Progression, RecordedRun};
use miette::{Result, miette};

use super::command::command_line;
use super::copy::{CopyError, Stream, Style, copy, open, streams};
use super::printed::PrintedOutputs;
use super::record::{RunRecord, command_of};
use crate::args::StatusOptions;
use crate::output::{complain, emit, shell_word, shown};

/// The maximum number of jobs that `status` names.
const NAMED: usize = 20;

/// A run, as read from its folder.
struct InspectedRun {
    folder: PathBuf,
    run: RecordedRun,
    /// The last ended execution of each task.
    last: BTreeMap<usize, Run>,
}

impl InspectedRun {
    fn read(folder: &Path) -> Result<Self> {
        let name = shown(&folder.display().to_string()).into_owned();
        if !folder.is_dir() {
            return Err(miette!("there is no folder {name} of a run"));
        }
        let run = RecordedRun::read(folder).map_err(|error| miette!("{name} contains no readable run: {error}"))?;
        let last = run.history.runs.iter().map(|run| (run.task.index(), run.clone())).collect();
        Ok(Self { folder: folder.to_owned(), run, last })
    }

    /// Returns the state of a task in words.
    fn state(&self, task: usize) -> String {
        match &self.run.history.tasks[task] {
            Progression::Open => "not run".into(),
            Progression::Running(_) if self.run.goes_on => "running".into(),
            Progression::Running(_) => "running when its session ended".into(),
            Progression::Cancelled => "cancelled".into(),
            Progression::Ended(outcome) => outcome_words(*outcome),
        }
    }

    /// Returns the files with the output of a task.
    fn files(&self, task: usize) -> [PathBuf; 2] {
        ["out", "err"].map(|ending| self.folder.join(format!("{}.{ending}", self.run.stems[task])))
    }

    /// Returns true if the output files contain the output of the task's last attempt.
    fn has_output(&self, task: usize) -> bool {
        match self.run.history.tasks[task] {
            Progression::Running(_) => true,
            Progression::Ended(outcome) => outcome != Outcome::NotStarted,
            Progression::Open | Progression::Cancelled => false,
        }
    }

    /// Returns the date and time of an instant of the run.
    fn wall(&self, at: Time) -> SystemTime {
        let ticks = self.run.history.origin.saturating_add(at.ticks());
        UNIX_EPOCH + Duration::from_nanos(u64::try_from(ticks).unwrap_or(0))
    }
}

fn outcome_words(outcome: Outcome) -> String {
    match (outcome, outcome.signal()) {
        (Outcome::Succeeded, _) => "succeeded".into(),
        (Outcome::TimedOut, _) => "timed out".into(),
        (Outcome::NotStarted, _) => "not started".into(),
        (Outcome::Interrupted, _) => "interrupted".into(),
        (Outcome::Failed { .. }, Some(signal)) => format!("killed by signal {signal}"),
        (Outcome::Failed { status }, None) => format!("failed with exit status {status}"),
    }
}

/// Prints the outputs of all jobs of a run in the order of the list. Each output goes to standard output or standard
/// error, as in the job. With `only_errors`, prints only the standard error of the jobs, to standard output.
pub fn show_logs(folder: &Path, only_errors: bool) -> Result<ExitCode> {
    let run = InspectedRun::read(folder)?;
    let sizes = PrintedOutputs::read(folder).unwrap_or_default();
    let mut streams = streams().map_err(|error| miette!("cannot print: {error}"))?;
    let mut damaged = 0;
    for task in (0..run.run.names.len()).filter(|&task| run.has_output(task)) {
        let stated = sizes.get(&run.run.stems[task]).copied().unwrap_or_default();
        for (index, path) in run.files(task).iter().enumerate().filter(|(index, _)| !only_errors || *index == 1) {
            let stream = &mut streams[if only_errors { 0 } else { index }];
            let is_over = matches!(run.run.history.tasks[task], Progression::Ended(_));
            let least = if is_over { stated[index] } else { 0 };
            match print_file(path, least, stream) {
                Ok(()) => {}
                Err(Unprinted::Closed) => return Ok(ExitCode::SUCCESS),
                Err(Unprinted::Failed(text)) => {
                    damaged += 1;
                    complain(&format!("error: {}: {text}", shown(&path.display().to_string())));
                }
            }
        }
    }
    match damaged {
        0 => Ok(ExitCode::SUCCESS),
        _ => Err(miette!("{} cannot be printed as the jobs wrote them", counted(damaged, "file"))),
    }
}

/// The reason why a file was not printed as a whole.
enum Unprinted {
    /// The reader of the output has closed the pipe.
    Closed,
    Failed(String),
}

/// Prints a file. `least` is the size of the file at the end of its job, in bytes. Returns an error if the file is now
/// shorter.
fn print_file(path: &Path, least: u64, stream: &mut Stream) -> std::result::Result<(), Unprinted> {
    let style = Style { tag: None, lines: false, ended: true };
    match open(path).map_err(CopyError::Read).and_then(|file| copy(&file, 0, style, stream)) {
        Ok(length) if length < least => Err(Unprinted::Failed(format!(
            "the file was truncated: it has {length} bytes, but had {least} bytes when its job ended"
        ))),
        Ok(_) => Ok(()),
        Err(CopyError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => Err(Unprinted::Closed),
        Err(CopyError::Write(error)) => Err(Unprinted::Failed(format!("cannot write to standard output: {error}"))),
        Err(CopyError::Read(error)) => Err(Unprinted::Failed(error.to_string())),
    }
}

/// Prints the command, folder, times, exit status and output of a job. `job` is the name of the job or its number in
/// the list.
pub fn show_job(folder: &Path, job: Option<&str>) -> Result<ExitCode> {
    let run = InspectedRun::read(folder)?;
    let place = shell_word(folder.as_os_str());
    let Some(job) = job else {
        return Err(miette!(
            "name a job of the run, such as: makespan job {place} 1; to list the jobs, write: makespan status {place}"
        ));
    };
    let named = run.run.names.iter().position(|name| name == job);
    let numbered = || job.parse::<usize>().ok()?.checked_sub(1).filter(|&task| task < run.run.names.len());
    let Some(task) = named.or_else(numbered) else {
        let jobs = counted(run.run.names.len(), "job");
        return Err(miette!("the run in {place} has no job {}; it has {jobs}", shown(job)));
    };
    let line = |label: &str, text: &str| format!("{label:<11}{}\n", shown(text));
    let mut text = line("job", &format!("{} {}", task + 1, run.run.names[task])) + &line("state", &run.state(task));
    text += &line("command", &command_of(folder, task).map_or_else(|| "unknown".into(), |words| command_line(&words)));
    text += &line("folder", &RunRecord::read(folder).map_or_else(|| "unknown".into(), |record| record.directory));
    text += &line("attempts", &run.run.history.attempts[task].to_string());
    match (&run.run.history.tasks[task], run.last.get(&task)) {
        (Progression::Running(attempt), _) => text += &line("started", &ago(run.wall(attempt.at))),
        (_, Some(last)) if last.outcome != Outcome::NotStarted => {
            text += &line("started", &ago(run.wall(last.start)));
            text += &line("ended", &ago(run.wall(last.end)));
            text += &line("time", &format!("{:.3} s", (last.end - last.start).seconds()));
        }
        _ => {}
    }
    emit(&text)?;
    if !run.has_output(task) {
        return Ok(ExitCode::SUCCESS);
    }
    let stated =
        PrintedOutputs::read(folder).unwrap_or_default().get(&run.run.stems[task]).copied().unwrap_or_default();
    let [mut out, _] = streams().map_err(|error| miette!("cannot print: {error}"))?;
    for ((label, path), least) in ["output", "errors"].iter().zip(run.files(task)).zip(stated) {
        let is_running = matches!(run.run.history.tasks[task], Progression::Running(_));
        emit(&format!("\n{label} ({})\n", shown(&path.display().to_string())))?;
        match print_file(&path, if is_running { 0 } else { least }, &mut out) {
            Ok(()) => drop(out.end_line(true)),
            Err(Unprinted::Closed) => return Ok(ExitCode::SUCCESS),
            Err(Unprinted::Failed(text)) => return Err(miette!("{}: {text}", shown(&path.display().to_string()))),
        }
    }
    std::io::stdout().flush().map_err(|error| miette!("cannot write to standard output: {error}"))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the state of a running or ended run.
pub fn show_status(options: &StatusOptions) -> Result<ExitCode> {
    let latest = || latest_folder().ok_or_else(|| miette!("there is no run under runs/; name the folder of a run"));
    let folder = options.folder.clone().map_or_else(latest, Ok)?;
    let run = InspectedRun::read(&folder)?;
    let tasks = &run.run.history.tasks;
    let succeeded = |task: &Progression| *task == Progression::Ended(Outcome::Succeeded);
    let all_succeeded = tasks.iter().all(succeeded);
    let state = match (run.run.goes_on, run.run.has_finished) {
        (true, _) => "running",
        (false, true) => "ended",
        (false, false) => "stopped before its end",
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for task in 0..tasks.len() {
        *counts.entry(run.state(task)).or_default() += 1;
    }
    let line = |label: &str, text: &str| format!("{label:<11}{}\n", shown(text));
    let mut text = line("run", &folder.display().to_string()) + &line("state", state);
    text += &line("began", &ago(run.wall(Time::ZERO)));
    text += &line("jobs", &tasks.len().to_string());
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(words, count)| (std::cmp::Reverse(*count), words.clone()));
    text += &counts.iter().map(|(words, count)| format!("{:11}{count} {words}\n", "")).collect::<String>();
    let others = (0..tasks.len()).filter(|&task| !succeeded(&tasks[task]) && tasks[task] != Progression::Open);
    let others: Vec<usize> = others.collect();
    for &task in others.iter().take(NAMED) {
        text += &format!("job {} `{}`: {}\n", task + 1, shown(&run.run.names[task]), run.state(task));
    }
    if others.len() > NAMED {
        text += &format!("and {} more\n", others.len() - NAMED);
    }
    if !run.run.goes_on && !all_succeeded {
        let failed = if run.run.has_finished { " --retry-failed" } else { "" };
        text += &format!("`makespan run --folder {} --resume{failed}` continues it\n", shell_word(folder.as_os_str()));
    }
    emit(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the folder below `runs` with the most recently written journal.
fn latest_folder() -> Option<PathBuf> {
    let folders = fs::read_dir("runs").ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let written = |folder: &PathBuf| fs::metadata(folder.join(makespan_exec::journal::FILE)).ok()?.modified().ok();
    let found = folders.filter_map(|folder| Some((written(&folder)?, folder)));
    found.max().map(|(_, folder)| folder)
}

/// Describes the time since an instant, such as `5 s ago`.
fn ago(instant: SystemTime) -> String {
    let seconds = SystemTime::now().duration_since(instant).unwrap_or_default().as_secs();
    match seconds {
        0..120 => format!("{seconds} s ago"),
        120..7200 => format!("{} min ago", seconds / 60),
        7200..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}
