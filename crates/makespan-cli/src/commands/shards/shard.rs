//! One part of split work.

/// The folder of the shards, in the folder of the results.
pub const SHARDS: &str = "shards";

/// One of `count` parts of split work: each `count`-th piece of the work, from the piece `index` on. Work that knows its longest
/// pieces has them first, so that all shards have some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Index of the shard, from 0.
    pub index: usize,
    /// Number of shards.
    pub count: usize,
}
