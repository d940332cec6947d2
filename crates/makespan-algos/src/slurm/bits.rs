//! Sets of nodes as bits. The bits are in the order in which Slurm allocates nodes.

use std::ops::Range;

/// A set of nodes, by their indices.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeBits(Vec<u64>);

impl NodeBits {
    /// Returns an empty set for indices below `size`.
    pub fn new(size: usize) -> Self {
        Self(vec![0; size.div_ceil(64)])
    }

    /// If `value` is true, adds a node. Otherwise, removes it.
    pub fn set(&mut self, at: usize, value: bool) {
        let bit = 1 << (at % 64);
        if value { self.0[at / 64] |= bit } else { self.0[at / 64] &= !bit }
    }

    /// Returns true if the set contains a node.
    pub fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    /// Adds all nodes of another set.
    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
    }

    /// Returns true if a node is in both sets.
    pub fn intersects(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(one, other)| one & other != 0)
    }

    /// Removes all nodes.
    pub fn clear(&mut self) {
        self.0.fill(0);
    }

    /// Returns the number of nodes.
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Iterates over the nodes in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.0.len()).flat_map(|word| ones(word, self.0[word]))
    }

    /// Returns a range of words outside which all words are zero.
    pub fn span(&self) -> Range<usize> {
        let first = self.0.iter().position(|&word| word != 0).unwrap_or(0);
        let end = self.0.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
        first..end
    }
}

/// The elements that are in several sets and not in another set.
#[derive(Clone)]
pub(super) struct Common<'a> {
    pub of: [&'a NodeBits; 3],
    pub without: Option<&'a NodeBits>,
    /// A range of words outside which at least one of the intersected sets is empty.
    pub span: Range<usize>,
}

impl<'a> Common<'a> {
    /// Returns true if the set has at least `count` elements.
    pub fn has(&self, count: usize) -> bool {
        let mut left = count;
        for at in self.span.clone() {
            if left == 0 {
                break;
            }
            // If the cluster is full, nearly all words are zero. So skip these words quickly.
            let word = self.word(at);
            if word != 0 {
                left = left.saturating_sub(word.count_ones() as usize);
            }
        }
        left == 0
    }

    /// Iterates over the elements in ascending order.
    pub fn iter(self) -> impl Iterator<Item = usize> + 'a {
        self.span.clone().flat_map(move |at| ones(at, self.word(at)))
    }

    fn word(&self, at: usize) -> u64 {
        let [one, two, three] = self.of;
        one.0[at] & two.0[at] & three.0[at] & !self.without.map_or(0, |without| without.0[at])
    }
}

fn ones(word: usize, mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (bits != 0).then(|| {
            let at = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            word * 64 + at
        })
    })
}
