//! The choices of a job in a binary tree, in which a block stands for the choices below it.

use crate::proof::choices::{Group, share};

/// Something that costs no more than any of some successive choices.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block {
    /// The fewest; none in a block without choices.
    pub(super) processors: u32,
    /// The shortest time.
    pub(super) shortest: i64,
    /// For how long the processors are paid.
    pub(super) paid: i64,
    /// The least work of all choices.
    work: i128,
}

/// The tree, its root at 1 and the blocks below i at 2 i and 2 i + 1. The lowest level holds the choices.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    tree: Vec<Block>,
    /// Where the lowest level begins.
    lowest: usize,
}

impl Blocks {
    pub(super) const ROOT: usize = 1;

    /// Holds these choices, of ascending numbers of processors.
    ///
    /// Of a block, let k be the smallest number of processors and p the shortest time. A choice pays for k' >= k processors
    /// for p' >= p, whatever it pays for. So the price of k processors for p from the same start is no more. And when
    /// prices never rise, neither is that of k processors for q, where k q is at most the least k' p' of the block: if
    /// p' >= q since k' >= k; otherwise since p' is the shorter run, its mean price no lower, and k' p' >= k q.
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

    /// Which choice a block is, if it is one alone.
    pub(super) fn choice(&self, index: usize) -> Option<usize> {
        index.checked_sub(self.lowest)
    }

    /// How many choices a block has place for.
    pub(super) fn choices_below(&self, index: usize) -> usize {
        self.lowest >> index.ilog2()
    }

    /// Where a choice is.
    pub(super) fn index(&self, choice: usize) -> usize {
        self.lowest + choice
    }

    /// A choice turns out to pay for this long, which is no less than its time.
    pub(super) fn pay(&mut self, choice: usize, paid: i64) {
        self.tree[self.lowest + choice].paid = paid;
    }
}
