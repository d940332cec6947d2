//! The result of a simulation.

/// The result of a simulation for each job.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// The start, or `None` if the simulation shows no start.
    pub started: Vec<Option<i64>>,
    pub ended: Vec<Option<i64>>,
    /// The end, which is set as soon as the job runs.
    pub ends: Vec<Option<i64>>,
    /// The time at which the job is cancelled because it can no longer end by its deadline.
    pub expired: Vec<Option<i64>>,
    /// The sites of the job, with the number of processors on each.
    pub sites: Vec<Vec<(u32, u32)>>,
    /// The jobs whose ends the job waits for.
    pub after: Vec<Vec<usize>>,
    /// The counter whose limit the job waited for last, if the job did not wait for nodes.
    pub limit: Vec<Option<usize>>,
    /// The number of nodes that were examined for jobs.
    pub looked: u64,
}
