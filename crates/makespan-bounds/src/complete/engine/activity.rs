//! The activity of literals in recent conflicts. The search branches on active literals.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::Literal;

/// The factor by which the activity of a literal decays at each conflict.
const DECAY: f64 = 0.95;
/// Maximum number of entries of the queue.
const MAX_QUEUE: usize = 200_000;

/// A queue of literals in descending order of their activity (VSIDS, M. W. Moskewicz et al., DAC 2001,
/// DOI 10.1145/378239.379017).
pub(in crate::complete) struct Activity {
    of: FxHashMap<Literal, f64>,
    queue: BinaryHeap<Entry>,
    /// Entries that `next` removed from the queue, because their literals were true or false.
    asleep: Vec<Entry>,
    increment: f64,
}

impl Default for Activity {
    fn default() -> Self {
        Self { of: FxHashMap::default(), queue: BinaryHeap::new(), asleep: Vec::new(), increment: 1.0 }
    }
}

#[derive(Clone, Copy, PartialEq)]
struct Entry(f64, Literal);

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then_with(|| self.1.cmp(&other.1))
    }
}

impl Activity {
    pub(in crate::complete) fn bump(&mut self, literal: Literal) {
        let activity = self.of.entry(literal).or_insert(0.0);
        *activity += self.increment;
        self.queue.push(Entry(*activity, literal));
    }

    /// Reduces all activities by the factor `DECAY`, relative to later conflicts. The stored activities stay unchanged.
    /// Instead, the amount that each later conflict adds grows by the factor 1 / `DECAY`.
    pub(in crate::complete) fn decay(&mut self) {
        self.increment /= DECAY;
        if self.increment > 1e100 {
            self.increment *= 1e-100;
            self.of.values_mut().for_each(|activity| *activity *= 1e-100);
            self.rebuild();
        } else if self.queue.len() > MAX_QUEUE {
            self.rebuild();
        }
    }

    fn rebuild(&mut self) {
        let least = self.increment * 1e-30;
        self.of.retain(|_, activity| *activity > least);
        self.queue = self.of.iter().map(|(&literal, &activity)| Entry(activity, literal)).collect();
        self.asleep.clear();
    }

    /// Puts the entries in `asleep` back into the queue, because literals may have become open.
    pub(in crate::complete) fn wake(&mut self) {
        while let Some(entry) = self.asleep.pop() {
            if self.of.get(&entry.1) == Some(&entry.0) {
                self.queue.push(entry);
            }
        }
    }

    /// Returns the most active literal that is neither true nor false.
    pub(in crate::complete) fn next(&mut self, is_fixed: impl Fn(Literal) -> bool) -> Option<Literal> {
        while let Some(entry) = self.queue.pop() {
            if self.of.get(&entry.1) != Some(&entry.0) {
                continue;
            }
            if is_fixed(entry.1) {
                self.asleep.push(entry);
            } else {
                self.queue.push(entry);
                return Some(entry.1);
            }
        }
        None
    }
}
