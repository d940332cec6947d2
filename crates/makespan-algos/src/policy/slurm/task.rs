//! Waiting and running tasks, with the data that the scheduler needs.

use makespan_core::{Need, TaskId, Time};

use super::limits::LimitAmounts;
use crate::slurm::LimitUse;

/// A task that waits, and the data for its priority.
#[derive(Clone, Debug)]
pub(super) struct WaitingTask {
    pub task: TaskId,
    /// The index of the job in the model.
    pub job: usize,
    pub submitted: Time,
    pub processors: u32,
    /// The time limit, in ticks.
    pub whole_limit: i64,
    /// The last instant at which the job may start to meet its deadline.
    pub latest: i64,
    /// The end of the reservation of the job. Without a reservation, an instant later than all others.
    pub reserved_until: i64,
    pub user: usize,
    pub amounts: LimitAmounts,
    pub nice: i64,
    pub fixed: Option<u32>,
    /// The size factor of the priority, from 0 to 1. This factor depends on the fraction of the cluster that the job
    /// requests.
    pub size: f64,
    /// The factor of the class of service, from 0 to 1.
    pub qos_factor: f64,
    /// For each candidate of the job, the factor of the partition, from 0 to 1.
    pub partition_factors: Vec<f64>,
    /// Maximum number of limits of users, accounts, arrays and classes of service that restrict the job.
    pub limits: usize,
}

/// The request of a task, without its partition.
#[derive(Clone, Debug)]
pub(super) struct TaskRequest {
    pub waiting: WaitingTask,
    pub deadline: Option<i64>,
    /// The time for which the job must get its processors, in ticks. This is the minimum time of the job, if it states
    /// one, otherwise the time limit of the job in whole minutes.
    pub limit: i64,
    pub shares: Vec<(usize, Need)>,
    pub licences: Vec<LimitUse>,
    pub nodes: (u32, u32),
    pub per_node: u32,
    pub least_per_node: u32,
    pub exclusive: bool,
    pub array: Option<usize>,
    pub reservation: Option<usize>,
    pub tier: i64,
    /// The position in the list of jobs.
    pub rank: u64,
}

/// A task that runs already.
#[derive(Clone, Debug)]
pub(super) struct RunningTask {
    pub user: usize,
    /// The index of the group of limits. `None` if the task is in none of the partitions.
    pub group: Option<usize>,
    /// The time limit, in ticks.
    pub whole_limit: i64,
    pub exclusive: bool,
}
