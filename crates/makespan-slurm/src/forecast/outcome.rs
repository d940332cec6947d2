//! The result of a simulation.

/// The result of a simulation for each job.
#[derive(Clone, Debug)]
pub(super) struct ForecastOutcome {
    /// For each job, its start, or `None` if it does not start in the simulation.
    pub started: Vec<Option<i64>>,
    pub ended: Vec<Option<i64>>,
    /// For each job, its end. Set when the job starts.
    pub ends: Vec<Option<i64>>,
    /// For each job, the instant at which it is cancelled because it can no longer meet its deadline.
    pub expired: Vec<Option<i64>>,
    /// For each job, its sites, with the number of processors on each.
    pub sites: Vec<Vec<(u32, u32)>>,
    /// For each job, jobs that held its nodes or reached its limit, and ended after the previous scheduling cycle of the
    /// kind that started the job. Only these ends let the job start. The last end comes first.
    pub after: Vec<Vec<usize>>,
    /// For each job, the previous scheduling cycle of the kind that started the job.
    pub cycle_before: Vec<i64>,
    /// For each job, a reservation of Slurm on its nodes that ended after the previous scheduling cycle.
    pub reservation: Vec<Option<usize>>,
    /// For each job, the counter of the limit for which it last waited. `None` if it last waited for nodes.
    pub limit: Vec<Option<usize>>,
    /// Number of nodes that were examined for jobs. It is a measure of the cost of the simulation.
    pub looked: u64,
}
