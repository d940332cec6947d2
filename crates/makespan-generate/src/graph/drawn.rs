//! The structure of a random graph, before its tasks get run times.

/// The tasks of a graph and the edges between them. Each task has a kind and a factor, its share. The random volume of
/// the task is later multiplied by this share.
pub(super) struct DrawnGraph {
    pub(super) shares: Vec<(&'static str, f64)>,
    pub(super) edges: Vec<(u32, u32)>,
}

impl DrawnGraph {
    pub(super) fn new() -> Self {
        Self { shares: Vec::new(), edges: Vec::new() }
    }

    /// Adds a task that waits for the tasks with the numbers in `after`. Returns the number of the new task.
    pub(super) fn add(&mut self, kind: &'static str, share: f64, after: &[u32]) -> u32 {
        let task = self.shares.len() as u32;
        self.shares.push((kind, share));
        self.edges.extend(after.iter().map(|&from| (from, task)));
        task
    }
}
