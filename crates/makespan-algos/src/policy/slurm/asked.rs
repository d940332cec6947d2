//! The request of a waiting job, in which names are replaced by numbers.

use std::sync::Arc;

use makespan_core::{Demand, TaskId, Time};

use super::limits::LimitAmounts;
use super::nodes::{CountedFeatures, JobNodes};

/// The request of a job. The request does not change from the arrival to the end of the job.
#[derive(Clone, Debug)]
pub(super) struct JobRequest {
    pub task: TaskId,
    pub submitted: Time,
    pub processors: u32,
    /// The time for which the job must get its processors: its time limit in whole minutes, or its minimum time if it states one.
    pub limit: i64,
    /// The full time limit, in ticks. The job gets as much of this time as possible.
    pub whole_limit: i64,
    /// The last instant at which it may start because of its deadline.
    pub latest: i64,
    pub demands: Vec<Demand>,
    /// The partitions in which it may start. The partition with the highest tier comes first.
    pub places: Vec<JobPartition>,
    pub nodes: (u32, u32),
    /// The maximum and the minimum number of its processors on a node.
    pub per_node: u32,
    pub least_per_node: u32,
    pub exclusive: bool,
    /// The number of the reservation in which the job must run.
    pub reservation: Option<usize>,
    pub user: usize,
    pub amounts: LimitAmounts,
    pub tier: i64,
    pub nice: i64,
    pub fixed: Option<u32>,
    /// The size factor of the priority, in [0, 1]: it depends on the share of the cluster that the job requests. The
    /// next fields are the factors of the partition and of the class of service.
    pub size: f64,
    pub partition_factor: f64,
    pub qos_factor: f64,
}

/// A partition in which a job may start.
#[derive(Clone, Debug)]
pub(super) struct JobPartition {
    /// The number of the partition, or 0 for a cluster without partitions.
    pub partition: usize,
    /// The nodes on the board that have what the job needs.
    pub nodes: Arc<[u32]>,
    /// The features that a certain number of the job's nodes must have.
    pub counted: Option<Arc<CountedFeatures>>,
    /// The numbers of the limits that apply to the job in this partition.
    pub limits: Vec<u32>,
}

impl JobPartition {
    /// Returns the nodes.
    pub fn all(&self) -> JobNodes<'_> {
        JobNodes { numbers: &self.nodes, counted: self.counted.as_deref() }
    }
}

/// A minute, the unit of time limits.
pub(super) const MINUTE: i64 = 60 * Time::TICKS_PER_SECOND;
