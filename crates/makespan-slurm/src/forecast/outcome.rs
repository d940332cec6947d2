//! The result of a simulation.

/// The result of a simulation for each job.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// For each job, its start, or `None` if it does not start in the simulation.
    pub started: Vec<Option<i64>>,
    pub ended: Vec<Option<i64>>,
    /// For each job, its end. The end is set as soon as the job starts.
    pub ends: Vec<Option<i64>>,
    /// For each job, the instant at which it is cancelled because it can no longer end by its deadline.
    pub expired: Vec<Option<i64>>,
    /// For each job, its sites, with the number of processors on each.
    pub sites: Vec<Vec<(u32, u32)>>,
    /// For each job, the jobs for whose ends it waits.
    pub after: Vec<Vec<usize>>,
    /// For each job that last waited for a limit and not for nodes, the counter of this limit.
    pub limit: Vec<Option<usize>>,
    /// The number of nodes that were examined for jobs.
    pub looked: u64,
}
