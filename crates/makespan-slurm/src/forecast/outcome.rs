//! What a play tells.

/// What became of each job.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// When it starts, or started; `None` if nothing shows that it does.
    pub started: Vec<Option<i64>>,
    pub ended: Vec<Option<i64>>,
    /// When it will end, known as soon as it runs.
    pub ends: Vec<Option<i64>>,
    /// When it is given up, as it can no longer end by its deadline.
    pub expired: Vec<Option<i64>>,
    /// Sites that it gets, and how many processors of each.
    pub sites: Vec<Vec<(u32, u32)>>,
    /// Jobs whose ends it waits for.
    pub after: Vec<Vec<usize>>,
    /// The counter whose limit it waits for last, if it is not for nodes.
    pub limit: Vec<Option<usize>>,
    /// Nodes that were looked at for jobs.
    pub looked: u64,
}
