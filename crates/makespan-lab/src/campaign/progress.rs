//! What a campaign tells while it runs.

/// Hears how far a campaign is; called on the thread that started it.
pub trait Progress {
    /// Before the first run: how many there are, and how many of them an earlier campaign has finished.
    fn started(&mut self, total: usize, reused: usize);
    /// After each run.
    fn finished(&mut self, done: usize, total: usize);
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn started(&mut self, _total: usize, _reused: usize) {}
    fn finished(&mut self, _done: usize, _total: usize) {}
}
