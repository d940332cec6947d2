//! Observers of a run.

use std::ops::Range;
use std::time::SystemTime;

use makespan_core::{Estimate, Job, LogEntry, Profile, Rows, Run, Running, TaskId, Time, View};

use crate::{HaltCause, OutputFiles};

/// Receives the events of a run, for display. Each function is empty by default, except [`Observer::warning`].
pub trait Observer {
    /// A session started.
    fn began(&mut self, _begin: &SessionBegin<'_>) {}

    /// A task started.
    fn started(&mut self, _running: &Running, _progress: &Progress<'_>) {}

    /// Another attempt at a task is about to start, with new output files.
    fn restarts(&mut self, _task: TaskId) {}

    /// A task ended. The reason states why the task was not started, or what ended it. If jobs may arrive during the
    /// run, a resumed session reports the tasks that ended in earlier sessions again. The reasons are then
    /// the ones that the files of the run show.
    fn ended(&mut self, _run: &Run, _reason: Option<&str>, _progress: &Progress<'_>) {}

    /// An attempt at a task failed, and the task will be tried again. `attempt` is the number of the failed attempt,
    /// counted from 1.
    fn retried(&mut self, _run: &Run, _reason: Option<&str>, _attempt: u32, _progress: &Progress<'_>) {}

    /// An attempt at a task was lost with its machine, and the task waits again. The trace omits the attempt.
    fn lost(&mut self, _run: &Run, _reason: &str, _attempt: u32, _progress: &Progress<'_>) {}

    /// A running task was ended because the run was stopped. The task runs again when the run is resumed. The trace
    /// omits the interrupted attempt.
    fn interrupted(&mut self, _run: &Run, _progress: &Progress<'_>) {}

    /// An attempt at a task ran to its end, with or without success. The record of the end is on disk. A resumed
    /// session first reports the attempts that ended while no session ran.
    fn measured(&mut self, _measured: &MeasuredAttempt<'_>) {}

    /// The policy logged an entry about its plans. A resumed session first reports the entries of earlier sessions.
    fn told(&mut self, _entry: &LogEntry) {}

    /// The estimated times of these tasks were replaced. The view in `_progress` has the new times. `_tasks` contains
    /// only the first task of a bag. A resumed session first reports the replacements of earlier sessions.
    fn estimated(&mut self, _tasks: &[TaskId], _progress: &Progress<'_>) {}

    /// These tasks arrived ([`crate::Intake::append`]).
    fn grown(&mut self, _tasks: Range<TaskId>, _progress: &Progress<'_>) {}

    /// Arriving jobs were rejected, for this reason.
    fn not_grown(&mut self, _reason: &str) {}

    /// These tasks were withdrawn ([`crate::Intake::withdraw`]). If `_done` is false, no task was withdrawn, because
    /// one of these tasks had begun.
    fn withdrawn(&mut self, _tasks: &[TaskId], _done: bool) {}

    /// The policy or the user cancelled a task that had not started ([`crate::Intake::cancel`]).
    fn cancelled(&mut self, _task: TaskId, _progress: &Progress<'_>) {}

    /// Background processes of a task were still running when the task ended, and were killed.
    fn left_background(&mut self, _task: TaskId) {}

    /// Enough tasks have failed or succeeded, so no further task starts.
    fn halted(&mut self, _cause: &HaltCause) {}

    /// Information for the user, in one sentence.
    fn message(&mut self, _text: &str) {}

    /// A task of an earlier session still runs, and continues. The text is one sentence.
    fn outlived(&mut self, text: &str) {
        self.message(text);
    }

    /// Information for the user that explains why no task starts or ends.
    fn warning(&mut self, text: &str) {
        self.message(text);
    }

    /// It is time for the next progress report.
    fn tick(&mut self, _progress: &Progress<'_>) {}
}

/// State of a run when a session begins.
#[derive(Clone, Copy, Debug)]
pub struct SessionBegin<'a> {
    /// The tasks that this session must run, ascending.
    pub open: &'a [TaskId],
    /// The runs that ended in earlier sessions, in the order of the journal.
    pub runs: &'a [Run],
    /// Wall clock time at instant 0 of the run.
    pub origin: SystemTime,
    /// Output files of the tasks.
    pub outputs: &'a OutputFiles,
}

/// Data about an attempt that ran to its end.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredAttempt<'a> {
    /// Times, processors, outcome and resource use of the attempt.
    pub run: &'a Run,
    /// The program and its arguments as the instance states them, with placeholders such as `{processors}` and `{gpus}`.
    pub command: &'a [String],
    /// Number of the attempt, counted from 1 for each task.
    pub attempt: u32,
    /// Begin of the attempt by the wall clock.
    pub began: SystemTime,
    /// Name of the machine that ran the attempt.
    pub host: &'a str,
    /// True if the attempt held processors of several nodes although one node has enough processors.
    pub is_spread: bool,
    /// True if the attempt was pinned to the cores of its processors, so that its time does not depend on other jobs.
    pub is_pinned: bool,
    /// The source of the memory that was reserved for the attempt.
    pub memory_source: Estimate,
}

/// An observer that displays nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The view of the policy: the current instant, the waiting tasks and the running tasks.
    pub view: View<'a>,
    /// The runs that have ended, in this session and in earlier sessions.
    pub runs: &'a [Run],
    /// Number of tasks that will not run again, including tasks that ended in earlier sessions.
    pub ended: u64,
    /// Number of tasks that are released later.
    pub unreleased: usize,
}

impl Progress<'_> {
    /// Returns the expected end of the last task if the estimates are correct and the processors stay busy. The result
    /// is an estimate, not a bound.
    pub fn expected_end(&self) -> Time {
        let View { now, instance, waiting, running, .. } = self.view;
        let ends = running.iter().map(|running| running.expected_end(instance, now));
        let last = ends.clone().max().unwrap_or(now);
        let held: i128 =
            running.iter().zip(ends).map(|(running, end)| (end - now).area(running.processors.len())).sum();
        let work = |profile: &Profile| profile.least_work(Time::MAX).unwrap_or(0);
        let waiting: i128 = waiting.iter().map(|task| work(instance.profile(task))).sum();
        let of_job = |job: &Job<Rows>| {
            let different = job.different_task_ids().map(|task| work(instance.profile(task)));
            different.sum::<i128>() * i128::from(job.equal_tasks())
        };
        let later = instance.jobs().iter().filter(|job| self.unreleased > 0 && job.release > now);
        let later: i128 = later.map(of_job).sum();
        let spread = (held + waiting + later) / i128::from(instance.processors());
        last.max(now + Time::from_ticks(i64::try_from(spread).unwrap_or(i64::MAX)))
    }
}
