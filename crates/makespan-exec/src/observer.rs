//! Interface for displaying a run.

use std::ops::Range;
use std::time::SystemTime;

use makespan_core::{Job, LogEntry, Profile, Rows, Run, Running, TaskId, Time, View};

use crate::{HaltCause, OutputFiles};

/// Receives the events of a run. Each method is empty by default, except [`Observer::warning`].
pub trait Observer {
    /// A session started.
    fn began(&mut self, _begin: &SessionBegin<'_>) {}

    /// A task started.
    fn started(&mut self, _running: &Running, _progress: &Progress<'_>) {}

    /// A further attempt at a task is about to start. It gets new output files.
    fn restarts(&mut self, _task: TaskId) {}

    /// A task ended. `_reason` states why the task was not started or which cause ended it. In a run that accepts new jobs, a
    /// resumed session reports earlier ends again without reasons.
    fn ended(&mut self, _run: &Run, _reason: Option<&str>, _progress: &Progress<'_>) {}

    /// An attempt at a task failed, and the task will be tried again. Attempts are counted from 1.
    fn retried(&mut self, _run: &Run, _reason: Option<&str>, _attempt: u32, _progress: &Progress<'_>) {}

    /// An attempt at a task was lost with the machine that it ran on, and the task waits again. The trace leaves it out.
    fn lost(&mut self, _run: &Run, _reason: &str, _attempt: u32, _progress: &Progress<'_>) {}

    /// A running task was ended because the run was stopped. It runs again when the run is resumed. The trace omits this attempt.
    fn interrupted(&mut self, _run: &Run, _progress: &Progress<'_>) {}

    /// An attempt at a task ended with or without success, and its record is on disk. When a run is resumed, attempts that ended
    /// without a session are reported first.
    fn measured(&mut self, _measured: &Measured<'_>) {}

    /// The policy wrote a log entry about its plans. When a run is resumed, the entries of earlier sessions are reported first.
    fn told(&mut self, _entry: &LogEntry) {}

    /// Estimated times of these tasks were replaced, and the view shows the new times. A bag is represented by its first task. When
    /// a run is resumed, the replacements of earlier sessions are reported first.
    fn estimated(&mut self, _tasks: &[TaskId], _progress: &Progress<'_>) {}

    /// These tasks were added to the run ([`crate::Intake::append`]).
    fn grown(&mut self, _tasks: Range<TaskId>, _progress: &Progress<'_>) {}

    /// Submitted jobs were rejected for this reason.
    fn not_grown(&mut self, _reason: &str) {}

    /// Reports whether these tasks were withdrawn ([`crate::Intake::withdraw`]). If `_done` is false, one of them had started and
    /// all remain.
    fn withdrawn(&mut self, _tasks: &[TaskId], _done: bool) {}

    /// A task that had not started was cancelled by the policy or by the user ([`crate::Intake::cancel`]).
    fn cancelled(&mut self, _task: TaskId, _progress: &Progress<'_>) {}

    /// Background processes of a task were still running when the task ended, and were killed.
    fn left_background(&mut self, _task: TaskId) {}

    /// Enough tasks have failed or succeeded, so that nothing more starts.
    fn halted(&mut self, _cause: &HaltCause) {}

    /// Message for the user, in one sentence.
    fn message(&mut self, _text: &str) {}

    /// Warning that explains why no task starts.
    fn warning(&mut self, text: &str) {
        self.message(text);
    }

    /// The time between two progress reports has passed.
    fn tick(&mut self, _progress: &Progress<'_>) {}
}

/// State of a run when a session begins.
#[derive(Clone, Copy, Debug)]
pub struct SessionBegin<'a> {
    /// Tasks that this session will run, in ascending order.
    pub open: &'a [TaskId],
    /// Executions that ended in earlier sessions, in the order of the journal.
    pub runs: &'a [Run],
    /// Wall-clock time at instant 0 of the run.
    pub origin: SystemTime,
    /// Output files of the tasks.
    pub outputs: &'a OutputFiles,
}

/// Measurements of an attempt that ran to its end.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// Start and end in the time of the run, processors, outcome, and the accounting of the kernel.
    pub run: &'a Run,
    /// Program and arguments as the instance states them, with `{processors}` and `{gpus}` not replaced.
    pub command: &'a [String],
    /// Number of the attempt, counted from 1 for each task.
    pub attempt: u32,
    /// Start by the wall clock.
    pub began: SystemTime,
    /// Name of the machine that ran the attempt.
    pub host: &'a str,
    /// True if the attempt held processors of several nodes although one node has enough.
    pub is_spread: bool,
    /// True if it was pinned to the cores of its processors, so that its time does not depend on other jobs.
    pub is_pinned: bool,
}

/// An observer that displays nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Current state of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// View of the policy: the current instant, the waiting tasks and the running tasks.
    pub view: View<'a>,
    /// Executions that have ended, including earlier sessions.
    pub runs: &'a [Run],
    /// Number of tasks that will not run again, including earlier sessions.
    pub ended: u64,
    /// Number of tasks that will be released later.
    pub unreleased: usize,
}

impl Progress<'_> {
    /// Estimates the end of the run from the estimated run times, provided that the processors stay busy. The estimate is not a
    /// bound.
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
