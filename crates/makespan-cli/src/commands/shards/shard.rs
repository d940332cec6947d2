//! One part of split work.

/// Name of the folder for the shards, within the folder of the results.
pub const SHARDS: &str = "shards";

/// One of `count` parts of work. The part contains the items `index`, `index + count`, `index + 2 * count` and so on.
/// Items are sorted by descending run time, so that each part gets some of the long items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Index of the shard, from 0.
    pub index: usize,
    /// Number of shards.
    pub count: usize,
}
