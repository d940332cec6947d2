//! Reads the files of attempts. Ends and adopts attempts.

use std::collections::HashMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

use makespan_core::TaskId;
use makespan_exec::engine::{EarlierAttempt, Notice, TakenAttempt};

use super::{SlurmJobEngine, SubmittedAttempt, ThreadRequest, cluster_of};
use crate::CommandError;
use crate::jobs::queue::{Snapshot, snapshot};
use crate::pilot::{AttemptEnd, AttemptOrder};

/// Time between two checks of attempts that are being ended.
const GLANCE: Duration = Duration::from_millis(100);

impl SlurmJobEngine<'_> {
    /// Searches the files for attempts that have started or ended. Returns true if there are any new ones.
    pub(super) fn look_for_news(&mut self) -> bool {
        let (news, ends) = (self.board.news(), self.board.ends());
        let found = !news.is_empty() || !ends.is_empty();
        for id in news {
            self.board.heard(&id);
            if let Some(&task) = self.run.by_id.get(&id) {
                self.see_begin(task);
            }
        }
        let mut found_end = false;
        for (id, fate) in ends {
            match self.run.by_id.get(&id) {
                Some(&task) => found_end |= self.see_end(task, fate),
                // The attempt belongs to no task of this session. So only remove its record.
                None => self.board.forget_end(&id, &fate),
            }
        }
        found && found_end
    }

    /// Reads the claim of an attempt. Reports the claim if it is new.
    pub(super) fn see_begin(&mut self, task: TaskId) {
        let Some(held) = self.run.tasks.get_mut(&task).filter(|held| held.claim.is_none()) else { return };
        let Some(claim) = self.board.claimant(&held.id).filter(|claim| !claim.is_void()) else { return };
        self.submissions.stillborn = None;
        held.number = Some(claim.job);
        held.claim = Some(claim.clone());
        let planned = held.order.processors.clone();
        let processors = self.processors_of(&claim, &planned);
        self.run.busy.insert(task, processors.clone());
        self.run.notices.push_back(Notice::Begun { task, at: claim.wall(), processors });
    }

    /// Handles the end of an attempt. Returns true if this end was not known before.
    fn see_end(&mut self, task: TaskId, fate: AttemptEnd) -> bool {
        self.see_begin(task);
        let Some(held) = self.run.tasks.get_mut(&task).filter(|held| held.fate.is_none()) else { return false };
        held.fate = Some(fate.clone());
        // If the attempt is gone, wait until Slurm reports the reason.
        held.is_stopped = fate == AttemptEnd::Gone;
        self.run.notices.extend(fate.notice(task));
        true
    }

    /// Withdraws a task that has not started. Returns false if it has started.
    pub(super) fn take_back(&mut self, task: TaskId) -> bool {
        let Some(held) = self.run.tasks.get(&task) else { return false };
        let may_be_there = held.submitted.is_some() || self.submissions.submitting == Some(task);
        if held.claim.is_some() || held.fate.is_some() || (may_be_there && !self.board.void(&held.id)) {
            return false;
        }
        if may_be_there {
            self.slurm[held.cluster].cancel.push(held.id.clone());
        }
        self.forget(task);
        true
    }

    /// Requests the end of an attempt.
    pub(super) fn ask_end(&mut self, task: TaskId, kill: bool) {
        if self.take_back(task) {
            self.run.notices.push_back(Notice::Lost(task, "the job was withdrawn before its start".into()));
            return;
        }
        let Some(held) = self.run.tasks.get(&task) else { return };
        // If the request fails, it is repeated.
        let _ = self.board.ask_end(&held.id, kill);
        if kill {
            self.slurm[held.cluster].cancel.push(held.id.clone());
        }
    }

    /// Adopts the attempts of earlier sessions that may still run. Also adopts ended attempts if no session has handled
    /// their ends.
    pub(super) fn find_tasks(&mut self, earlier: &[EarlierAttempt]) -> Vec<TakenAttempt> {
        let submissions = self.board.submissions();
        let known = |id: String| Some((self.board.order(&id).ok()?, id));
        let orders = self.board.orders().into_iter().filter_map(known);
        let mut orders: HashMap<String, (String, AttemptOrder)> =
            orders.map(|(order, id)| (order.files.status.clone(), (id, order))).collect();
        let mut taken = Vec::new();
        for EarlierAttempt { task, files, .. } in earlier {
            let Some((id, order)) = orders.remove(&files.status) else { continue };
            let Some(number) = submissions.get(&id) else { continue };
            let cluster = cluster_of(&self.options.clusters, &order.processors);
            let is_void = self.board.claimant(&id).is_some_and(|claim| claim.is_void());
            if is_void {
                // The attempt was withdrawn, but the session ended before it removed the order.
                self.board.forget(&id);
                self.slurm[cluster].cancel.push(id);
                continue;
            }
            let held = SubmittedAttempt {
                is_let_go: true,
                submitted: Some(Instant::now()),
                number: *number,
                ..SubmittedAttempt::new(id, cluster, order)
            };
            self.hold(held);
            self.submissions.has_any = true;
            taken.push(TakenAttempt { task: *task, gpus: Vec::new() });
        }
        if !taken.is_empty() {
            let jobs = if taken.len() == 1 { "1 job is".into() } else { format!("{} jobs are", taken.len()) };
            self.tell(format!("{jobs} of the last session are still in Slurm's queue, and are taken over"));
        }
        let all: Vec<TaskId> = taken.iter().map(|taken| taken.task).collect();
        all.into_iter().for_each(|task| self.see_begin(task));
        self.look_for_news();
        taken
    }

    /// Ends attempts of earlier sessions that do not belong to the tasks of this session. Returns after all of them
    /// have ended.
    pub(super) fn end_strangers(&mut self, grace: Duration, tell: &mut dyn FnMut(&str)) {
        let begun = Instant::now();
        let (mut asked, mut killed, mut told) = (false, false, false);
        loop {
            let ended: Vec<String> = self.board.ends().into_iter().map(|(id, _)| id).collect();
            let strangers: Vec<String> =
                self.board.orders().into_iter().filter(|id| !self.run.by_id.contains_key(id)).collect();
            let mut left = Vec::new();
            for id in strangers {
                if self.board.void(&id) || ended.contains(&id) {
                    self.board.forget(&id);
                    self.cancel_anywhere(&[id]);
                } else {
                    left.push(id);
                }
            }
            for slurm in self.slurm.iter_mut().filter(|slurm| !slurm.cancel.is_empty()) {
                slurm.queue.wish(ThreadRequest::Cancel(std::mem::take(&mut slurm.cancel)));
            }
            if left.is_empty() {
                return;
            }
            let kill = begun.elapsed() >= grace;
            if !asked || (kill && !killed) {
                left.iter().for_each(|id| drop(self.board.ask_end(id, kill)));
                (asked, killed) = (true, kill);
            }
            if kill && let Ok(there) = self.snapshot_of_all() {
                // After the end of a job, none of the job's processes exists.
                for id in left.iter().filter(|id| there.get(*id).is_none_or(|entry| entry.state.has_ended())) {
                    self.board.forget(id);
                }
                let queued: Vec<String> = left.iter().filter(|id| there.contains_key(*id)).cloned().collect();
                self.cancel_anywhere(&queued);
            }
            if !told && begun.elapsed() > grace + Duration::from_secs(5) {
                told = true;
                tell("jobs of an earlier session are still running; the run continues when these jobs have ended");
            }
            sleep(if kill { GLANCE * 10 } else { GLANCE });
        }
    }

    /// Cancels the jobs of these attempts in all clusters.
    fn cancel_anywhere(&mut self, ids: &[String]) {
        self.slurm.iter_mut().for_each(|slurm| slurm.cancel.extend_from_slice(ids));
    }

    /// Returns the jobs of this run in all clusters.
    fn snapshot_of_all(&self) -> Result<Snapshot, CommandError> {
        let mut all = Snapshot::new();
        for cluster in &self.options.clusters {
            all.extend(snapshot(&cluster.batch, &self.submissions.mark)?);
        }
        Ok(all)
    }
}
