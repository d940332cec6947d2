//! The outcome of a run: first the failures, with the end of their output, then planned and actual times.

mod cores;
mod lost;
mod machine;
mod table;
pub mod tail;

use std::collections::{BTreeMap, BTreeSet};

use makespan_core::{Estimate, Instance, MemoryKill, Outcome, Run, Schedule, TaskId, Trace, counted};
use makespan_exec::{OutputFiles, SessionBegin};
use makespan_formats::gantt::duration;
use makespan_formats::report::Section;

use crate::output::{Line, Tone, narrow, shown};
use crate::summary::{bytes, capital, figure, grouped};
pub use cores::CoresNote;

/// Maximum number of failures to print. The table of jobs contains all failures.
const TOLD: usize = 20;

/// The outcome of all sessions of a run.
pub struct Outcomes<'a> {
    pub instance: &'a Instance,
    pub plan: &'a Schedule,
    /// Executions of all sessions, including executions that this session interrupted.
    pub trace: &'a Trace,
    pub reasons: &'a BTreeMap<TaskId, String>,
    /// The output files of the tasks.
    pub outputs: &'a OutputFiles,
    /// Distinct tasks with estimated run times that were replaced during the run.
    pub restated: Option<&'a BTreeSet<TaskId>>,
    /// True if the run was stopped before all jobs had ended.
    pub stopped: bool,
    /// True if the plan was made with known run times and the run followed the plan.
    pub has_plan: bool,
    spent: SessionSeconds,
    /// Jobs that left processes in the background. These processes were ended with the job.
    background: BTreeSet<TaskId>,
    /// The place where the user states the cores of a job.
    /// The place for the cores of a job. `None` if jobs use lent cores, so that their use shows no need for cores.
    cores_note: Option<CoresNote>,
    /// The last execution of each task.
    last: BTreeMap<TaskId, &'a Run>,
    /// Number of starts of each task that was started more than once.
    attempts: BTreeMap<TaskId, usize>,
}

/// Seconds of one session.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionSeconds {
    /// Sum of the run times of jobs, including failed attempts.
    pub busy: f64,
    /// Seconds from the begin of the session to its end.
    pub wall: f64,
}

/// The outcome of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Succeeded,
    Failed,
    OutOfMemory,
    Killed,
    TimedOut,
    NotStarted,
    Interrupted,
    Open,
}

const KINDS: [Kind; 8] = [
    Kind::Succeeded,
    Kind::Failed,
    Kind::OutOfMemory,
    Kind::Killed,
    Kind::TimedOut,
    Kind::NotStarted,
    Kind::Interrupted,
    Kind::Open,
];

impl Kind {
    fn of(run: Option<&Run>) -> Self {
        let Some(run) = run else { return Self::Open };
        match run.outcome {
            Outcome::Succeeded => Self::Succeeded,
            Outcome::Failed { .. } if memory_kill(run).is_some() => Self::OutOfMemory,
            Outcome::Failed { .. } if run.outcome.signal().is_some() => Self::Killed,
            Outcome::Failed { .. } => Self::Failed,
            Outcome::TimedOut => Self::TimedOut,
            Outcome::NotStarted => Self::NotStarted,
            Outcome::Interrupted => Self::Interrupted,
        }
    }

    /// Returns the words that follow a number of tasks.
    fn words(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::OutOfMemory => "killed for memory",
            Self::Killed => "killed",
            Self::TimedOut => "timed out",
            Self::NotStarted => "not started",
            Self::Interrupted => "interrupted",
            Self::Open => "not run",
        }
    }

    fn tone(self) -> Tone {
        match self {
            Self::Succeeded => Tone::Good,
            Self::Interrupted | Self::Open => Tone::Doubtful,
            _ => Tone::Bad,
        }
    }
}

/// Returns the last execution of each task that an earlier session started and this session does not run again.
/// Interrupted executions are left out.
pub fn ended_before<'a>(begin: &SessionBegin<'a>) -> Vec<&'a Run> {
    let last: BTreeMap<TaskId, (usize, &Run)> =
        begin.runs.iter().enumerate().map(|(index, run)| (run.task, (index, run))).collect();
    let is_over = |(task, _): &(&TaskId, &(usize, &Run))| begin.open.binary_search(task).is_err();
    let mut ended: Vec<(usize, &Run)> = last.iter().filter(is_over).map(|(_, &run)| run).collect();
    ended.retain(|(_, run)| !matches!(run.outcome, Outcome::NotStarted | Outcome::Interrupted));
    ended.sort_by_key(|&(index, _)| index);
    ended.into_iter().map(|(_, run)| run).collect()
}

/// Converts a line for the terminal to a sentence for a page.
fn sentence(line: &str) -> String {
    if line.is_empty() { String::new() } else { format!("{}.", capital(line)) }
}

fn memory_kill(run: &Run) -> Option<MemoryKill> {
    run.accounting.and_then(|used| used.memory_kill)
}

impl<'a> Outcomes<'a> {
    pub fn new(
        instance: &'a Instance,
        plan: &'a Schedule,
        trace: &'a Trace,
        reasons: &'a BTreeMap<TaskId, String>,
        outputs: &'a OutputFiles,
    ) -> Self {
        let last = trace.runs.iter().map(|run| (run.task, run)).collect();
        let mut attempts = BTreeMap::new();
        for run in trace.runs.iter().filter(|run| run.outcome != Outcome::NotStarted) {
            *attempts.entry(run.task).or_insert(0) += 1;
        }
        attempts.retain(|_, count| *count > 1);
        Self {
            instance,
            plan,
            trace,
            reasons,
            outputs,
            restated: None,
            stopped: false,
            has_plan: false,
            spent: SessionSeconds::default(),
            background: BTreeSet::new(),
            cores_note: Some(CoresNote::default()),
            last,
            attempts,
        }
    }

    /// Sets the tasks with replaced estimates of their run times.
    pub fn with_restated(self, restated: &'a BTreeSet<TaskId>) -> Self {
        Self { restated: Some(restated), ..self }
    }

    /// Sets whether the run was stopped. If all jobs have ended, the run is not marked as stopped, unless more jobs
    /// might have arrived (`is_cut_off`).
    pub fn with_stopped(self, stopped: bool, is_cut_off: bool) -> Self {
        let stopped = stopped && (is_cut_off || self.ended() < self.instance.jobs().len());
        Self { stopped, ..self }
    }

    /// Sets whether the report shows the plan.
    pub fn with_plan(self, has_plan: bool) -> Self {
        Self { has_plan, ..self }
    }

    /// Sets the place that messages name for stating the cores of a job, such as an option. With `None`, no messages
    /// about the cores of jobs are printed.
    pub fn with_cores_note(self, cores_note: Option<CoresNote>) -> Self {
        Self { cores_note, ..self }
    }

    /// Sets the time that the session spent.
    pub fn with_session(self, spent: SessionSeconds) -> Self {
        Self { spent, ..self }
    }

    /// Sets the jobs that left background processes. These processes were ended with the job.
    pub fn with_background(self, background: BTreeSet<TaskId>) -> Self {
        Self { background, ..self }
    }

    /// Returns a sentence about the jobs that left background processes, if there are any.
    fn ended_in_background(&self) -> Option<String> {
        let first = self.instance.name(*self.background.first()?);
        let others = match self.background.len() - 1 {
            0 => String::new(),
            1 => " and 1 more job".to_owned(),
            count => format!(" and {count} more jobs"),
        };
        Some(format!(
            "background processes of job `{}`{others} were ended with the job; `wait` at the end of a job waits for them",
            shown(&first)
        ))
    }

    /// Returns the number of jobs that have ended, with or without success.
    fn ended(&self) -> usize {
        let goes_on = |task| matches!(self.kind(task), Kind::Open | Kind::Interrupted | Kind::NotStarted);
        self.instance.jobs().iter().filter(|job| !job.task_ids().any(goes_on)).count()
    }

    /// Returns the title of the page: the title of the run, and its state.
    pub fn title(&self, run: &str) -> String {
        let count = |count: usize| grouped(&count.to_string());
        let jobs = self.instance.jobs().len();
        if self.stopped {
            let (ended, jobs) = (count(self.ended()), counted(count(jobs), "job"));
            return format!("{run}: stopped before its end, {ended} of {jobs} ended");
        }
        run.to_owned()
    }

    fn kind(&self, task: TaskId) -> Kind {
        Kind::of(self.last.get(&task).copied())
    }

    /// Returns the number of tasks that failed or were not run.
    pub fn unsuccessful(&self) -> u64 {
        self.instance.tasks() - self.counts().get(&Kind::Succeeded).unwrap_or(&0)
    }

    /// Returns the number of tasks with each outcome.
    fn counts(&self) -> BTreeMap<Kind, u64> {
        let mut counts = BTreeMap::new();
        for run in self.last.values() {
            *counts.entry(Kind::of(Some(run))).or_insert(0) += 1;
        }
        let open = self.instance.tasks() - self.last.len() as u64;
        if open > 0 {
            counts.insert(Kind::Open, open);
        }
        counts
    }

    /// Returns the tasks that did not succeed, ordered by outcome: first failures, then tasks that were not started,
    /// then interrupted tasks.
    fn troubles(&self) -> Vec<TaskId> {
        let mut tasks: Vec<TaskId> =
            self.last.keys().copied().filter(|&task| self.kind(task) != Kind::Succeeded).collect();
        tasks.sort_by_key(|&task| (self.kind(task), task));
        tasks
    }

    /// Returns the summary of the run: a sentence, and the jobs that did not succeed.
    pub fn lines(&self) -> Vec<Line> {
        let spent = |seconds: f64| format!("{} s", figure(seconds));
        let Line { tone, text } = self.counted();
        let text = format!("{text}; {} of jobs in {}", spent(self.spent.busy), spent(self.spent.wall));
        let mut lines = vec![Line::new(tone, narrow("", 2, &text))];
        let troubles = self.troubles();
        for &task in troubles.iter().take(TOLD) {
            lines.extend(self.trouble(task));
        }
        if troubles.len() > TOLD {
            lines.push(Line::plain(format!("and {} more; jobs.csv lists all", troubles.len() - TOLD)));
        }
        lines.extend(self.ended_in_background().map(|text| Line::new(Tone::Doubtful, narrow("", 2, &text))));
        let wishes = self.above_needs().into_iter().chain(self.other_cores());
        lines.extend(wishes.map(|text| Line::new(Tone::Doubtful, narrow("", 2, &text))));
        lines
    }

    /// Returns the lines with planned and actual times. For a resumed run, leaves out the first plan, because the run
    /// follows a newer one.
    pub fn details(&self, resumes: bool) -> Vec<Line> {
        let mut lines = vec![Line::plain(String::new())];
        lines.extend(self.table(!resumes));
        lines.push(Line::plain(String::new()));
        if !resumes {
            let guessed = if self.instance.has_guesses() { ", from guessed run times" } else { "" };
            let text = format!("planned makespan {} s{guessed}", figure(self.plan.makespan().seconds()));
            lines.push(Line::plain(text));
        }
        lines.extend(self.learned().iter().map(|text| Line::plain(narrow("", 2, text))));
        lines.extend(self.lost().map(|text| Line::plain(narrow("", 2, &text))));
        if !resumes {
            lines.extend(self.longer_table());
        }
        lines
    }

    /// Returns the number of successful jobs, and a text with the numbers of all other outcomes.
    pub fn numbers(&self) -> (usize, String) {
        let jobs = self.instance.jobs();
        let done = jobs.iter().filter(|job| job.task_ids().all(|task| self.kind(task) == Kind::Succeeded)).count();
        let counts = self.counts();
        let others = KINDS.iter().skip(1).filter_map(|kind| Some(format!("{} {}", counts.get(kind)?, kind.words())));
        (done, others.collect::<Vec<_>>().join(", "))
    }

    /// Returns a line with the number of successful jobs and the numbers of other outcomes.
    fn counted(&self) -> Line {
        let (jobs, (done, others), counts) = (self.instance.jobs(), self.numbers(), self.counts());
        let stopped = if self.stopped { "stopped before its end: " } else { "" };
        let mut parts = vec![format!("{stopped}{done} of {} succeeded", counted(jobs.len(), "job"))];
        parts.extend(Some(others).filter(|text| !text.is_empty()));
        let is_unneeded = |run: &&&Run| run.outcome == Outcome::Succeeded && run.processors.is_empty();
        let unneeded = self.last.values().filter(is_unneeded).count();
        if unneeded > 0 {
            parts.push(format!("{unneeded} without a run, because their inputs did not change"));
        }
        if !self.attempts.is_empty() {
            parts.push(format!("{} run more than once", self.attempts.len()));
        }
        let tone = counts.keys().map(|kind| kind.tone()).max().unwrap_or(Tone::Good);
        Line::new(tone, parts.join("; "))
    }

    /// Describes all sessions of the run in a sentence for the report. The planned time is included if run times were
    /// known.
    pub fn sentence(&self) -> String {
        let busy: f64 = self.trace.runs.iter().map(|run| (run.end - run.start).seconds()).sum();
        let (busy, wall) = (duration(busy), duration(self.trace.schedule().makespan().seconds()));
        let all = if self.stopped || self.ended() < self.instance.jobs().len() { " for all" } else { "" };
        let planned = if self.has_plan {
            format!(", planned {}{all}", duration(self.plan.makespan().seconds()))
        } else {
            String::new()
        };
        let so_far = if self.stopped { " so far" } else { "" };
        format!("{}; {busy} of jobs in {wall}{so_far}{planned}", self.counted().text)
    }

    /// Returns a sentence with the number of estimated run times that measured times replaced.
    fn learned(&self) -> Option<String> {
        let restated = self.restated.filter(|restated| !restated.is_empty())?;
        let guessed = restated.iter().filter(|&&task| self.instance.task(task).estimate.is_guess()).count();
        let mut parts = Vec::new();
        match (guessed, self.instance.guesses()) {
            (0, _) => {}
            (1, 1) => parts.push("the guessed run time was replaced".to_owned()),
            (1, all) => parts.push(format!("1 of {all} guessed run times was replaced")),
            (some, all) if some == all => parts.push(format!("all {all} guessed run times were replaced")),
            (some, all) => parts.push(format!("{some} of {all} guessed run times were replaced")),
        }
        match restated.len() - guessed {
            0 => {}
            1 => parts.push("1 run time learned from earlier runs was corrected".to_owned()),
            some => parts.push(format!("{some} run times learned from earlier runs were corrected")),
        }
        Some(format!("{} by run times measured in this run", parts.join(" and ")))
    }

    /// Returns the reason why a task did not succeed, and the last lines of its output.
    fn trouble(&self, task: TaskId) -> Vec<Line> {
        let tone = self.kind(task).tone();
        let text = format!("job `{}`: {}", self.instance.name(task), self.reason(task));
        let mut lines = vec![Line::new(tone, narrow("", 2, &text))];
        let tail = tail::of(self.outputs, self.instance, task).into_iter().flat_map(tail::OutputTail::shown);
        lines.extend(tail.map(|line| Line::plain(format!("  | {line}"))));
        lines
    }

    fn reason(&self, task: TaskId) -> String {
        let run = self.last.get(&task).copied();
        let attempts = self.attempts.get(&task).map_or_else(String::new, |count| format!(" (attempt {count})"));
        let known =
            self.reasons.get(&task).cloned().unwrap_or_else(|| match (self.kind(task), run.map(|run| run.outcome)) {
                (Kind::OutOfMemory, _) => "it was killed for lack of memory".into(),
                (_, Some(Outcome::Failed { status })) => format!("it ended with status {status}"),
                (Kind::TimedOut, _) => "it was ended at its time limit".into(),
                (Kind::Interrupted, _) => {
                    let ran = run.map_or_else(String::new, |run| {
                        format!(" after {} s", figure((run.end - run.start).seconds()))
                    });
                    format!("it was stopped{ran} because the run stopped; --resume runs it again")
                }
                (kind, _) => kind.words().into(),
            });
        known + &attempts
    }

    /// Returns a sentence for each task that used more memory than it states, or more than was predicted.
    fn above_needs(&self) -> Vec<String> {
        let mut all: Vec<(u64, TaskId, u64)> = Vec::new();
        let source = |task: TaskId| self.instance.task(task).memory_estimate;
        for (&task, run) in self.last.iter().filter(|&(&task, _)| !source(task).is_guess()) {
            let stated = makespan_exec::stated_memory(self.instance, task, &run.processors);
            let peak = run.accounting.map_or(0, |used| used.peak_memory);
            if stated > 0 && peak > stated {
                all.push((peak - stated, task, peak));
            }
        }
        all.sort_by_key(|&(over, task, _)| (std::cmp::Reverse(over), task));
        let sentence = |&(over, task, peak): &(u64, TaskId, u64)| {
            let name = self.instance.name(task);
            let (held, amount) = (bytes(peak), bytes(peak - over));
            let source = match source(task) {
                Estimate::Learned { runs, .. } => format!("was predicted from {}", counted(u64::from(runs), "run")),
                Estimate::Stated | Estimate::Guessed => "it states".to_owned(),
            };
            format!("job `{}` held {held} of memory, more than the {amount} that {source}", shown(&name))
        };
        let mut texts: Vec<String> = all.iter().take(TOLD).map(sentence).collect();
        if all.len() > TOLD {
            texts.push(format!("{} more jobs held more memory than they state", all.len() - TOLD));
        }
        texts
    }

    /// Returns the table of the tasks that did not succeed, for the report of the run.
    pub fn section(&self) -> Section {
        let row = |&task: &TaskId| {
            let tail = tail::of(self.outputs, self.instance, task).map_or_else(String::new, tail::OutputTail::text);
            vec![self.instance.name(task).into_owned(), self.kind(task).words().to_owned(), self.reason(task), tail]
        };
        let troubles = self.troubles();
        let mut rows: Vec<Vec<String>> = troubles.iter().take(TOLD * 5).map(row).collect();
        let mut text = vec![self.sentence()];
        text.extend(self.above_needs());
        text.extend(self.other_cores());
        text.extend(self.learned().filter(|_| self.has_plan));
        text.extend(self.lost_on_page());
        let text: Vec<String> = text.iter().map(|line| sentence(line)).collect();
        let mut columns = ["job", "outcome", "why", "end of its output"].map(str::to_owned).to_vec();
        if rows.is_empty() {
            columns.clear();
        } else if rows.iter().all(|row| row.last().is_some_and(String::is_empty)) {
            columns.pop();
            rows.iter_mut().for_each(|row| drop(row.pop()));
        }
        Section {
            title: "Outcomes".into(),
            text: text.join("\n"),
            columns,
            rows,
            words: true,
            first: true,
            figure: None,
            schedules: Vec::new(),
        }
    }
}
