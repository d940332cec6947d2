//! Finds the next task of a list that may fit. The task must need at most the remaining amount of each resource.
//! Compared with each task that did not fit, it must need less of at least one resource.

use crate::kernel::leaves;

/// A binary tree over the positions of a list. Each node of the tree stores the minimum need of each resource over the
/// positions below it.
#[derive(Clone, Debug, Default)]
pub(super) struct NeedTree {
    /// Number of resource amounts that are stored for each task.
    width: usize,
    leaves: usize,
    below: Vec<u64>,
}

impl NeedTree {
    /// Prepares the tree for `places` positions without tasks.
    pub fn reset(&mut self, places: usize, width: usize) {
        self.width = width;
        self.leaves = places.next_power_of_two();
        self.below.clear();
        self.below.resize(2 * self.leaves * width, u64::MAX);
    }

    /// Inserts a task at a position.
    pub fn insert(&mut self, place: usize, asked: &[u64]) {
        let (width, leaf) = (self.width, self.leaves + place);
        self.below[leaf * width..(leaf + 1) * width].copy_from_slice(asked);
        self.raise(leaf);
    }

    /// Removes the task at a position.
    pub fn remove(&mut self, place: usize) {
        let (width, leaf) = (self.width, self.leaves + place);
        self.below[leaf * width..(leaf + 1) * width].fill(u64::MAX);
        self.raise(leaf);
    }

    /// Returns the first position from `from` on with a task that needs at most the amounts `left`. Skips a task if it
    /// needs at least as much of each resource as a refused task.
    pub fn next(&self, from: usize, left: &[u64], refused: &UnfitNeeds) -> Option<usize> {
        leaves::first(self.leaves, from, |node| self.may(node, left, refused))
    }

    fn may(&self, node: usize, left: &[u64], refused: &UnfitNeeds) -> bool {
        let least = &self.below[node * self.width..(node + 1) * self.width];
        least.iter().zip(left).all(|(asked, left)| asked <= left) && !refused.has_less_than(least)
    }

    /// Returns the amounts that the task at a position needs.
    pub fn asked(&self, place: usize) -> &[u64] {
        let leaf = self.leaves + place;
        &self.below[leaf * self.width..(leaf + 1) * self.width]
    }

    fn raise(&mut self, leaf: usize) {
        let width = self.width;
        let mut node = leaf / 2;
        while node > 0 {
            for at in 0..width {
                let (first, second) = (self.below[2 * node * width + at], self.below[(2 * node + 1) * width + at]);
                self.below[node * width + at] = first.min(second);
            }
            node /= 2;
        }
    }
}

/// The needs of tasks that did not fit.
#[derive(Clone, Debug, Default)]
pub(super) struct UnfitNeeds {
    width: usize,
    asked: Vec<u64>,
}

impl UnfitNeeds {
    /// Removes all needs. From now on, each task has `width` amounts.
    pub fn reset(&mut self, width: usize) {
        self.width = width;
        self.asked.clear();
    }

    /// Adds the needs of a task that did not fit.
    pub fn add(&mut self, asked: &[u64]) {
        // Remove tasks that need at least as much of each resource as the new task. The new need makes their needs
        // redundant.
        let width = self.width;
        let more = |old: &[u64]| old.iter().zip(asked).all(|(old, new)| old >= new);
        let mut kept = 0;
        for at in 0..self.asked.len() / width {
            if !more(&self.asked[at * width..(at + 1) * width]) {
                self.asked.copy_within(at * width..(at + 1) * width, kept * width);
                kept += 1;
            }
        }
        self.asked.truncate(kept * width);
        self.asked.extend_from_slice(asked);
    }

    /// Returns whether a refused task needs at most the amounts `asked`.
    fn has_less_than(&self, asked: &[u64]) -> bool {
        let mut each = self.asked.chunks_exact(self.width.max(1));
        each.any(|refused| refused.iter().zip(asked).all(|(refused, asked)| refused <= asked))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_is_found_that_a_walk_finds(
            asked in proptest::collection::vec(proptest::option::of([0_u64..5, 0_u64..5]), 1..20),
            left in [0_u64..6, 0_u64..6], from in 0_usize..22,
            no in proptest::collection::vec([0_u64..6, 0_u64..6], 0..4),
        ) {
            let mut refused = UnfitNeeds::default();
            refused.reset(2);
            no.iter().for_each(|asked| refused.add(asked));
            let mut least = NeedTree::default();
            least.reset(asked.len(), 2);
            for (place, asked) in asked.iter().enumerate() {
                least.insert(place, &asked.unwrap_or([0, 0]));
                if asked.is_none() {
                    least.remove(place);
                }
            }
            let all = |a: [u64; 2], b: [u64; 2]| a[0] <= b[0] && a[1] <= b[1];
            let may = |asked: [u64; 2]| all(asked, left) && !no.iter().any(|&no| all(no, asked));
            let fits = |place: &usize| asked[*place].is_some_and(may);
            prop_assert_eq!(least.next(from, &left, &refused), (from..asked.len()).find(fits));
        }
    }
}
