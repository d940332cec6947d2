//! Two threads for each cluster, which run the commands of Slurm. One thread submits and cancels jobs, and the other
//! thread queries the queue.

use std::collections::HashMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use makespan_core::TaskId;

use crate::batch::{BatchSystem, JobRequest, ListedJob};
use crate::{CommandError, Job, JobState};

/// A request to the threads.
#[derive(Debug)]
pub(super) enum ThreadRequest {
    Submit { task: TaskId, id: String, options: Vec<String>, line: String },
    Cancel(Vec<String>),
}

/// An answer of the threads.
#[derive(Debug)]
pub(super) enum ThreadAnswer {
    /// The answer of a cluster to a submission.
    Submitted(usize, TaskId, String, Result<u64, CommandError>),
    /// The queue of a cluster, with the time of the query.
    Queue(usize, Instant, Result<Snapshot, String>),
    /// All jobs in the queue of a cluster. `None` if the cluster does not answer.
    AllJobs(usize, Option<Vec<Job>>),
}

/// A job of this run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QueuedTask {
    pub job: u64,
    pub state: JobState,
    pub reason: String,
}

/// The jobs of this run, by the names of their attempts. If several jobs have equal names, only the job that has not
/// ended is included.
pub(super) type Snapshot = HashMap<String, QueuedTask>;

/// The threads.
#[derive(Debug)]
pub(super) struct Queue {
    wishes: Option<Sender<ThreadRequest>>,
    questions: Sender<()>,
    submitter: Option<JoinHandle<()>>,
}

impl Queue {
    /// Starts the threads of the cluster with the position `cluster`. The names of the run's jobs end with `mark`.
    pub fn begin(cluster: usize, batch: &BatchSystem, mark: &str, heard: &Sender<ThreadAnswer>) -> Self {
        let (wishes, wanted) = mpsc::channel();
        let (questions, asked) = mpsc::channel::<()>();
        let (one, other) = (batch.clone(), batch.clone().with_patience(Duration::ZERO));
        let (told, answer, own, mark) = (heard.clone(), heard.clone(), mark.to_owned(), mark.to_owned());
        let submitter = thread::Builder::new()
            .name("sbatch".into())
            .spawn(move || submit(cluster, &one, &own, &wanted, &told))
            .ok();
        let watch = move || {
            while asked.recv().is_ok() {
                let at = Instant::now();
                if answer
                    .send(ThreadAnswer::Queue(cluster, at, snapshot(&other, &mark).map_err(|error| error.to_string())))
                    .is_err()
                {
                    return;
                }
            }
        };
        let _ = thread::Builder::new().name("squeue".into()).spawn(watch);
        Self { wishes: Some(wishes), questions, submitter }
    }

    pub fn wish(&self, wish: ThreadRequest) {
        if let Some(wishes) = &self.wishes {
            let _ = wishes.send(wish);
        }
    }

    /// Requests a query of the queue.
    pub fn ask(&self) {
        let _ = self.questions.send(());
    }
}

impl Queue {
    /// Waits until all requests are done. After this call, no further request is accepted.
    pub fn finish(&mut self) {
        drop(self.wishes.take());
        if let Some(submitter) = self.submitter.take() {
            let _ = submitter.join();
        }
    }
}

fn submit(
    cluster: usize,
    batch: &BatchSystem,
    mark: &str,
    wanted: &Receiver<ThreadRequest>,
    told: &Sender<ThreadAnswer>,
) {
    while let Ok(wish) = wanted.recv() {
        match wish {
            ThreadRequest::Submit { task, id, options, line } => {
                let name = format!("{id}{mark}");
                let request = JobRequest { name: &name, size: None, time: None, logs: None };
                let submitted = batch.submit(&request, &options, &line);
                let _ = told.send(ThreadAnswer::Submitted(cluster, task, id, submitted));
            }
            ThreadRequest::Cancel(ids) => cancel(batch, mark, &ids),
        }
    }
}

/// Cancels the jobs of attempts. Uses job names, because a controller that has lost its state may reuse job ids. If
/// Slurm does not answer, such a job may start later. In this case, the void claim prevents the attempt.
pub(super) fn cancel(batch: &BatchSystem, mark: &str, ids: &[String]) {
    if ids.is_empty() {
        return;
    }
    let Ok(there) = snapshot(batch, mark) else { return };
    let jobs = ids.iter().filter_map(|id| there.get(id)).filter(|entry| !entry.state.has_ended());
    let _ = batch.cancel(&jobs.map(|entry| entry.job).collect::<Vec<u64>>());
}

/// Returns the jobs of this run that are in the queue. Recently ended jobs are included.
pub(super) fn snapshot(batch: &BatchSystem, mark: &str) -> Result<Snapshot, CommandError> {
    Ok(entries(batch.jobs()?, mark))
}

fn entries(listed: Vec<ListedJob>, mark: &str) -> Snapshot {
    let mut all = Snapshot::new();
    for ListedJob { job, state, reason, name, .. } in listed {
        let Some(id) = name.strip_suffix(mark) else { continue };
        let entry = QueuedTask { job, state, reason };
        let known = all.get(id);
        if known.is_none_or(|known| known.state.has_ended() && (!entry.state.has_ended() || known.job < job)) {
            all.insert(id.to_owned(), entry);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_jobs_are_read() {
        let listed = |job, state, name: &str| ListedJob {
            job,
            state,
            reason: "Dependency".into(),
            name: name.into(),
            nodes: None,
            left: None,
            hosts: vec![],
        };
        let all = vec![
            listed(12, JobState::Pending, "a~1.1@f0"),
            listed(9, JobState::Failed, "b.1@f0"),
            listed(10, JobState::Running, "b.1@f0"),
            listed(4, JobState::Running, "c.1@f1"),
        ];
        let all = entries(all, "@f0");
        assert_eq!(all.len(), 2);
        assert_eq!(all["a~1.1"], QueuedTask { job: 12, state: JobState::Pending, reason: "Dependency".into() });
        assert_eq!((all["b.1"].job, &all["b.1"].state), (10, &JobState::Running));
    }
}
