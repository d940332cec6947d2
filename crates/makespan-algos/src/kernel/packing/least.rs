//! The first task of a list, from a place on, that asks for no more of anything than is left.

/// A binary tree over the places of a list with the least that is asked of each resource below.
#[derive(Clone, Debug, Default)]
pub(super) struct Least {
    /// How many figures each task has.
    width: usize,
    leaves: usize,
    below: Vec<u64>,
}

impl Least {
    /// For so many places, nowhere anything.
    pub fn reset(&mut self, places: usize, width: usize) {
        self.width = width;
        self.leaves = places.next_power_of_two();
        self.below.clear();
        self.below.resize(2 * self.leaves * width, u64::MAX);
    }

    /// Puts a task at a place.
    pub fn insert(&mut self, place: usize, asked: &[u64]) {
        let (width, leaf) = (self.width, self.leaves + place);
        self.below[leaf * width..(leaf + 1) * width].copy_from_slice(asked);
        self.raise(leaf);
    }

    /// Takes the task from a place.
    pub fn remove(&mut self, place: usize) {
        let (width, leaf) = (self.width, self.leaves + place);
        self.below[leaf * width..(leaf + 1) * width].fill(u64::MAX);
        self.raise(leaf);
    }

    /// The first place from `from` on whose task asks for at most this.
    pub fn next(&self, from: usize, left: &[u64]) -> Option<usize> {
        if from >= self.leaves {
            return None;
        }
        // From the leaf up to the first subtree on the right that may have one, and down again.
        let mut node = self.leaves + from;
        loop {
            if self.may(node, left) {
                if node >= self.leaves {
                    return Some(node - self.leaves);
                }
                node *= 2;
                continue;
            }
            while node % 2 == 1 {
                node /= 2;
            }
            if node == 0 {
                return None;
            }
            node += 1;
        }
    }

    fn may(&self, node: usize, left: &[u64]) -> bool {
        self.below[node * self.width..].iter().zip(left).all(|(asked, left)| asked <= left)
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_is_found_that_a_walk_finds(
            asked in proptest::collection::vec(proptest::option::of([0_u64..5, 0_u64..5]), 1..20),
            left in [0_u64..6, 0_u64..6], from in 0_usize..22,
        ) {
            let mut least = Least::default();
            least.reset(asked.len(), 2);
            for (place, asked) in asked.iter().enumerate() {
                least.insert(place, &asked.unwrap_or([0, 0]));
                if asked.is_none() {
                    least.remove(place);
                }
            }
            let fits = |place: &usize| asked[*place].is_some_and(|asked| asked[0] <= left[0] && asked[1] <= left[1]);
            prop_assert_eq!(least.next(from, &left), (from..asked.len()).find(fits));
        }
    }
}
