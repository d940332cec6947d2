//! Sets of nodes as bits, which are walked in the order in which nodes are given out.

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub(super) fn new(size: usize) -> Self {
        Self(vec![0; size.div_ceil(64)])
    }

    pub(super) fn set(&mut self, at: usize, value: bool) {
        let bit = 1 << (at % 64);
        if value { self.0[at / 64] |= bit } else { self.0[at / 64] &= !bit }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
    }

    pub(super) fn clear(&mut self) {
        self.0.fill(0);
    }

    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.0.len()).flat_map(|word| ones(word, self.0[word]))
    }

    /// How many are in both and not in the third.
    pub(super) fn common(&self, other: &Self, without: Option<&Self>) -> usize {
        (0..self.0.len()).map(|word| self.word(other, without, word).count_ones() as usize).sum()
    }

    /// What is in both and not in the third, ascending.
    pub(super) fn both<'a>(&'a self, other: &'a Self, without: Option<&'a Self>) -> impl Iterator<Item = usize> + 'a {
        (0..self.0.len()).flat_map(move |word| ones(word, self.word(other, without, word)))
    }

    fn word(&self, other: &Self, without: Option<&Self>, word: usize) -> u64 {
        self.0[word] & other.0[word] & !without.map_or(0, |without| without.0[word])
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
