//! Settles the tasks that were running when an earlier session died: decides for each task whether it has ended or
//! runs again.

use makespan_core::{Accounting, Estimate, Instance, Outcome, Run, TaskId};

use crate::clock::{began, since_origin};
use crate::engine::{Engine, LeftProcesses, is_spread};
use crate::files::Files;
use crate::journal::{Attempt, Cause, History, Journal, JournalRecord, Progression};
use crate::process::Identity;
use crate::session::{Retries, outcome};
use crate::status::AttemptStatus;
use crate::storage::Storage;
use crate::{ExecuteError, ExecuteOptions, MeasuredAttempt, Observer};

/// The state that the recovery reads and changes.
pub(crate) struct Recovery<'a> {
    /// The names of the tasks in the journal.
    pub names: &'a [String],
    /// The instance, or `None` if the journal belongs to another instance.
    pub instance: Option<&'a Instance>,
    pub options: &'a ExecuteOptions,
    pub storage: &'a dyn Storage,
    pub files: &'a Files,
    pub engine: &'a mut dyn Engine,
    /// Attempts that were taken over, which are not settled.
    pub taken: &'a [TaskId],
    pub journal: &'a mut Journal,
    pub observer: &'a mut dyn Observer,
    /// Attempts that ended while no session ran.
    pub measured: Vec<(Run, u32)>,
}

impl Recovery<'_> {
    /// Settles every task that is running according to the journal and was not taken over. If the shim of the task has
    /// written an exit status, the task has ended. Otherwise, the task and all its descendants are ended. If the shim
    /// writes a status before it ends, this status is used. Without a status, the task runs again.
    pub fn settle(&mut self, history: &mut History) -> Result<(), ExecuteError> {
        let unsettled = |(id, task): (TaskId, &Progression)| match task {
            Progression::Running(attempt) if !self.taken.contains(&id) => Some((id, attempt.clone())),
            _ => None,
        };
        let mut running: Vec<(TaskId, Attempt)> = (0..).map(TaskId).zip(&history.tasks).filter_map(unsettled).collect();
        let same_boot = history.boot == self.engine.place();
        for (task, attempt) in running.iter_mut().filter(|_| same_boot) {
            let Some(shim) = attempt.shim() else { continue };
            if attempt.ending.is_none()
                && self.engine.is_alive(shim)
                && self.status(*task, attempt, history.origin).is_none()
            {
                let name = &self.names[task.index()];
                self.observer.message(&format!(
                    "job `{name}` is still running after the end of the session that started it (process {}); it is \
                     being ended",
                    attempt.pid
                ));
                // From now on, this session may be the cause of a nonzero status.
                self.journal.note(JournalRecord::Ending { task: *task, cause: Cause::Stop });
                attempt.ending = Some(Cause::Stop);
            }
        }
        self.journal.commit()?;
        if !history.boot.is_empty() {
            let shims: Vec<Identity> =
                running.iter().filter(|_| same_boot).filter_map(|(_, attempt)| attempt.shim()).collect();
            let left = LeftProcesses { shims: &shims, group: history.group.as_deref().filter(|_| same_boot) };
            self.engine.end_left(&left, self.options.grace, &mut |text| self.observer.message(text));
        }
        let retries = self.instance.map(|instance| Retries::new(instance, &history.runs, self.options));
        for (task, attempt) in running {
            let reserved = retries.as_ref().and_then(|retries| self.reserved(retries, task, &attempt));
            self.record(history, task, attempt, reserved);
        }
        self.journal.commit()?;
        for (run, attempt) in std::mem::take(&mut self.measured) {
            let Some(instance) = self.instance else { continue };
            let command = instance.command(run.task);
            let (began, host) = (began(history.origin, run.start), self.engine.host(&run.processors));
            let is_spread = is_spread(self.engine, instance.platform(), &run.processors);
            let is_pinned = self.options.pinning.pins(instance, run.task);
            let memory_source = instance.task(run.task).memory_estimate;
            let (run, command, host) = (&run, &*command, host.as_str());
            let measured = MeasuredAttempt { run, command, attempt, began, host, is_spread, is_pinned, memory_source };
            self.observer.measured(&measured);
        }
        Ok(())
    }

    /// Returns the status that the shim of an attempt of this run has written.
    fn status(&self, task: TaskId, attempt: &Attempt, origin: i64) -> Option<AttemptStatus> {
        let bytes = self.storage.read(&self.files.status(task, attempt.attempt)).ok()??;
        let claim = |status: &AttemptStatus| (status.claim.run, status.claim.task, status.claim.attempt);
        AttemptStatus::parse(&bytes).filter(|status| claim(status) == (origin, task, attempt.attempt))
    }

    /// Returns the memory in bytes that was reserved for an attempt of a task that states its memory. An amount that an
    /// earlier session learned or guessed is unknown.
    fn reserved(&self, retries: &Retries, task: TaskId, attempt: &Attempt) -> Option<u64> {
        let instance = self.instance.filter(|instance| instance.task(task).memory_estimate == Estimate::Stated)?;
        Some(retries.bytes(instance, task, &attempt.processors)).filter(|&bytes| bytes > 0)
    }

    fn record(&mut self, history: &mut History, task: TaskId, attempt: Attempt, reserved: Option<u64>) {
        let name = &self.names[task.index()];
        let status = self.status(task, &attempt, history.origin);
        let settled = status.and_then(|status| {
            // If a task ended by itself, this end is used, even if a session was about to end the task. If another
            // program stopped the task, the task is treated as stopped. If a session ended the task but the cause is
            // not recorded, the task is also treated as stopped, because it certainly did not finish.
            let ours = status.asked.then_some(attempt.ending.unwrap_or(Cause::Stop));
            let outcome = outcome(status.exit, ours.or(status.stopped.then_some(Cause::Stop)))?;
            let accounting = status.accounting.map(|used| Accounting { reserved_memory: reserved, ..used });
            Some((outcome, since_origin(status.wall(), history.origin).max(attempt.at), accounting))
        });
        if let Some((outcome, end, accounting)) = settled {
            let Attempt { attempt, at: start, processors, .. } = attempt;
            self.journal.note(JournalRecord::Ended {
                task,
                start,
                at: end,
                processors: processors.clone(),
                outcome,
                accounting,
            });
            let run = Run { task, start, end, processors, outcome, accounting };
            self.measured.push((run.clone(), attempt));
            history.runs.push(run);
            history.tasks[task.index()] = Progression::Ended(outcome);
            history.latest = history.latest.max(end);
            self.observer.message(&format!("job `{name}` ended between two sessions; its end is recorded now"));
        } else {
            self.journal.note(JournalRecord::Interrupted { task, at: history.latest });
            history.tasks[task.index()] = Progression::Open;
            self.observer.message(&format!("job `{name}` was interrupted and runs again"));
        }
    }
}

/// Returns the failed and cancelled tasks that are not open.
pub(crate) fn closed_tasks(history: &History, open: &[TaskId]) -> Vec<TaskId> {
    let closed = |id: &TaskId| match history.tasks[id.index()] {
        Progression::Open | Progression::Running(_) | Progression::Ended(Outcome::Succeeded) => false,
        Progression::Ended(_) | Progression::Cancelled => open.binary_search(id).is_err(),
    };
    (0..history.tasks.len()).map(TaskId::at).filter(closed).collect()
}

/// Returns the tasks that remain to be run, ascending. The result includes failed tasks that may be tried again, and
/// their successors that were not started.
pub(crate) fn open_tasks(
    instance: &Instance,
    history: &History,
    options: &ExecuteOptions,
    retries: &Retries,
) -> Vec<TaskId> {
    let depends = |task: TaskId| !instance.edges().is_empty() && instance.incoming(task).len() > 0;
    let is_open = |(task, progression): (TaskId, &Progression)| match progression {
        Progression::Open | Progression::Running(_) => true,
        Progression::Ended(Outcome::Succeeded) => false,
        Progression::Ended(_) | Progression::Cancelled if options.retry_failed => true,
        Progression::Ended(Outcome::NotStarted) => (options.retries > 0 || options.raise_memory) && depends(task),
        Progression::Ended(_) => retries.failures(task) <= options.retries,
        Progression::Cancelled => false,
    };
    let mut open: Vec<bool> = (0..).map(TaskId).zip(&history.tasks).map(is_open).collect();
    if !instance.edges().is_empty() {
        close_behind(instance, history, &mut open);
    }
    (0..).map(TaskId).zip(open).filter(|(_, open)| *open).map(|(id, _)| id).collect()
}

/// Closes tasks that were recorded as not started and have a predecessor that remains unsuccessful.
fn close_behind(instance: &Instance, history: &History, open: &mut [bool]) {
    let succeeded = Progression::Ended(Outcome::Succeeded);
    let closed = |task: &TaskId| !open[task.index()] && history.tasks[task.index()] != succeeded;
    let mut behind: Vec<TaskId> = (0..open.len()).map(TaskId::at).filter(closed).collect();
    while let Some(task) = behind.pop() {
        for next in instance.outgoing(task).flat_map(|edge| instance.equal_tasks(edge.to)) {
            // Tasks without a record are recorded as not started when the session begins.
            if matches!(history.tasks[next.index()], Progression::Ended(_)) && std::mem::take(&mut open[next.index()]) {
                behind.push(next);
            }
        }
    }
}
