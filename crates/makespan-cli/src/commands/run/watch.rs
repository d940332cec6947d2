//! Shows a run while it goes on: what jobs print, notes, and on a terminal a progress line below them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use makespan_core::{Instance, LogEntry, Outcome, Run, Running, Stop, TaskId, Time, counted};
use makespan_exec::{Measured, Observer, Progress};
use makespan_formats::list::chosen;
use miette::{Result, miette};

use super::console::{Console, Message};
use super::milestones::Milestones;
use super::outcome::Spent;
use super::outcome::tail::{self, Tail};
use super::prints::{Output, Prints};
use crate::args::PrintingOptions;
use crate::output::{complain, shown};
use crate::past::Memory;

/// Prints what is said before a run begins.
pub struct Messages {
    /// Whether nothing is shown.
    pub quiet: bool,
}

impl Observer for Messages {
    fn message(&mut self, text: &str) {
        if !self.quiet {
            complain(&format!("note: {}", shown(text)));
        }
    }
}

/// How a run is shown.
pub struct Shown<'a> {
    pub options: &'a PrintingOptions,
    /// The folder of the run.
    pub folder: &'a Path,
    /// The argument sources of a template, which tags are made of.
    pub sources: &'a [Vec<String>],
    /// Whether only notes and errors are printed, because of `--quiet` or because the run is part of another command.
    pub is_silent: bool,
    /// Ends the run when standard output is closed.
    pub stop: Stop,
}

/// Shows a run on the console, and collects what only the observer of a run receives.
pub struct Watch<'a> {
    instance: &'a Instance,
    shown: Shown<'a>,
    console: Console,
    reasons: BTreeMap<TaskId, String>,
    interrupted: Vec<Run>,
    log: Vec<LogEntry>,
    memory: Memory,
    milestones: Milestones,
    /// Sum of the run times of attempts that ended in this session.
    busy: Time,
    /// The instant at which the session began.
    begun: Instant,
    /// The number of jobs that this session saw fail.
    failed: u64,
    /// The different tasks whose times were replaced.
    restated: BTreeSet<TaskId>,
}

impl<'a> Watch<'a> {
    pub fn new(instance: &'a Instance, shown: Shown<'a>, memory: Memory) -> Result<Self> {
        let options = shown.options;
        let prints = (!options.no_output && !shown.is_silent)
            .then(|| Prints::new(options.keep_order, options.line_buffer))
            .transpose()
            .map_err(|error| miette!("cannot print to standard output: {error}"))?;
        let console = Console::start(instance.tasks(), !options.quiet, prints, shown.stop.clone());
        let (reasons, interrupted, log, restated) = (BTreeMap::new(), Vec::new(), Vec::new(), BTreeSet::new());
        let (begun, busy, failed) = (Instant::now(), Time::ZERO, 0);
        let milestones = Milestones::new(begun);
        Ok(Self {
            instance,
            shown,
            console,
            reasons,
            interrupted,
            log,
            memory,
            milestones,
            busy,
            begun,
            failed,
            restated,
        })
    }

    /// Waits until everything is printed and the history has stored what happened. Removes the progress line. Returns
    /// whether no error has kept outputs from being printed.
    pub fn finish(&mut self) -> bool {
        let is_printed = self.console.finish();
        self.memory.finish();
        is_printed
    }

    /// Why jobs were not started or were ended.
    pub fn reasons(&self) -> &BTreeMap<TaskId, String> {
        &self.reasons
    }

    /// What was ended with this session.
    pub fn interrupted(&self) -> &[Run] {
        &self.interrupted
    }

    /// Returns the sum of the run times of this session, and the time since its begin.
    pub fn spent(&self) -> Spent {
        Spent { busy: self.busy.seconds(), wall: self.begun.elapsed().as_secs_f64() }
    }

    /// What the policies of all sessions told of their plans.
    pub fn log(&self) -> &[LogEntry] {
        &self.log
    }

    /// The different tasks whose times were replaced, in any session.
    pub fn restated(&self) -> &BTreeSet<TaskId> {
        &self.restated
    }

    /// Returns the names of the output files of a task, with its tag.
    fn output(&self, task: TaskId) -> Output {
        let files = makespan_exec::output_files(self.shown.folder, self.instance, task);
        let tag = self.shown.options.tag.then(|| match self.shown.sources {
            [] => self.instance.name(task).into_owned(),
            sources => chosen(sources, task.index()).join(" "),
        });
        Output { task, files, tag }
    }

    /// Updates the progress line. Without a terminal, prints a line when one is due.
    fn refresh(&mut self, progress: &Progress<'_>) {
        let (ended, tasks, failed) = (progress.ended, self.instance.tasks(), self.failed);
        let words = || {
            let failed = if failed == 0 { String::new() } else { format!("{failed} failed, ") };
            let running = format!("{failed}{} running", progress.view.running.len());
            if progress.view.instance.has_guesses() {
                return running;
            }
            let left = (progress.expected_end() - progress.view.now).seconds();
            format!("{running}, about {left:.0} s left")
        };
        if !self.console.is_hidden() {
            self.console.progress(ended, words);
        } else if !self.shown.is_silent && self.milestones.is_due(Instant::now(), ended, tasks) {
            self.line(&format!("progress: {ended} of {} ended, {}", counted(tasks, "job"), words()));
        }
    }

    /// Prints why a job failed, with the last line of its errors. A job that waits for a failed job is not mentioned.
    fn failure(&self, run: &Run, reason: Option<&str>) {
        if self.shown.is_silent || run.processors.is_empty() {
            return;
        }
        let reason = reason.unwrap_or("it did not succeed");
        let tail = tail::of(self.shown.folder, self.instance, run.task).and_then(Tail::last);
        let tail = tail.filter(|line| run.outcome != Outcome::NotStarted && !reason.contains(line.as_str()));
        let tail = tail.map_or_else(String::new, |line| format!(" | {line}"));
        self.line(&format!("failed: `{}`: {reason}{tail}", self.instance.name(run.task)));
    }

    fn line(&self, text: &str) {
        self.console.send(Message::Line(shown(text).into_owned()));
    }
}

impl Observer for Watch<'_> {
    fn began(&mut self, open: &[TaskId]) {
        self.console.send(Message::Open(open.to_vec()));
    }

    fn started(&mut self, running: &Running, progress: &Progress<'_>) {
        self.memory.started(running.task, self.instance);
        if self.shown.options.line_buffer {
            self.console.send(Message::Started(self.output(running.task)));
        }
        self.refresh(progress);
    }

    fn retried(&mut self, run: &Run, reason: Option<&str>, attempt: u32, progress: &Progress<'_>) {
        self.busy += run.end - run.start;
        let name = self.instance.name(run.task);
        let why = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        self.message(&format!("job `{name}` failed at attempt {attempt} and is tried again{why}"));
        self.refresh(progress);
    }

    fn lost(&mut self, run: &Run, reason: &str, attempt: u32, progress: &Progress<'_>) {
        let name = self.instance.name(run.task);
        self.message(&format!("job `{name}` was lost at attempt {attempt} and runs again: {reason}"));
        self.refresh(progress);
    }

    fn interrupted(&mut self, run: &Run, _progress: &Progress<'_>) {
        self.console.send(Message::Skipped(run.task));
        self.busy += run.end - run.start;
        self.interrupted.push(run.clone());
    }

    fn ended(&mut self, run: &Run, reason: Option<&str>, progress: &Progress<'_>) {
        if let Some(reason) = reason {
            self.reasons.insert(run.task, reason.to_owned());
        }
        self.console.send(match run.outcome {
            Outcome::NotStarted => Message::Skipped(run.task),
            _ => Message::Ended(self.output(run.task)),
        });
        self.busy += run.end - run.start;
        if run.outcome != Outcome::Succeeded {
            self.failed += 1;
            self.failure(run, reason);
        }
        self.refresh(progress);
    }

    fn cancelled(&mut self, task: TaskId, _progress: &Progress<'_>) {
        self.console.send(Message::Skipped(task));
    }

    fn measured(&mut self, measured: &Measured<'_>) {
        self.memory.measured(measured);
    }

    fn estimated(&mut self, tasks: &[TaskId], progress: &Progress<'_>) {
        self.restated.extend(tasks);
        self.refresh(progress);
    }

    fn told(&mut self, entry: &LogEntry) {
        self.log.push(*entry);
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
