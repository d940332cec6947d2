//! Moves jobs away from clusters that do not answer.

use std::time::{Duration, Instant};

use makespan_core::TaskId;
use makespan_exec::engine::Notice;

use super::{SlurmJobEngine, SubmittedAttempt};

/// If a cluster has not answered for this time, jobs that have not started leave it.
const LEAVE: Duration = Duration::from_secs(15);
/// If a cluster has not answered for this time, a running job of the cluster that gives no sign of life is treated as
/// lost.
const LOSE: Duration = Duration::from_secs(45);
/// Minimum time between two withdrawals from one cluster. In this time, the session plans the tasks again.
const PAUSE: Duration = Duration::from_secs(4);

impl SlurmJobEngine<'_> {
    /// If there are several clusters, withdraws attempts from each cluster that does not answer. The session plans the
    /// tasks of these attempts again. A withdrawn attempt never starts, even if its cluster answers again, because the
    /// claim of the attempt is void.
    pub(super) fn leave_silent_clusters(&mut self) {
        if self.slurm.len() < 2 {
            return;
        }
        for cluster in 0..self.slurm.len() {
            let slurm = &mut self.slurm[cluster];
            let silent = slurm.silent.map_or(Duration::ZERO, |since| since.elapsed());
            if silent < LEAVE || slurm.moved.is_some_and(|moved| moved.elapsed() < PAUSE) {
                continue;
            }
            slurm.moved = Some(Instant::now());
            let own = |held: &&SubmittedAttempt| held.cluster == cluster && held.fate.is_none() && held.is_let_go;
            let tasks: Vec<TaskId> = self.run.tasks.values().filter(own).map(|held| held.order.task).collect();
            for task in tasks {
                self.see_begin(task);
                let name = &self.options.clusters[cluster].name;
                let waits = format!("{name} does not answer, so the job leaves its queue");
                let dead = format!("{name} does not answer, and the job gives no sign of life");
                if self.take_back(task) {
                    self.run.notices.push_back(Notice::Lost(task, waits));
                } else if silent >= LOSE && self.is_silent(task) {
                    self.lose(task, dead);
                } else {
                    continue;
                }
                self.submissions.kept_waiting += 1;
            }
        }
    }
}
