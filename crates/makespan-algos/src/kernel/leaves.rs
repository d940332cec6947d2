//! Binary trees in flat arrays, with the entries of a list as leaves. Node 1 is the root, and the children of node `n`
//! are `2 n` and `2 n + 1`.

use makespan_core::Time;

/// Returns the first leaf at or after the leaf `from` that `admits` accepts. The tree has `leaves` leaves, a power of
/// two. If `admits` rejects a node, it must reject all leaves below this node.
pub(crate) fn first(leaves: usize, from: usize, admits: impl Fn(usize) -> bool) -> Option<usize> {
    if from >= leaves {
        return None;
    }
    let mut node = leaves + from;
    loop {
        if admits(node) {
            if node >= leaves {
                return Some(node - leaves);
            }
            node *= 2;
            continue;
        }
        // Go up while the node is a right child. Then go to the right sibling, which is the root of the next subtree
        // to be visited.
        while node % 2 == 1 {
            node /= 2;
        }
        if node == 0 {
            return None;
        }
        node += 1;
    }
}

/// A value that a [`Tree`] stores. The inner nodes of the tree store minima of values.
pub(crate) trait LeafMinimum: Copy + PartialEq {
    /// A value that is greater than the value of every entry.
    const NONE: Self;

    /// Returns the componentwise minimum of two values.
    fn least(self, other: Self) -> Self;
}

impl LeafMinimum for u32 {
    const NONE: Self = Self::MAX;

    fn least(self, other: Self) -> Self {
        self.min(other)
    }
}

/// Number of processors and time of a task, or the minimum of each quantity over several tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LeafRequest {
    pub width: u32,
    /// The time on a platform of equal processors.
    pub time: Time,
}

impl LeafMinimum for LeafRequest {
    const NONE: Self = Self { width: u32::MAX, time: Time::MAX };

    fn least(self, other: Self) -> Self {
        Self { width: self.width.min(other.width), time: self.time.min(other.time) }
    }
}

/// A binary tree with the entries of a list as leaves. Each inner node stores the minimum of the values below the node.
#[derive(Clone, Debug)]
pub(crate) struct Tree<T> {
    least: Vec<T>,
    leaves: usize,
}

impl<T> Default for Tree<T> {
    fn default() -> Self {
        Self { least: Vec::new(), leaves: 0 }
    }
}

impl<T: LeafMinimum> Tree<T> {
    /// Removes all entries, but keeps the allocated memory.
    pub fn clear(&mut self) {
        self.least.clear();
        self.leaves = 0;
    }

    /// Sets the values of the entries from index `from` on. `entries` is the length of the list. The length must not
    /// decrease from one call to the next, unless [`Tree::clear`] is called in between.
    pub fn refill(&mut self, from: usize, entries: usize, figure: impl Fn(usize) -> T) {
        let leaves = entries.next_power_of_two();
        let mut from = leaves + if leaves == self.leaves { from } else { 0 };
        if leaves != self.leaves {
            self.clear();
            self.least.resize(2 * leaves, T::NONE);
            self.leaves = leaves;
        }
        let mut end = leaves + entries;
        for node in from..end {
            self.least[node] = figure(node - leaves);
        }
        while from > 1 {
            (from, end) = (from / 2, end.div_ceil(2));
            for node in from..end {
                self.least[node] = self.least[2 * node].least(self.least[2 * node + 1]);
            }
        }
    }

    /// Sets the value of an entry.
    pub fn set(&mut self, entry: usize, figure: T) {
        let mut node = self.leaves + entry;
        self.least[node] = figure;
        while node > 1 {
            node /= 2;
            let least = self.least[2 * node].least(self.least[2 * node + 1]);
            if self.least[node] == least {
                break;
            }
            self.least[node] = least;
        }
    }

    /// Returns the value of an entry.
    pub fn get(&self, entry: usize) -> T {
        self.least[self.leaves + entry]
    }

    /// Returns the minimum of all values.
    pub fn all(&self) -> T {
        self.least.get(1).copied().unwrap_or(T::NONE)
    }

    /// Returns the first entry from `from` on that `admits` accepts. If `admits` rejects the minimum of several
    /// entries, it must reject each of these entries. Takes O(log n) steps for n entries. Takes more steps if `admits`
    /// accepts the minimum of some entries but none of these entries.
    pub fn next(&self, from: usize, admits: impl Fn(T) -> bool) -> Option<usize> {
        first(self.leaves, from, |node| admits(self.least[node]))
    }

    /// Returns the first entry that `admits` accepts. The minimum of several values must always be equal to one of
    /// them.
    pub fn first(&self, admits: impl Fn(T) -> bool) -> Option<usize> {
        if !admits(self.all()) {
            return None;
        }
        let mut node = 1;
        while node < self.leaves {
            node *= 2;
            if !admits(self.least[node]) {
                node += 1;
            }
        }
        Some(node - self.leaves)
    }
}
