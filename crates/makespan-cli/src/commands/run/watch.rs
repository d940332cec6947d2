//! Shows the output of jobs and notes during a run and, on a terminal, a progress line at the bottom.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use makespan_core::{Instance, LogEntry, Outcome, Run, Running, Stop, TaskId, Time, counted};
use makespan_exec::{HaltCause, MeasuredAttempt, Observer, OutputFiles, Progress, SessionBegin};
use makespan_formats::list::Arguments;
use miette::{Result, miette};

use super::argument_folders::{ArgumentFolders, FolderJobs};
use super::console::{Console, Message};
use super::joblog::JobLog;
use super::milestones::Milestones;
use super::outcome::tail::{self, OutputTail};
use super::outcome::{SessionSeconds, ended_before};
use super::own::PRINTED;
use super::printed::{PrintedOutputs, PrintedSizes};
use super::prints::{Output, Prints, ReplacedAttempt, Replacements};
use super::record::RunRecord;
use super::stream::{Arrival, Feed};
use crate::args::PrintingOptions;
use crate::output::{complain, shown};
use crate::past::Memory;

/// Prints notes before a run begins.
pub struct Messages {
    /// True if no note is printed.
    pub quiet: bool,
}

impl Observer for Messages {
    fn message(&mut self, text: &str) {
        if !self.quiet {
            complain(&format!("note: {}", shown(text)));
        }
    }
}

/// Settings for the display of a run.
pub struct WatchOptions<'a> {
    pub options: &'a PrintingOptions,
    pub folder: &'a Path,
    /// The arguments of a template's commands. Tags consist of these arguments.
    pub arguments: &'a Arguments,
    /// True if jobs may arrive during the run.
    pub grows: bool,
    /// True if only notes and errors are printed, because of `--quiet` or because the run is part of another command.
    pub is_silent: bool,
    /// True if another command started the run and reports the failures.
    pub is_part: bool,
    /// The stop request that the console sends when standard output is closed.
    pub stop: Stop,
}

/// The observer of a run. Shows the run on the console and collects data for the report.
pub struct RunWatch<'a> {
    /// The instance, with the jobs that have arrived during the run.
    instance: Cow<'a, Instance>,
    arguments: Cow<'a, Arguments>,
    /// The jobs that arrive during the run.
    feed: Arc<Feed>,
    /// Task and end of each execution of an earlier session. If jobs may arrive during the run, the session reports
    /// these executions again.
    earlier: BTreeSet<(TaskId, Time)>,
    /// True if the error that ended the input was printed.
    has_bad_input: bool,
    shown: WatchOptions<'a>,
    console: Console,
    reasons: BTreeMap<TaskId, String>,
    interrupted: Vec<Run>,
    log: Vec<LogEntry>,
    memory: Memory,
    /// The outputs that earlier sessions printed. `None` if no record of them exists.
    printed: Option<PrintedSizes>,
    outputs: OutputFiles,
    joblog: Option<JobLog>,
    folders: Option<ArgumentFolders>,
    milestones: Milestones,
    /// Sum of the run times of all attempts that ended in this session.
    busy: Time,
    /// The instant at which the session began.
    begun: Instant,
    /// Time from the beginning of the run to the beginning of this session.
    first: Time,
    /// Jobs that left processes in the background. These processes were ended with the job.
    background: BTreeSet<TaskId>,
    /// The number of jobs that failed in this session.
    failed: u64,
    /// Distinct tasks with estimated run times that were replaced.
    restated: BTreeSet<TaskId>,
    /// The end of the job that halted the run.
    halt: Option<HaltCause>,
    /// Jobs with a last attempt that ended in an earlier session, if they have not started in this session.
    attempted: BTreeSet<TaskId>,
    /// Number of attempts with output files that were replaced by the files of a later attempt.
    replaced: u64,
    replacements: Replacements,
}

impl<'a> RunWatch<'a> {
    pub fn new(instance: &'a Instance, shown: WatchOptions<'a>, memory: Memory) -> Result<Self> {
        let (options, replacements) = (shown.options, Replacements::default());
        let prints = (!options.hides_output() && !shown.is_silent)
            .then(|| Prints::new(options.keep_order, options.line_buffer, replacements.clone()))
            .transpose()
            .map_err(|error| miette!("cannot print to standard output: {error}"))?;
        let earlier = PrintedOutputs::read(shown.folder);
        let printed = PrintedOutputs::open(shown.folder);
        let printed = printed.map_err(|error| miette!("{}: {error}", crate::output::shown(PRINTED)))?;
        let shows_progress =
            !options.quiet && (options.progress || options.hides_output() || !is_pipe(std::io::stdout()));
        let console = Console::start(
            (!shown.grows).then(|| instance.tasks()),
            shows_progress,
            (prints, printed),
            shown.stop.clone(),
        );
        let joblog = options.joblog.as_deref().map(JobLog::open).transpose()?;
        let folders = options.results.as_deref().map(ArgumentFolders::new).transpose()?;
        let outputs = OutputFiles::new(shown.folder, Vec::new());
        let (reasons, interrupted, log, restated) = (BTreeMap::new(), Vec::new(), Vec::new(), BTreeSet::new());
        let (begun, busy, failed) = (Instant::now(), Time::ZERO, 0);
        let milestones = Milestones::new(begun, options.progress);
        Ok(Self {
            instance: Cow::Borrowed(instance),
            arguments: Cow::Borrowed(shown.arguments),
            feed: Arc::default(),
            earlier: BTreeSet::new(),
            has_bad_input: false,
            shown,
            console,
            reasons,
            interrupted,
            log,
            memory,
            printed: earlier,
            outputs,
            joblog,
            folders,
            milestones,
            busy,
            begun,
            first: Time::ZERO,
            background: BTreeSet::new(),
            attempted: BTreeSet::new(),
            replaced: 0,
            replacements,
            failed,
            restated,
            halt: None,
        })
    }

    /// Waits until all outputs are printed and the history contains all run times. Removes the progress line. Returns
    /// false if an output could not be printed, logged or linked.
    pub fn finish(&mut self) -> bool {
        self.check_input();
        let is_printed = self.console.finish();
        self.memory.finish();
        let has_failed = self.joblog.as_ref().is_some_and(JobLog::has_failed)
            || self.folders.as_ref().is_some_and(ArgumentFolders::has_failed);
        is_printed && !has_failed
    }

    /// Returns the instance, with the jobs that have arrived during the run.
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// Returns the queue that receives the jobs that arrive during the run.
    pub fn feed(&self) -> Arc<Feed> {
        self.feed.clone()
    }

    /// Returns true if more jobs may arrive.
    pub fn may_grow(&self) -> bool {
        self.shown.grows && self.feed.is_open()
    }

    /// Returns true if an error ended the input before its end.
    pub fn has_bad_input(&self) -> bool {
        self.has_bad_input
    }

    /// Prints the error that ended the input, once.
    fn check_input(&mut self) {
        if !self.has_bad_input
            && let Some(error) = self.feed.error()
        {
            self.has_bad_input = true;
            self.line(&format!("error: {error}; jobs of this and later lines do not run"));
        }
    }

    /// Returns the folders of `--results`, if there are any, and the jobs that have a folder there.
    fn folders(&mut self) -> Option<(&mut ArgumentFolders, FolderJobs<'_>)> {
        let jobs = FolderJobs { instance: &self.instance, arguments: &self.arguments, outputs: &self.outputs };
        Some((self.folders.as_mut()?, jobs))
    }

    /// Returns the output files of the tasks.
    pub fn outputs(&self) -> &OutputFiles {
        &self.outputs
    }

    /// Returns the reasons why jobs failed or were not started.
    pub fn reasons(&self) -> &BTreeMap<TaskId, String> {
        &self.reasons
    }

    /// Returns the executions that were interrupted at the end of the session.
    pub fn interrupted(&self) -> &[Run] {
        &self.interrupted
    }

    /// Returns the sum of the run times in this session, and the time since the session began.
    pub fn spent(&self) -> SessionSeconds {
        SessionSeconds { busy: self.busy.seconds(), wall: self.begun.elapsed().as_secs_f64() }
    }

    /// Returns the jobs of this session that left processes in the background. These processes were ended with the
    /// job.
    pub fn background(&self) -> &BTreeSet<TaskId> {
        &self.background
    }

    /// Returns the log entries of the policies of all sessions.
    pub fn log(&self) -> &[LogEntry] {
        &self.log
    }

    /// Returns the end of the job that halted the run.
    pub fn halt(&self) -> Option<&HaltCause> {
        self.halt.as_ref()
    }

    /// Returns the distinct tasks with estimated run times that were replaced in any session.
    pub fn restated(&self) -> &BTreeSet<TaskId> {
        &self.restated
    }

    /// Returns the run time of an attempt in this session. Earlier sessions may have started the attempt.
    fn within_session(&self, run: &Run) -> Time {
        (run.end - run.start.max(self.first)).max(Time::ZERO)
    }

    /// Returns the output files and the tag of a task.
    fn output(&self, task: TaskId) -> Output {
        let (stem, files) = (self.outputs.stem(&self.instance, task), self.outputs.of(&self.instance, task));
        let tag = self.shown.options.tag.then(|| {
            let arguments = &self.arguments;
            if arguments.is_empty() {
                return self.instance.name(task).into_owned();
            }
            arguments.of(task.index()).join(" ")
        });
        Output { task, stem, files, tag }
    }

    /// Prints the outputs of jobs that ended in an earlier session, if this session was killed or stopped before it
    /// printed them.
    fn print_earlier(&self, begin: &SessionBegin<'_>) {
        let ended = ended_before(begin);
        let stem = |run: &&Run| begin.outputs.stem(&self.instance, run.task);
        // If the folder has no record of printed outputs, all outputs of earlier sessions count as printed.
        let all = || ended.iter().map(|run| (stem(run), [0, 0])).collect();
        let mut printed = self.printed.clone().unwrap_or_else(all);
        let (old, new): (Vec<&Run>, Vec<&Run>) = ended.iter().partition(|run| printed.contains_key(&stem(run)));
        let old: BTreeSet<String> = old.iter().map(stem).collect();
        printed.retain(|stem, _| old.contains(stem));
        let mut open: Vec<TaskId> = begin.open.iter().copied().chain(new.iter().map(|run| run.task)).collect();
        open.sort_unstable();
        self.console.send(Message::Open(open, printed));
        if !new.is_empty() && !self.shown.is_silent && !self.shown.options.hides_output() {
            let text = "prints the outputs of jobs that ended in an earlier session and were not printed";
            self.line(&format!("note: {text}: {}", new.len()));
        }
        for run in new {
            self.console.send(Message::Ended(self.output(run.task)));
        }
    }

    /// Updates the progress line on the terminal. Without a terminal, prints a progress line if one is due.
    fn refresh(&mut self, progress: &Progress<'_>) {
        self.check_input();
        let (ended, tasks, failed) = (progress.ended, self.instance.tasks(), self.failed);
        let words = || {
            let failed = if failed == 0 { String::new() } else { format!("{failed} failed, ") };
            let running = format!("{failed}{} running", progress.view.running.len());
            if self.shown.grows {
                return format!("{running}, {} waiting", progress.view.waiting.len());
            }
            if progress.view.instance.has_guesses() {
                return running;
            }
            let left = (progress.expected_end() - progress.view.now).seconds();
            format!("{running}, about {left:.0} s left")
        };
        if !self.console.is_hidden() {
            self.console.progress(ended, words);
        } else if !self.shown.is_silent && self.milestones.is_due(Instant::now(), ended, tasks) {
            let of = if self.shown.grows && self.feed.is_open() {
                String::new()
            } else {
                format!(" of {}", counted(tasks, "job"))
            };
            self.line(&format!("progress: {ended}{of} ended, {}", words()));
        }
    }

    /// Prints the reason why a job failed, and the last line of its error output. Prints nothing for a job that was
    /// not started because a job before it failed.
    fn failure(&self, run: &Run, reason: Option<&str>) {
        if self.shown.is_part || run.processors.is_empty() {
            return;
        }
        let reason = reason.unwrap_or("it did not succeed");
        let tail = tail::of(&self.outputs, &self.instance, run.task).and_then(OutputTail::last);
        // If a shell does not find a program, the shell's message is both the last line of the output and the end of
        // the reason. In this case, only the reason is printed.
        let is_told = |line: &str| reason.strip_suffix(line).is_some_and(|before| before.ends_with(": "));
        let tail = tail.filter(|line| run.outcome != Outcome::NotStarted && !is_told(line));
        let tail = tail.map_or_else(String::new, |line| format!(" | {line}"));
        self.line(&format!("failed: `{}`: {reason}{tail}", self.instance.name(run.task)));
    }

    fn line(&self, text: &str) {
        self.console.send(Message::Line(shown(text).into_owned()));
    }
}

/// Returns true if a stream is a pipe. The program that reads the pipe may print to the terminal, where its text would
/// mix with the progress line.
fn is_pipe(stream: impl AsFd) -> bool {
    let Ok(file) = stream.as_fd().try_clone_to_owned().map(File::from) else { return false };
    file.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo() || metadata.file_type().is_socket())
}

impl Observer for RunWatch<'_> {
    fn began(&mut self, begin: &SessionBegin<'_>) {
        let since = SystemTime::now().duration_since(begin.origin).unwrap_or_default();
        self.first = Time::from_seconds_f64(since.as_secs_f64()).unwrap_or(Time::ZERO);
        self.outputs = begin.outputs.within(self.shown.folder);
        if let Some(joblog) = &mut self.joblog {
            joblog.begin(&self.instance, begin);
        }
        if let Some((folders, jobs)) = self.folders() {
            folders.begin(&jobs, ended_before(begin).iter().map(|run| &run.task));
        }
        self.print_earlier(begin);
        let is_failure = |run: &&&Run| run.outcome != Outcome::Succeeded;
        let failed = ended_before(begin).iter().filter(is_failure).count();
        self.earlier = begin.runs.iter().map(|run| (run.task, run.end)).collect();
        self.attempted = begin.runs.iter().map(|run| run.task).collect();
        if failed > 0 && !self.shown.is_silent {
            let jobs = if failed == 1 { "1 failed job is".to_owned() } else { format!("{failed} failed jobs are") };
            self.warning(&format!("{jobs} not run again; to run all failed jobs again, add --retry-failed"));
        }
    }

    fn started(&mut self, running: &Running, progress: &Progress<'_>) {
        self.memory.started(running, &self.instance);
        if let Some((folders, jobs)) = self.folders() {
            folders.add(&jobs, running.task);
        }
        self.attempted.remove(&running.task);
        if self.shown.options.line_buffer {
            self.console.send(Message::Started(self.output(running.task)));
        }
        self.refresh(progress);
    }

    fn restarts(&mut self, task: TaskId) {
        let is_of_this_session = !self.attempted.remove(&task);
        if self.shown.options.line_buffer && is_of_this_session {
            let output = self.output(task);
            // The new attempt gets new output files. A second link keeps each old file, because its lines may not be
            // printed yet. Each link has its own name, because several attempts may have unprinted lines.
            self.replaced += 1;
            let ending = format!(".{}.before", self.replaced);
            let links = output.files.each_ref().map(|file| {
                let mut name = file.clone().into_os_string();
                name.push(&ending);
                PathBuf::from(name)
            });
            self.replacements.begin(task);
            for (file, link) in output.files.iter().zip(&links) {
                let _ = std::fs::remove_file(link);
                let _ = std::fs::hard_link(file, link);
            }
            self.console.send(Message::Replaced(ReplacedAttempt(Output { files: links, ..output })));
        }
    }

    fn retried(&mut self, run: &Run, reason: Option<&str>, attempt: u32, progress: &Progress<'_>) {
        self.busy += self.within_session(run);
        let name = self.instance.name(run.task);
        let why = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        self.message(&format!("job `{name}` failed in attempt {attempt} and runs again{why}"));
        self.refresh(progress);
    }

    fn lost(&mut self, run: &Run, reason: &str, attempt: u32, progress: &Progress<'_>) {
        let name = self.instance.name(run.task);
        self.message(&format!("job `{name}` waits again after attempt {attempt}: {reason}"));
        self.refresh(progress);
    }

    fn interrupted(&mut self, run: &Run, _progress: &Progress<'_>) {
        // The console receives no message. If outputs are printed in the order of the list, the outputs of later jobs
        // wait until this job has run again.
        self.busy += self.within_session(run);
        self.interrupted.push(run.clone());
    }

    fn ended(&mut self, run: &Run, reason: Option<&str>, progress: &Progress<'_>) {
        if self.earlier.remove(&(run.task, run.end)) {
            return;
        }
        if let Some(reason) = reason {
            self.reasons.insert(run.task, reason.to_owned());
        }
        if run.outcome == Outcome::NotStarted || run.processors.is_empty() {
            self.console.send(Message::Skipped(run.task));
        } else {
            self.console.send(Message::Ended(self.output(run.task)));
        }
        if let Some(joblog) = &mut self.joblog {
            joblog.add(progress.view.instance, &self.outputs, run);
        }
        self.busy += self.within_session(run);
        if run.outcome != Outcome::Succeeded {
            self.failed += 1;
            self.failure(run, reason);
        }
        self.refresh(progress);
    }

    fn grown(&mut self, tasks: Range<TaskId>, _progress: &Progress<'_>) {
        let Some(Arrival { jobs, arguments }) = self.feed.take() else { return };
        // The run has accepted these jobs, so this copy of the instance accepts them too.
        if let Err(error) = self.instance.to_mut().append(jobs) {
            self.feed.fail(error.to_string());
        }
        if !arguments.is_empty() {
            self.arguments.to_mut().add(arguments);
        }
        let tasks: Vec<TaskId> = (tasks.start.0..tasks.end.0).map(TaskId).collect();
        if let Err(error) = RunRecord::grow(self.shown.folder, &self.instance, &tasks) {
            self.warning(&error.to_string());
        }
        self.console.send(Message::Grown(tasks));
    }

    fn not_grown(&mut self, reason: &str) {
        let first = self.feed.take().and_then(|arrival| Some(arrival.jobs.into_iter().next()?.name));
        let from = first.map_or_else(String::new, |name| format!(" at or after `{name}`"));
        self.feed.fail(format!("standard input{from}: {reason}"));
        self.check_input();
    }

    fn left_background(&mut self, task: TaskId) {
        self.background.insert(task);
    }

    fn cancelled(&mut self, task: TaskId, _progress: &Progress<'_>) {
        self.console.send(Message::Skipped(task));
    }

    fn measured(&mut self, measured: &MeasuredAttempt<'_>) {
        self.memory.measured(measured);
    }

    fn estimated(&mut self, tasks: &[TaskId], progress: &Progress<'_>) {
        self.restated.extend(tasks);
        self.refresh(progress);
    }

    fn told(&mut self, entry: &LogEntry) {
        self.log.push(*entry);
    }

    fn halted(&mut self, cause: &HaltCause) {
        self.halt = Some(cause.clone());
    }

    fn message(&mut self, text: &str) {
        if !self.shown.options.quiet {
            self.warning(text);
        }
    }

    fn warning(&mut self, text: &str) {
        self.line(&format!("note: {text}"));
    }

    fn tick(&mut self, progress: &Progress<'_>) {
        self.refresh(progress);
    }
}
