//! Determines the fate of attempts if their jobs do not report it.

use std::time::{Duration, Instant};

use makespan_core::TaskId;
use makespan_exec::engine::{Notice, ended_by};

use super::{SlurmJobEngine, SubmittedAttempt};
use crate::JobState;
use crate::jobs::queue::{QueuedTask, Snapshot};
use crate::pilot::AttemptEnd;

/// Time after the end of a job until its files are visible on this machine.
const DELAY: Duration = Duration::from_secs(2);

/// If a job has been absent from the queue for this time, its attempt is lost, provided that the job is also silent.
const ABSENT: Duration = Duration::from_secs(8);
/// If a job has given no sign of life for this time, the job is silent.
const SILENT: Duration = Duration::from_secs(12);

/// Duration of doubt after a sign that the controller has forgotten jobs. During this time, the cancellation of a job
/// may come from the controller instead of a user.
const DOUBT: Duration = Duration::from_mins(1);

/// Exit status of a task that SIGTERM ended.
const STOPPED: i32 = 128 + 15;
/// Exit status of a task that SIGKILL ended.
const KILLED: i32 = 128 + 9;

/// Slurm's reason for a job with a failed dependency.
const NEVER: &str = "DependencyNeverSatisfied";

/// The probable cause, for a job that has left no log.
const NO_LOG: &str =
    "the job wrote no log; its node may not share the folder of the run, which `makespan slurm doctor` tests";

/// If this number of jobs ended without a log and no job has started, no further job is submitted.
const MAX_STILLBORN: u32 = 8;

/// The fate of an attempt.
enum Verdict {
    Goes,
    /// The attempt can never start. It is repeated.
    Lost(String),
    /// The attempt can never start, because somebody cancelled its job.
    Cancelled(String),
    /// The attempt was ended.
    Ended(i32, String),
    TimedOut(String),
}

impl SlurmJobEngine<'_> {
    /// Compares the attempts in a cluster with the queue of this cluster at the instant `at`.
    pub(super) fn judge(&mut self, cluster: usize, at: Instant, snapshot: &Snapshot) {
        // Attempts that have ended since the last check report their own fate.
        self.look_for_news();
        let due = |held: &SubmittedAttempt| held.cluster == cluster && held.submitted.is_some_and(|since| since < at);
        let open = |held: &&SubmittedAttempt| due(held) && (held.fate.is_none() || held.is_stopped);
        let all: Vec<TaskId> = self.run.tasks.values().filter(open).map(|held| held.order.task).collect();
        for task in all {
            let Some(held) = self.run.tasks.get_mut(&task) else { continue };
            let entry = snapshot.get(&held.id).filter(|entry| held.number.is_none_or(|number| number == entry.job));
            if let Some(entry) = entry {
                if held.number.is_none() {
                    held.number = Some(entry.job);
                    let _ = self.submissions.log.note(&held.id, Some(entry.job));
                }
                if !entry.state.has_ended() && !never_starts(entry) {
                    held.over = None;
                    continue;
                }
            }
            let since = *held.over.get_or_insert(at);
            self.conclude(task, entry, at.duration_since(since));
        }
    }

    /// Handles a job that has been ended or absent from the queue for the time `since`.
    fn conclude(&mut self, task: TaskId, entry: Option<&QueuedTask>, since: Duration) {
        self.see_begin(task);
        let Some(held) = self.run.tasks.get(&task).filter(|held| held.fate.is_none() || held.is_stopped) else {
            return;
        };
        let verdict = match entry {
            Some(entry) if since >= DELAY => self.verdict(held, entry),
            None if since >= ABSENT => {
                let name = held.number.map_or_else(|| "its job".into(), |number| format!("its job {number}"));
                if held.is_stopped || self.is_silent(task) {
                    Verdict::Lost(format!("Slurm has forgotten {name}, and its end was not recorded"))
                } else {
                    Verdict::Goes
                }
            }
            _ => Verdict::Goes,
        };
        self.carry_out(task, verdict);
    }

    fn verdict(&self, held: &SubmittedAttempt, entry: &QueuedTask) -> Verdict {
        let job = entry.job;
        let has_begun = held.claim.is_some();
        let waits = held.after.iter().any(|before| !self.run.succeeded.contains(before));
        match &entry.state {
            // Slurm keeps this reason even if a user cancels the job. The queue then shows only that the job was
            // pending.
            _ if !has_begun && entry.reason == NEVER => {
                // The fate of the predecessor is not known yet.
                if waits {
                    Verdict::Goes
                } else {
                    Verdict::Lost(format!("its Slurm job {job} waited for a job that no longer exists"))
                }
            }
            // A controller that has lost its state may report the end of an earlier job with the same id.
            JobState::Cancelled if !has_begun && self.is_doubtful(held.cluster) => {
                Verdict::Lost(format!("its Slurm job {job} was cancelled by a restart of Slurm's controller"))
            }
            JobState::Cancelled if !has_begun => {
                Verdict::Cancelled(format!("its Slurm job {job} was cancelled before it started"))
            }
            JobState::Deadline if !has_begun => Verdict::Cancelled(format!("its Slurm job {job} missed its deadline")),
            JobState::Cancelled => Verdict::Ended(STOPPED, format!("its Slurm job {job} was cancelled")),
            JobState::Timeout if has_begun => Verdict::TimedOut(format!("its Slurm job {job} reached its time limit")),
            JobState::OutOfMemory if has_begun => Verdict::Ended(
                KILLED,
                format!("Slurm reports that its Slurm job {job} used more memory than it had requested"),
            ),
            state => {
                let state = format!("{state:?}").to_lowercase();
                let words = if !has_begun && !self.board.log(&held.id).exists() {
                    format!(": {NO_LOG}")
                } else {
                    self.board.last_words(&held.id).map_or_else(String::new, |words| format!(": {words}"))
                };
                let when = if has_begun { "did not record its end" } else { "never began" };
                Verdict::Lost(format!("its Slurm job {job} has ended ({state}) and {when}{words}"))
            }
        }
    }

    /// Returns true if the controller of a cluster was recently unavailable, or has recently forgotten jobs.
    fn is_doubtful(&self, cluster: usize) -> bool {
        self.slurm[cluster].doubt.is_some_and(|since| since.elapsed() < DOUBT)
    }

    /// Returns true if the job of an attempt has given no sign of life for a while.
    pub(super) fn is_silent(&mut self, task: TaskId) -> bool {
        let Some(held) = self.run.tasks.get_mut(&task) else { return false };
        if held.claim.is_none() {
            return true;
        }
        let last = self.board.last_beat(&held.id);
        match (held.beat, last) {
            (Some((known, since)), Some(last)) if known == last => since.elapsed() >= SILENT,
            (_, Some(last)) => {
                held.beat = Some((last, Instant::now()));
                false
            }
            (_, None) => true,
        }
    }

    fn carry_out(&mut self, task: TaskId, verdict: Verdict) {
        let Some(held) = self.run.tasks.get_mut(&task) else { return };
        let never_began = matches!(verdict, Verdict::Lost(_) | Verdict::Cancelled(_)) && held.claim.is_none();
        if never_began && !self.board.void(&held.id) {
            // Either the attempt has just started, or the disk is full.
            return;
        }
        let name = held.order.name.clone();
        match verdict {
            Verdict::Goes => {}
            Verdict::Lost(reason) => {
                let is_stillborn = reason.ends_with(NO_LOG);
                self.slurm[held.cluster].cancel.push(held.id.clone());
                self.lose(task, reason);
                let count = self.submissions.stillborn.as_mut().filter(|_| is_stillborn);
                let count = count.map(|count| {
                    *count += 1;
                    *count
                });
                if count == Some(MAX_STILLBORN) {
                    let text = format!(
                        "{MAX_STILLBORN} Slurm jobs of this run ended without starting their task; for each of them: \
                         {NO_LOG}"
                    );
                    self.run.notices.push_back(Notice::Over(text));
                }
            }
            Verdict::Cancelled(reason) => {
                held.fate = Some(AttemptEnd::Gone);
                self.run.notices.push_back(Notice::Refused(task, reason));
            }
            Verdict::Ended(status, reason) => {
                let left = ended_by(&self.board.run().join(&held.order.files.status)).is_some();
                (held.fate, held.is_stopped) = (Some(AttemptEnd::Exit(status)), false);
                self.board.forget_end(&held.id, &AttemptEnd::Gone);
                // A status file contains more information than the queue.
                self.tell(format!("job `{name}`: {reason}{}", if left { "" } else { "; the job left no status file" }));
                self.run.notices.push_back(Notice::Ended(task));
            }
            Verdict::TimedOut(reason) => {
                (held.fate, held.is_stopped) = (Some(AttemptEnd::TimedOut), false);
                self.board.forget_end(&held.id, &AttemptEnd::Gone);
                self.tell(format!("job `{name}`: {reason}"));
                self.run.notices.push_back(Notice::TimedOut(task));
            }
        }
    }
}

/// Returns true if a job waits for a predecessor that did not succeed.
fn never_starts(entry: &QueuedTask) -> bool {
    entry.state.is_waiting() && entry.reason == NEVER
}
