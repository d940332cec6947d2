//! One part of split work.

/// Name of the folder for the shards, within the folder of the results.
pub const SHARDS: &str = "shards";

/// One of `count` parts into which work is split. This part contains the items `index`, `index + count`,
/// `index + 2 * count` and so on. The items are sorted in descending order of run time, so every part contains some of
/// the long items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Index of the shard, from 0.
    pub index: usize,
    /// Number of shards.
    pub count: usize,
}
