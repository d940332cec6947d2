//! A binary tree of the choices of a job. Each block gives a lower bound on the cost of every choice in its subtree.

use crate::proof::choices::{Group, share};

/// A block of successive choices. Its fields give a lower bound on the cost of each choice.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block {
    /// Smallest number of processors among the choices of this block, or 0 if the block has no choices.
    pub(super) processors: u32,
    /// Shortest time among the choices of this block, in ticks.
    pub(super) shortest: i64,
    /// Number of ticks during which every choice of this block pays at least the price of `processors` processors.
    pub(super) paid: i64,
    /// Minimum work among the choices of this block.
    work: i128,
}

/// The tree. The root is at position 1, and the children of block i are at 2 i and 2 i + 1. The lowest level contains
/// the choices.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    tree: Vec<Block>,
    /// Position of the first block of the lowest level.
    lowest: usize,
}

impl Blocks {
    pub(super) const ROOT: usize = 1;

    /// Stores these choices, which must be sorted by ascending numbers of processors.
    ///
    /// For a block, let k be the smallest number of processors and p the shortest time. Each choice holds k' >= k
    /// processors for p' >= p, so it pays at least the price of k processors for p from the same start. Let q be a
    /// time such that `k q <= k' p'` for each choice of the block. If prices never rise, each choice also pays at
    /// least the price of k processors for q. Proof: if p' >= q, the run holds at least k processors for at least q.
    /// Otherwise, the run of length p' is shorter than q, so its mean price is at least as high, and `k' p' >= k q`.
    pub(super) fn hold(&mut self, groups: &[Group]) {
        self.lowest = groups.len().next_power_of_two();
        self.tree.clear();
        self.tree.resize(2 * self.lowest, Block::default());
        for (block, group) in self.tree[self.lowest..].iter_mut().zip(groups) {
            let work = i128::from(group.first) * i128::from(group.time);
            *block = Block { processors: group.first, shortest: group.time, paid: group.time, work };
        }
        for index in (Self::ROOT..self.lowest).rev() {
            let (left, right) = (self.tree[2 * index], self.tree[2 * index + 1]);
            self.tree[index] = if right.processors == 0 {
                left
            } else {
                let (work, shortest) = (left.work.min(right.work), left.shortest.min(right.shortest));
                let paid = shortest.max(share(work, left.processors));
                Block { processors: left.processors, shortest, paid, work }
            };
        }
    }

    pub(super) fn get(&self, index: usize) -> Block {
        self.tree[index]
    }

    /// Returns the index of the choice if the block at position `index` is a single choice. Otherwise, returns `None`.
    pub(super) fn choice(&self, index: usize) -> Option<usize> {
        index.checked_sub(self.lowest)
    }

    /// Returns the number of leaves in the subtree of the block at position `index`. The block has at most this number
    /// of choices.
    pub(super) fn choices_below(&self, index: usize) -> usize {
        self.lowest >> index.ilog2()
    }

    /// Returns the position of the block that consists of this choice.
    pub(super) fn index(&self, choice: usize) -> usize {
        self.lowest + choice
    }

    /// Sets the time for which a choice pays. This time must be at least the time of the choice.
    pub(super) fn pay(&mut self, choice: usize, paid: i64) {
        self.tree[self.lowest + choice].paid = paid;
    }
}
