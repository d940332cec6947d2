//! The request of a waiting job in a partition. Numbers replace the names in the submission.

use std::sync::Arc;

use makespan_core::{Demand, TaskId, Time};

use super::limits::LimitAmounts;
use super::nodes::{CountedFeatures, JobNodes};

/// The request of a job in one partition, with one way to satisfy its constraint. The request does not change while the
/// job waits and runs.
#[derive(Clone, Debug)]
pub(super) struct JobRequest {
    pub task: TaskId,
    pub submitted: Time,
    pub processors: u32,
    /// The time for which the job must get its processors, in ticks. This is the minimum time of the job, if it states
    /// one, otherwise the time limit of the job in whole minutes.
    pub limit: i64,
    /// The time limit, in ticks. The job gets as much of this time as possible.
    pub whole_limit: i64,
    /// The last instant at which the job may start to meet its deadline, and to end before its reservation ends.
    pub latest: i64,
    pub demands: Vec<Demand>,
    pub place: JobPartition,
    pub nodes: (u32, u32),
    /// The maximum number of the job's processors on a node.
    pub per_node: u32,
    /// The minimum number of the job's processors on a node.
    pub least_per_node: u32,
    pub exclusive: bool,
    /// The number of the array of the job, if the job is a task of an array.
    pub array: Option<usize>,
    /// The index of the reservation in which the job must run.
    pub reservation: Option<usize>,
    pub user: usize,
    pub amounts: LimitAmounts,
    /// The tier of the partition, plus the priority of the job's queue.
    pub tier: i64,
    pub nice: i64,
    pub fixed: Option<u32>,
    /// The size factor of the priority, from 0 to 1. This factor depends on the fraction of the cluster that the job
    /// requests.
    pub size: f64,
    /// The factor of the partition, from 0 to 1.
    pub partition_factor: f64,
    /// The factor of the class of service, from 0 to 1.
    pub qos_factor: f64,
}

/// A partition in which a job may start, and the nodes that satisfy the constraint of the job.
#[derive(Clone, Debug)]
pub(super) struct JobPartition {
    /// The index of the partition, or 0 for a cluster without partitions.
    pub partition: usize,
    /// The suitable nodes, by their indices on the board.
    pub nodes: Arc<[u32]>,
    /// Features that only a stated number of the job's nodes must have.
    pub counted: Option<Arc<CountedFeatures>>,
    /// The maximum number of nodes of a job in the partition.
    pub most: u32,
    /// The indices of the limits that restrict the job in this partition.
    pub limits: Vec<u32>,
}

impl JobPartition {
    /// Returns the nodes.
    pub fn all(&self) -> JobNodes<'_> {
        JobNodes { numbers: &self.nodes, counted: self.counted.as_deref(), most: self.most }
    }
}

/// A minute, the unit of time limits.
pub(super) const MINUTE: i64 = 60 * Time::TICKS_PER_SECOND;
