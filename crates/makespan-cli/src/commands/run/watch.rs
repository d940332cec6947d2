//! Shows a run while it goes on: a bar for the whole, a line for each running job. Only on a terminal.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use makespan_core::{Instance, LogEntry, Outcome, Run, Running, TaskId};
use makespan_exec::{Measured, Observer, Progress};

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

/// The bars of a run, and why jobs did not succeed.
pub struct Watch<'a> {
    instance: &'a Instance,
    bars: MultiProgress,
    whole: ProgressBar,
    lines: BTreeMap<TaskId, ProgressBar>,
    reasons: BTreeMap<TaskId, String>,
    interrupted: Vec<Run>,
    log: Vec<LogEntry>,
    /// Whether nothing is shown.
    quiet: bool,
    memory: Memory,
    /// The different tasks whose times were replaced.
    restated: BTreeSet<TaskId>,
}

impl<'a> Watch<'a> {
    pub fn new(instance: &'a Instance, quiet: bool, memory: Memory) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bars = MultiProgress::with_draw_target(target);
        let whole = bars.add(ProgressBar::new(instance.tasks()));
        whole.set_style(style("{wide_bar} {pos}/{len} jobs, {elapsed} elapsed, {msg}"));
        whole.set_message("starting");
        whole.enable_steady_tick(Duration::from_millis(250));
        let (lines, reasons) = (BTreeMap::new(), BTreeMap::new());
        Self {
            instance,
            bars,
            whole,
            lines,
            reasons,
            interrupted: Vec::new(),
            log: Vec::new(),
            quiet,
            memory,
            restated: BTreeSet::new(),
        }
    }

    /// Removes the bars, and waits until what happened is in the history.
    pub fn finish(&mut self) {
        self.whole.finish_and_clear();
        self.lines.values().for_each(ProgressBar::finish_and_clear);
        self.memory.finish();
    }

    /// Why jobs were not started or were ended.
    pub fn reasons(&self) -> &BTreeMap<TaskId, String> {
        &self.reasons
    }

    /// What was ended with this session.
    pub fn interrupted(&self) -> &[Run] {
        &self.interrupted
    }

    /// What the policies of all sessions told of their plans.
    pub fn log(&self) -> &[LogEntry] {
        &self.log
    }

    /// The different tasks whose times were replaced, in any session.
    pub fn restated(&self) -> &BTreeSet<TaskId> {
        &self.restated
    }

    /// Removes the bar of a task.
    fn take_down(&mut self, task: TaskId) {
        if let Some(line) = self.lines.remove(&task) {
            line.finish_and_clear();
            self.bars.remove(&line);
        }
    }

    fn refresh(&self, progress: &Progress<'_>) {
        // Where nobody sees it, it is not counted either: that takes as long as there are tasks.
        if self.bars.is_hidden() {
            return;
        }
        let left = (progress.expected_end() - progress.view.now).seconds();
        self.whole.set_position(progress.ended);
        self.whole.set_message(format!("about {left:.0} s left"));
        for running in progress.view.running {
            if let Some(line) = self.lines.get(&running.task) {
                line.set_position((progress.view.now - running.start).ticks().unsigned_abs() / 1_000_000);
            }
        }
    }
}

/// A style; the default one where the template does not parse, which any run on a terminal would show.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Observer for Watch<'_> {
    fn started(&mut self, running: &Running, progress: &Progress<'_>) {
        self.memory.started(running.task, self.instance);
        if self.bars.is_hidden() {
            return;
        }
        let estimate = progress.view.instance.time(running.task, &running.processors);
        let line = self.bars.add(ProgressBar::new(estimate.ticks().unsigned_abs() / 1_000_000));
        line.set_style(style("  {msg:30!} {bar:30} {elapsed}"));
        line.set_message(format!("{} on {}", shown(&self.instance.name(running.task)), running.processors));
        self.lines.insert(running.task, line);
        self.refresh(progress);
    }

    fn retried(&mut self, run: &Run, reason: Option<&str>, attempt: u32, progress: &Progress<'_>) {
        self.take_down(run.task);
        let name = self.instance.name(run.task);
        let why = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        self.message(&format!("job `{name}` failed at attempt {attempt} and is tried again{why}"));
        self.refresh(progress);
    }

    fn lost(&mut self, run: &Run, reason: &str, attempt: u32, progress: &Progress<'_>) {
        self.take_down(run.task);
        let name = self.instance.name(run.task);
        self.message(&format!("job `{name}` was lost at attempt {attempt} and runs again: {reason}"));
        self.refresh(progress);
    }

    fn interrupted(&mut self, run: &Run, _progress: &Progress<'_>) {
        self.take_down(run.task);
        self.interrupted.push(run.clone());
    }

    fn ended(&mut self, run: &Run, reason: Option<&str>, progress: &Progress<'_>) {
        self.take_down(run.task);
        if let Some(reason) = reason {
            self.reasons.insert(run.task, reason.to_owned());
        }
        if run.outcome != Outcome::Succeeded && !self.bars.is_hidden() {
            let name = self.instance.name(run.task);
            let _ = self.bars.println(format!("job `{}` did not succeed", shown(&name)));
        }
        self.refresh(progress);
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
        if !self.quiet {
            self.warning(text);
        }
    }

    fn warning(&mut self, text: &str) {
        if self.bars.is_hidden() {
            complain(&format!("note: {}", shown(text)));
        } else {
            let _ = self.bars.println(format!("note: {}", shown(text)));
        }
    }

    fn tick(&mut self, progress: &Progress<'_>) {
        self.refresh(progress);
    }
}
