//! The ancestors and descendants of tasks.

use makespan_core::{Instance, TaskId};

/// Maximum number of distinct tasks. Paths in larger instances use no area arcs, because the memory grows with the
/// square of this number.
const MAX_TASKS: usize = 4096;

/// Two sets of bits for each task: `before` contains a bit for each ancestor, and `behind` a bit for each descendant.
/// Tasks are numbered by their positions in a topological order.
pub(super) struct Ancestry {
    words: usize,
    before: Vec<u64>,
    behind: Vec<u64>,
}

impl Ancestry {
    /// Computes the bits of the ancestors and the descendants of each task. Returns `None` if there are no edges or
    /// too many tasks. Takes O(n e / 64) for n tasks and e edges.
    pub(super) fn new(instance: &Instance, order: &[TaskId]) -> Option<Self> {
        let count = order.len();
        if count > MAX_TASKS || instance.edges().is_empty() {
            return None;
        }
        let mut place = vec![0; count];
        order.iter().enumerate().for_each(|(at, &task)| place[instance.different(task)] = at);
        let words = count.div_ceil(64);
        let (mut before, mut behind) = (vec![0_u64; count * words], vec![0_u64; count * words]);
        for (at, &task) in order.iter().enumerate() {
            for edge in instance.incoming(task) {
                add(&mut before, words, at, place[instance.different(edge.from)]);
            }
        }
        for (at, &task) in order.iter().enumerate().rev() {
            for edge in instance.outgoing(task) {
                add(&mut behind, words, at, place[instance.different(edge.to)]);
            }
        }
        Some(Self { words, before, behind })
    }

    /// Returns the ancestors of a task, in ascending order.
    pub(super) fn before(&self, task: usize) -> impl Iterator<Item = usize> + '_ {
        bits(self.of(&self.before, task).iter().copied())
    }

    /// Returns the descendants of a task, in ascending order.
    pub(super) fn behind(&self, task: usize) -> impl Iterator<Item = usize> + '_ {
        bits(self.of(&self.behind, task).iter().copied())
    }

    /// Returns the tasks that are descendants of `first` and ancestors of `last`, in ascending order.
    pub(super) fn between(&self, first: usize, last: usize) -> impl Iterator<Item = usize> + '_ {
        let from = first / 64;
        bits(self.words_between(first, last)).map(move |bit| from * 64 + bit)
    }

    /// Returns the sum of the values of all ancestors of a task.
    pub(super) fn sum_before(&self, task: usize, sums: &Sums) -> f64 {
        sums.of(0, self.of(&self.before, task)[..=task / 64].iter().copied())
    }

    /// Returns the sum of the values of all descendants of a task.
    pub(super) fn sum_behind(&self, task: usize, sums: &Sums) -> f64 {
        sums.of(task / 64, self.of(&self.behind, task)[task / 64..].iter().copied())
    }

    /// Returns the sum of the values of the tasks that [`Self::between`] returns.
    pub(super) fn sum_between(&self, first: usize, last: usize, sums: &Sums) -> f64 {
        sums.of(first / 64, self.words_between(first, last))
    }

    fn words_between(&self, first: usize, last: usize) -> impl Iterator<Item = u64> + '_ {
        let words = first / 64..last / 64 + 1;
        let behind = self.of(&self.behind, first)[words.clone()].iter();
        behind.zip(&self.of(&self.before, last)[words]).map(|(behind, before)| behind & before)
    }

    fn of<'a>(&self, rows: &'a [u64], task: usize) -> &'a [u64] {
        &rows[task * self.words..(task + 1) * self.words]
    }
}

/// A value for each task, with sums of 64 consecutive values.
#[derive(Default)]
pub(super) struct Sums {
    values: Vec<f64>,
    /// For each 64 consecutive tasks, the sum of their values.
    words: Vec<f64>,
}

impl Sums {
    pub(super) fn set(&mut self, values: &[f64]) {
        self.values.clear();
        self.values.extend_from_slice(values);
        self.words.clear();
        self.words.extend(values.chunks(64).map(|word| word.iter().sum::<f64>()));
    }

    fn of(&self, from: usize, words: impl Iterator<Item = u64>) -> f64 {
        let mut sum = 0.0;
        for (word, mut bits) in (from..).zip(words) {
            if bits == u64::MAX {
                sum += self.words[word];
                continue;
            }
            while bits != 0 {
                sum += self.values[word * 64 + bits.trailing_zeros() as usize];
                bits &= bits - 1;
            }
        }
        sum
    }
}

/// Sets, for a task, the bit of a neighbour and all bits that are set for this neighbour.
fn add(rows: &mut [u64], words: usize, task: usize, neighbour: usize) {
    for word in 0..words {
        rows[task * words + word] |= rows[neighbour * words + word];
    }
    rows[task * words + neighbour / 64] |= 1 << (neighbour % 64);
}

fn bits(words: impl Iterator<Item = u64>) -> impl Iterator<Item = usize> {
    words.enumerate().flat_map(|(word, mut bits)| {
        std::iter::from_fn(move || {
            let bit = bits.trailing_zeros();
            (bits != 0).then(|| {
                bits &= bits - 1;
                word * 64 + bit as usize
            })
        })
    })
}
