//! The clusters to which an engine submits jobs.

use std::sync::mpsc::Sender;
use std::time::Instant;

use makespan_core::ProcSet;

use crate::batch::BatchSystem;
use crate::jobs::queue::{Queue, ThreadAnswer};

/// A cluster to which jobs are submitted.
#[derive(Clone, Debug)]
pub struct JobCluster {
    /// The name of the cluster in messages.
    pub name: String,
    /// The prefix that the plan adds to the names of the cluster's nodes. It is empty if there is only one cluster.
    pub prefix: String,
    /// Slurm, with the commands of this cluster.
    pub batch: BatchSystem,
    /// The processors of this cluster in the plan.
    pub processors: ProcSet,
}

/// The requests to one cluster, and the answers of this cluster.
#[derive(Debug)]
pub(super) struct SlurmSide {
    pub queue: Queue,
    /// True while a query of the queue is running.
    pub is_asked: bool,
    /// Instant of the next query of the queue.
    pub ask: Instant,
    /// The last reported reason why Slurm does not answer.
    pub mute: Option<String>,
    /// Instant of the last sign that the controller was unavailable or has forgotten jobs.
    pub doubt: Option<Instant>,
    /// Ids of attempts. The next request to Slurm cancels the jobs of these attempts.
    pub cancel: Vec<String>,
    /// The instant since which no request to the cluster has been answered.
    pub silent: Option<Instant>,
    /// The last instant at which jobs left the cluster because it does not answer.
    pub moved: Option<Instant>,
    /// The largest job id so far.
    pub highest: u64,
    /// Earliest time of the next submission. Set if Slurm has refused a submission.
    pub again: Option<Instant>,
}

impl SlurmSide {
    /// Starts the threads of the cluster with the position `cluster`. The names of the run's jobs end with `mark`.
    pub fn begin(cluster: usize, batch: &BatchSystem, mark: &str, heard: &Sender<ThreadAnswer>) -> Self {
        Self {
            queue: Queue::begin(cluster, batch, mark, heard),
            is_asked: false,
            ask: Instant::now(),
            mute: None,
            doubt: None,
            cancel: Vec::new(),
            silent: None,
            moved: None,
            highest: 0,
            again: None,
        }
    }
}

/// Returns the position of the cluster to which these processors of the plan belong.
pub(super) fn cluster_of(clusters: &[JobCluster], processors: &ProcSet) -> usize {
    let own = |cluster: &JobCluster| processors.iter().next().is_some_and(|id| cluster.processors.contains(id));
    clusters.iter().position(own).unwrap_or(0)
}
