//! The structure of a random graph, before its tasks get run times.

/// The kind of each task and its share of the volume, and the edges between the tasks.
pub(super) struct Drawn {
    pub(super) shares: Vec<(&'static str, f64)>,
    pub(super) edges: Vec<(u32, u32)>,
}

impl Drawn {
    pub(super) fn new() -> Self {
        Self { shares: Vec::new(), edges: Vec::new() }
    }

    /// Adds a task that waits for the tasks `after`. Returns its number.
    pub(super) fn add(&mut self, kind: &'static str, share: f64, after: &[u32]) -> u32 {
        let task = self.shares.len() as u32;
        self.shares.push((kind, share));
        self.edges.extend(after.iter().map(|&from| (from, task)));
        task
    }
}
