//! Who watches a run.

use std::ops::Range;
use std::time::SystemTime;

use makespan_core::{Job, LogEntry, Profile, Rows, Run, Running, TaskId, Time, View};

use crate::{HaltCause, OutputFiles};

/// Hears what happens during a run, to show it. Everything has an empty default.
pub trait Observer {
    /// The session begins.
    fn began(&mut self, _begin: &SessionBegin<'_>) {}

    /// A task started.
    fn started(&mut self, _running: &Running, _progress: &Progress<'_>) {}

    /// A further attempt at a task is about to start. It gets new output files.
    fn restarts(&mut self, _task: TaskId) {}

    /// A task ended; the reason says why one was not started, or by what it was ended. Where jobs come while the run goes on, a
    /// session that resumes it tells again what ended before, without reasons.
    fn ended(&mut self, _run: &Run, _reason: Option<&str>, _progress: &Progress<'_>) {}

    /// An attempt at a task failed, and the task will be tried again. Attempts are counted from 1.
    fn retried(&mut self, _run: &Run, _reason: Option<&str>, _attempt: u32, _progress: &Progress<'_>) {}

    /// An attempt at a task was lost with the machine that it ran on, and the task waits again. The trace leaves it out.
    fn lost(&mut self, _run: &Run, _reason: &str, _attempt: u32, _progress: &Progress<'_>) {}

    /// A task that ran was ended since the run was, and runs again when that is resumed. The trace leaves it out.
    fn interrupted(&mut self, _run: &Run, _progress: &Progress<'_>) {}

    /// An attempt at a task that ran to an end, with or without success: what is worth to be remembered of it. Its record is on disk.
    /// When a run is resumed, those come first that ended while no session was there.
    fn measured(&mut self, _measured: &Measured<'_>) {}

    /// The policy told something of its plans. When a run is resumed, all that was told in earlier sessions comes first.
    fn told(&mut self, _entry: &LogEntry) {}

    /// Estimated times of these tasks were replaced, as the view shows now; of a bag it is the first task. When a run is resumed, those come
    /// first that earlier sessions replaced.
    fn estimated(&mut self, _tasks: &[TaskId], _progress: &Progress<'_>) {}

    /// These tasks have come ([`crate::Intake::append`]).
    fn grown(&mut self, _tasks: Range<TaskId>, _progress: &Progress<'_>) {}

    /// Jobs that came were not taken in, for this reason.
    fn not_grown(&mut self, _reason: &str) {}

    /// Whether these tasks were taken back ([`crate::Intake::withdraw`]); otherwise one of them had begun, and all stay.
    fn withdrawn(&mut self, _tasks: &[TaskId], _done: bool) {}

    /// A task that had not started was given up, by the policy or by somebody who took it back ([`crate::Intake::cancel`]).
    fn cancelled(&mut self, _task: TaskId, _progress: &Progress<'_>) {}

    /// Processes that a task had started in the background still ran when the task ended, and were ended.
    fn left_background(&mut self, _task: TaskId) {}

    /// Enough tasks have failed or succeeded, so that nothing more starts.
    fn halted(&mut self, _cause: &HaltCause) {}

    /// Something the user should know, in one sentence.
    fn message(&mut self, _text: &str) {}

    /// Something without which nobody understands why nothing happens.
    fn warning(&mut self, text: &str) {
        self.message(text);
    }

    /// Time passed.
    fn tick(&mut self, _progress: &Progress<'_>) {}
}

/// State of a run when a session begins.
#[derive(Clone, Copy, Debug)]
pub struct SessionBegin<'a> {
    /// The tasks that this session is to run, ascending.
    pub open: &'a [TaskId],
    /// The executions that ended before, in the order of the journal.
    pub runs: &'a [Run],
    /// The wall clock at instant 0 of the run.
    pub origin: SystemTime,
    /// The output files of the tasks.
    pub outputs: &'a OutputFiles,
}

/// What is known of an attempt that ran to its end.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// When in the time of the run, where, how it ended, and what the kernel counted.
    pub run: &'a Run,
    /// The program and its arguments as the instance states them, `{processors}` and `{gpus}` included.
    pub command: &'a [String],
    /// Counted from 1 for each task.
    pub attempt: u32,
    /// When it began, by the wall clock.
    pub began: SystemTime,
    /// The name of the machine that it ran on.
    pub host: &'a str,
    /// Whether it held processors of several nodes, where one has as many.
    pub is_spread: bool,
    /// True if it was pinned to the cores of its processors, so that its time does not depend on other jobs.
    pub is_pinned: bool,
}

/// An observer that shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Where a run stands.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// What the policy sees: the present instant, the tasks that wait and those that run.
    pub view: View<'a>,
    /// The executions that have ended, those of earlier sessions included.
    pub runs: &'a [Run],
    /// Tasks that will not run again, those of earlier sessions included.
    pub ended: u64,
    /// Tasks that will be released later.
    pub unreleased: usize,
}

impl Progress<'_> {
    /// When everything will have ended if the estimates hold and the processors stay busy: an estimate, not a bound.
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
