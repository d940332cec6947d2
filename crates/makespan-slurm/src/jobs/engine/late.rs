//! Moves pending jobs away from clusters that are late.

use std::thread;
use std::time::{Duration, Instant};

use makespan_core::TaskId;
use makespan_exec::engine::Notice;

use super::{SlurmJobEngine, SubmittedAttempt};
use crate::Job;
use crate::jobs::occupied::{QueueOutlook, length};
use crate::jobs::queue::ThreadAnswer;

/// A pending job leaves its cluster if another cluster is expected to start the job earlier by more than this time. A job
/// that was submitted less than this time ago stays.
const MARGIN: Duration = Duration::from_secs(30);
/// Minimum time between two forecasts.
const PAUSE: Duration = Duration::from_secs(15);

/// A pending job, and the expected waits that make it leave its cluster, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LateJob {
    /// The position in the list of candidates.
    at: usize,
    /// The expected wait in its cluster.
    here: u64,
    /// The cluster with the shortest wait, and this wait.
    there: (usize, u64),
}

/// A pending job of this run.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    cluster: usize,
    /// The id of the job.
    number: u64,
    processors: usize,
    /// The time limit in seconds.
    length: u64,
}

/// Returns the candidates that should leave their clusters, in the order of their expected starts. Each of them is added to
/// the queue of the other cluster, so that later candidates wait behind it. `outlooks` contains the queue of each cluster
/// that answers.
fn late(candidates: &[Candidate], outlooks: &mut [Option<QueueOutlook>]) -> Vec<LateJob> {
    let wait = |one: &Candidate, outlooks: &[Option<QueueOutlook>]| {
        outlooks[one.cluster].as_ref()?.starts.get(&one.number).copied()
    };
    let mut order: Vec<(u64, usize)> =
        candidates.iter().enumerate().filter_map(|(at, one)| Some((wait(one, outlooks)?, at))).collect();
    order.sort_unstable();
    let mut found = Vec::new();
    for (here, at) in order {
        let one = &candidates[at];
        let others = outlooks.iter().enumerate().filter(|&(cluster, _)| cluster != one.cluster);
        let start = |(cluster, outlook): (usize, &Option<QueueOutlook>)| {
            Some((outlook.as_ref()?.start_behind(one.processors)?, cluster))
        };
        let Some((there, cluster)) = others.filter_map(start).min() else { continue };
        if there + MARGIN.as_secs() < here
            && let Some(outlook) = &mut outlooks[cluster]
        {
            outlook.append(one.processors as u64, one.length);
            found.push(LateJob { at, here, there: (cluster, there) });
        }
    }
    found
}

impl SlurmJobEngine<'_> {
    /// If there are several clusters and some job waits long, reads the whole queues of all clusters in threads.
    pub(super) fn leave_late_clusters(&mut self) {
        let is_due = self.slurm.len() > 1 && !self.late.is_asked && self.late.next <= Instant::now();
        if !is_due || !self.run.tasks.values().any(|held| self.may_be_late(held)) {
            return;
        }
        (self.late.is_asked, self.late.heard) = (true, Vec::new());
        for (cluster, own) in self.options.clusters.iter().enumerate() {
            let (commands, answers) = (own.commands.clone(), self.late.answers.clone());
            let read = move || {
                let jobs = commands.jobs_with_shares().ok().map(|read| read.items);
                let _ = answers.send(ThreadAnswer::AllJobs(cluster, jobs));
            };
            if thread::Builder::new().name("scontrol".into()).spawn(read).is_err() {
                self.late.heard.push((cluster, None));
            }
        }
    }

    /// Returns true if a job is pending long enough, no task delays it, and it has not left a late cluster before.
    fn may_be_late(&self, held: &SubmittedAttempt) -> bool {
        held.is_let_go
            && held.claim.is_none()
            && held.fate.is_none()
            && held.number.is_some()
            && held.submitted.is_some_and(|since| since.elapsed() >= MARGIN)
            && held.after.iter().all(|before| self.run.succeeded.contains(before))
            && !self.late.moved.contains(&held.order.task)
    }

    /// Receives the queue of a cluster. When all clusters have answered, withdraws late jobs. The session then plans their
    /// tasks again. A withdrawn attempt never starts, because its claim is void. So a task never runs on two clusters.
    pub(super) fn hear_all_jobs(&mut self, cluster: usize, jobs: Option<Vec<Job>>) {
        self.late.heard.push((cluster, jobs));
        if self.late.heard.len() < self.slurm.len() {
            return;
        }
        (self.late.is_asked, self.late.next) = (false, Instant::now() + PAUSE);
        let (mut outlooks, mut lengths) = (vec![None; self.slurm.len()], Vec::new());
        for (cluster, jobs) in std::mem::take(&mut self.late.heard) {
            let platform = self.options.clusters[cluster].platform(self.instance.platform());
            if let (Some(platform), Some(jobs)) = (platform, jobs) {
                outlooks[cluster] = Some(QueueOutlook::of(&platform, &jobs));
                lengths.extend(jobs.iter().map(|job| ((cluster, job.id), length(job))));
            }
        }
        let candidate = |held: &SubmittedAttempt| {
            let (cluster, number) = (held.cluster, held.number?);
            let length = lengths.iter().find(|one| one.0 == (cluster, number))?.1;
            let processors = held.order.processors.len() as usize;
            Some((held.order.task, Candidate { cluster, number, processors, length }))
        };
        let open = self.run.tasks.values().filter(|held| self.may_be_late(held));
        let (tasks, candidates): (Vec<TaskId>, Vec<Candidate>) = open.filter_map(candidate).unzip();
        for LateJob { at, here, there } in late(&candidates, &mut outlooks) {
            let task = tasks[at];
            self.see_begin(task);
            if !self.take_back(task) {
                continue;
            }
            self.late.moved.insert(task);
            let name = |cluster: usize| &self.options.clusters[cluster].name;
            let reason = format!(
                "{} would start the job in {here} s, and {} in {} s, so the job leaves its queue",
                name(candidates[at].cluster),
                name(there.0),
                there.1
            );
            self.run.notices.push_back(Notice::Lost(task, reason));
            self.submissions.kept_waiting += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlook(free: &[u64], starts: &[(u64, u64)]) -> QueueOutlook {
        QueueOutlook { free: free.to_vec(), starts: starts.iter().copied().collect(), ..QueueOutlook::default() }
    }

    #[test]
    fn a_job_leaves_only_for_a_start_that_is_earlier_by_the_margin() {
        let job = |number, processors| Candidate { cluster: 0, number, processors, length: 100 };
        let left = |starts: &[(u64, u64)], jobs: &[Candidate]| -> Vec<(usize, u64)> {
            let mut outlooks = [Some(outlook(&[900, 900], starts)), Some(outlook(&[0, 70], &[])), None];
            late(jobs, &mut outlooks).iter().map(|one| (one.at, one.there.1)).collect()
        };
        assert_eq!(left(&[(7, 31)], &[job(7, 1)]), [(0, 0)]);
        assert!(left(&[(7, 30)], &[job(7, 1)]).is_empty(), "not by more than the margin");
        assert!(left(&[(7, 500)], &[job(7, 3)]).is_empty(), "the other cluster is too small");
        assert!(left(&[(7, 90)], &[job(8, 1)]).is_empty(), "the job is not pending any more");
        // The first job takes the free processor of the other cluster. So the second job would wait for 70 s there, and
        // the third for 100 s.
        let jobs = [job(3, 1), job(2, 1), job(1, 1)];
        assert_eq!(left(&[(1, 120), (2, 120), (3, 120)], &jobs), [(0, 0), (1, 70)]);
    }
}
