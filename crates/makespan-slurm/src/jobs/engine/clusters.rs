//! The clusters to which an engine submits jobs.

use std::collections::BTreeSet;
use std::sync::mpsc::Sender;
use std::time::Instant;

use makespan_core::{Node, Platform, ProcSet, TaskId};

use crate::batch::BatchSystem;
use crate::jobs::queue::{Queue, ThreadAnswer};
use crate::{Commands, Job};

/// A cluster to which jobs are submitted.
#[derive(Clone, Debug)]
pub struct JobCluster {
    /// The name of the cluster in messages.
    pub name: String,
    /// The prefix that the plan adds to the names of the cluster's nodes. It is empty if there is only one cluster.
    pub prefix: String,
    /// Slurm, with the commands of this cluster.
    pub batch: BatchSystem,
    /// The commands that read the whole queue of this cluster.
    pub commands: Commands,
    /// The processors of this cluster in the plan.
    pub processors: ProcSet,
}

impl JobCluster {
    /// Returns the nodes of this cluster as a platform, with the names that Slurm uses. Returns `None` if the plan has no
    /// node of this cluster.
    pub fn platform(&self, all: &Platform) -> Option<Platform> {
        alone(all, &self.processors, &self.prefix)
    }
}

/// Returns the nodes with these processors as a platform. Removes the prefix from their names.
pub fn alone(all: &Platform, processors: &ProcSet, prefix: &str) -> Option<Platform> {
    let own = (0..all.node_count()).filter(|&node| all.processors_of(node).is_subset(processors));
    let nodes = own.map(|node| {
        let node = &all.nodes()[node];
        Node { name: node.name.strip_prefix(prefix).unwrap_or_default().to_owned(), ..node.clone() }
    });
    Platform::new(nodes.collect()).ok()
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

/// The forecasts by which jobs leave late clusters.
#[derive(Debug)]
pub(super) struct LateSide {
    /// The earliest instant of the next forecast.
    pub next: Instant,
    /// The jobs of each cluster that has answered since the last request, and `None` for a cluster that does not answer.
    pub heard: Vec<(usize, Option<Vec<Job>>)>,
    pub is_asked: bool,
    /// The tasks that have left a late cluster. A task leaves only once, so that it does not move back and forth.
    pub moved: BTreeSet<TaskId>,
    pub answers: Sender<ThreadAnswer>,
}

impl LateSide {
    pub fn new(answers: Sender<ThreadAnswer>) -> Self {
        Self { next: Instant::now(), heard: Vec::new(), is_asked: false, moved: BTreeSet::new(), answers }
    }
}

/// Returns the position of the cluster to which these processors of the plan belong.
pub(super) fn cluster_of(clusters: &[JobCluster], processors: &ProcSet) -> usize {
    let own = |cluster: &JobCluster| processors.iter().next().is_some_and(|id| cluster.processors.contains(id));
    clusters.iter().position(own).unwrap_or(0)
}
