//! The nodes, ordered by their number of free processors.

/// For each number of free processors, the set of nodes with this number, as one bit for each node. The levels find the
/// node that a task fills best without a visit to every node. The levels are used only if they need little memory
/// compared with the other data of the nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels {
    bits: Vec<u64>,
    /// Number of words of each level. Zero if the levels are not used.
    words: usize,
}

impl Levels {
    /// Fills the levels. `free` contains the number of free processors of each node, and `most` their maximum.
    pub fn reset(&mut self, most: u32, free: &[u32]) {
        let words = free.len().div_ceil(64);
        self.bits.clear();
        self.words = 0;
        if words * (most as usize + 1) > 4 * free.len() {
            return;
        }
        self.words = words;
        self.bits.resize(words * (most as usize + 1), 0);
        free.iter().enumerate().for_each(|(node, &free)| self.flip(node, free));
    }

    /// Removes all levels.
    pub fn clear(&mut self) {
        self.words = 0;
    }

    pub fn are_kept(&self) -> bool {
        self.words > 0
    }

    /// Changes the number of free processors of a node.
    pub fn change(&mut self, node: usize, from: u32, to: u32) {
        if self.are_kept() {
            self.flip(node, from);
            self.flip(node, to);
        }
    }

    fn flip(&mut self, node: usize, free: u32) {
        self.bits[free as usize * self.words + node / 64] ^= 1 << (node % 64);
    }

    /// Returns the nodes with at least `free` free processors, the nodes with the fewest free processors first. Nodes
    /// with equally many free processors are sorted by index.
    pub fn from(&self, free: u32) -> impl Iterator<Item = usize> {
        let words = self.words.max(1);
        let begin = (free as usize * words).min(self.bits.len());
        self.bits[begin..].iter().enumerate().filter(|(_, word)| **word != 0).flat_map(move |(at, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(at % words * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_found_by_what_they_have_free() {
        let mut free: Vec<u32> = (0..150).map(|node| node * 7 % 5).collect();
        let mut levels = Levels::default();
        levels.reset(4, &free);
        for (node, to) in [(3, 0), (149, 4), (64, 1), (3, 2)] {
            levels.change(node, free[node], to);
            free[node] = to;
        }
        for least in 0..6 {
            let mut expected: Vec<(u32, usize)> = free.iter().copied().zip(0..).filter(|one| one.0 >= least).collect();
            expected.sort_unstable();
            let found: Vec<(u32, usize)> = levels.from(least).map(|node| (free[node], node)).collect();
            assert_eq!(found, expected, "{least}");
        }
    }

    #[test]
    fn few_large_nodes_are_walked_over() {
        let mut levels = Levels::default();
        levels.reset(1000, &[1000, 3]);
        assert!(!levels.are_kept());
        levels.change(0, 1000, 2);
    }
}
