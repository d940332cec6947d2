//! One part of split work.

/// Folder of the shards within the folder of the results.
pub const SHARDS: &str = "shards";

/// One of `count` parts of split work: the items `index`, `index + count`, `index + 2 * count` and so on. The items are
/// sorted by run time, the longest first, so every shard gets some of the long items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Index of the shard, from 0.
    pub index: usize,
    /// Number of shards.
    pub count: usize,
}
