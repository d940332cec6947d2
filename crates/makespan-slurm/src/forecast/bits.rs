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

    /// How many words they are.
    pub(super) fn words(&self) -> usize {
        self.0.len()
    }
}

/// What is in all of some sets and not in another one.
#[derive(Clone, Copy)]
pub(super) struct Common<'a> {
    pub of: [&'a Bits; 3],
    pub without: Option<&'a Bits>,
}

impl<'a> Common<'a> {
    pub(super) fn count(self) -> usize {
        self.words().map(|(_, bits)| bits.count_ones() as usize).sum()
    }

    /// Ascending.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> + 'a {
        self.words().flat_map(|(word, bits)| ones(word, bits))
    }

    fn words(self) -> impl Iterator<Item = (usize, u64)> + 'a {
        let [one, two, three] = self.of.map(|set| &set.0[..]);
        let without = self.without.map_or(&[][..], |without| &without.0);
        let closed = without.iter().copied().chain(std::iter::repeat(0));
        let open = one.iter().zip(two).zip(three).map(|((one, two), three)| one & two & three);
        open.zip(closed).map(|(open, closed)| open & !closed).enumerate()
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
