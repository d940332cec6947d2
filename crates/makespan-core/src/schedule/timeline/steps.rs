//! A step function of time, stored as a balanced tree. The tree supports additions over a period and searches by
//! value.

use crate::model::Time;

const NONE: u32 = u32::MAX;

/// The number of free processors over time, as a piecewise constant function. Searches find the first instant at which
/// the value is below a level, or at least a level.
///
/// The breakpoints are stored in a treap, so each operation takes O(log breakpoints) expected time. Priorities come
/// from a fixed sequence, so equal sequences of operations give equal trees.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    nodes: Vec<Node>,
    unused: Vec<u32>,
    root: u32,
    sequence: u64,
}

#[derive(Clone, Debug)]
struct Node {
    /// The breakpoint: the instant from which the function has this value.
    from: Time,
    value: i64,
    /// Smallest value in the subtree of the node.
    min: i64,
    /// Largest value in the subtree of the node.
    max: i64,
    /// Amount that must still be added to the values of both subtrees below the node.
    pending: i64,
    priority: u64,
    left: u32,
    right: u32,
}

impl Steps {
    /// Creates a function that is constant from time zero on.
    pub(super) fn constant(value: i64) -> Self {
        let mut steps = Self { nodes: Vec::new(), unused: Vec::new(), root: NONE, sequence: 0 };
        steps.root = steps.leaf(Time::ZERO, value);
        steps
    }

    /// Returns the value at an instant.
    pub(super) fn at(&self, instant: Time) -> i64 {
        let (mut at, mut added, mut found) = (self.root, 0, 0);
        while at != NONE {
            let node = &self.nodes[at as usize];
            if node.from <= instant {
                found = node.value + added;
                added += node.pending;
                at = node.right;
            } else {
                added += node.pending;
                at = node.left;
            }
        }
        found
    }

    /// Adds `change` from `start` to `end`. `Time::MAX` as `end` means forever.
    pub(super) fn add(&mut self, start: Time, end: Time, change: i64) {
        if start >= end || change == 0 {
            return;
        }
        let (before, rest) = self.split(self.root, start);
        let (mut inside, mut after) = self.split(rest, end);
        let value_before = self.last_value(before);
        let first = self.first_from(inside);
        if first != Some(start) {
            let value = value_before.expect("time starts at zero, so a step lies before any later instant");
            let leaf = self.leaf(start, value);
            inside = self.merge(leaf, inside);
        }
        let value_inside = self.last_value(inside).expect("the timeline has a step at the start of the period");
        if end < Time::MAX && self.first_from(after) != Some(end) {
            let leaf = self.leaf(end, value_inside);
            after = self.merge(leaf, after);
        }
        self.shift(inside, change);
        // Removes a breakpoint at which the value does not change. So the number of tree nodes stays equal to the
        // number of steps.
        if value_before.is_some() && self.first_value(inside) == value_before {
            inside = self.drop_first(inside);
        }
        if self.first_value(after) == Some(value_inside + change) {
            after = self.drop_first(after);
        }
        let front = self.merge(before, inside);
        self.root = self.merge(front, after);
    }

    /// Returns the first instant, not before `after`, at which the value is below `level`.
    pub(super) fn next_below(&self, after: Time, level: i64) -> Option<Time> {
        if self.at(after) < level {
            return Some(after);
        }
        self.search(self.root, 0, after, &|node, added| node.min + added < level, &|value| value < level)
    }

    /// Returns the first instant, not before `after`, at which the value is at least `level`.
    pub(super) fn next_reaching(&self, after: Time, level: i64) -> Option<Time> {
        if self.at(after) >= level {
            return Some(after);
        }
        self.search(self.root, 0, after, &|node, added| node.max + added >= level, &|value| value >= level)
    }

    /// Returns the first breakpoint after an instant.
    pub(super) fn next_breakpoint(&self, after: Time) -> Option<Time> {
        self.search(self.root, 0, after, &|_, _| true, &|_| true)
    }

    /// Returns the smallest value from `start` to `end`.
    pub(super) fn min_within(&self, start: Time, end: Time) -> i64 {
        self.at(start).min(self.min_after(self.root, 0, start, end))
    }

    /// Calls `take` with the value at `start`, and then with each later breakpoint and its value, ascending.
    pub(super) fn each_from(&self, start: Time, take: &mut impl FnMut(Time, i64)) {
        take(start, self.at(start));
        self.each_after(self.root, 0, start, take);
    }

    fn each_after(&self, at: u32, added: i64, start: Time, take: &mut impl FnMut(Time, i64)) {
        let Some(node) = self.nodes.get(at as usize) else { return };
        let below = added + node.pending;
        if node.from > start {
            self.each_after(node.left, below, start, take);
            take(node.from, node.value + added);
        }
        self.each_after(node.right, below, start, take);
    }

    /// Returns the smallest value among the breakpoints strictly inside `(start, end)`.
    fn min_after(&self, at: u32, added: i64, start: Time, end: Time) -> i64 {
        if at == NONE {
            return i64::MAX;
        }
        let node = &self.nodes[at as usize];
        let below = added + node.pending;
        if node.from <= start {
            return self.min_after(node.right, below, start, end);
        }
        if node.from >= end {
            return self.min_after(node.left, below, start, end);
        }
        let left = self.min_from(node.left, below, start);
        let right = self.min_until(node.right, below, end);
        (node.value + added).min(left).min(right)
    }

    /// Returns the smallest value among the breakpoints later than `start`.
    fn min_from(&self, mut at: u32, mut added: i64, start: Time) -> i64 {
        let mut least = i64::MAX;
        while at != NONE {
            let node = &self.nodes[at as usize];
            if node.from > start {
                let right =
                    self.nodes.get(node.right as usize).map_or(i64::MAX, |right| right.min + added + node.pending);
                least = least.min(node.value + added).min(right);
                added += node.pending;
                at = node.left;
            } else {
                added += node.pending;
                at = node.right;
            }
        }
        least
    }

    /// Returns the smallest value among the breakpoints earlier than `end`.
    fn min_until(&self, mut at: u32, mut added: i64, end: Time) -> i64 {
        let mut least = i64::MAX;
        while at != NONE {
            let node = &self.nodes[at as usize];
            if node.from < end {
                let left = self.nodes.get(node.left as usize).map_or(i64::MAX, |left| left.min + added + node.pending);
                least = least.min(node.value + added).min(left);
                added += node.pending;
                at = node.right;
            } else {
                added += node.pending;
                at = node.left;
            }
        }
        least
    }

    /// Returns the first breakpoint after `after` with a value that satisfies `wanted`. `may_hold` receives the
    /// smallest and the largest value of a subtree; if it returns false, the search skips the subtree.
    fn search(
        &self,
        at: u32,
        added: i64,
        after: Time,
        may_hold: &dyn Fn(&Node, i64) -> bool,
        wanted: &dyn Fn(i64) -> bool,
    ) -> Option<Time> {
        let node = self.nodes.get(at as usize)?;
        if !may_hold(node, added) {
            return None;
        }
        let below = added + node.pending;
        if node.from <= after {
            return self.search(node.right, below, after, may_hold, wanted);
        }
        self.search(node.left, below, after, may_hold, wanted)
            .or_else(|| wanted(node.value + added).then_some(node.from))
            .or_else(|| self.search(node.right, below, after, may_hold, wanted))
    }

    fn leaf(&mut self, from: Time, value: i64) -> u32 {
        // SplitMix64 (Steele, Lea, Flood 2014): a fixed sequence of pseudorandom priorities.
        self.sequence = self.sequence.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.sequence;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let priority = mixed ^ (mixed >> 31);
        let node = Node { from, value, min: value, max: value, pending: 0, priority, left: NONE, right: NONE };
        if let Some(index) = self.unused.pop() {
            self.nodes[index as usize] = node;
            index
        } else {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        }
    }

    fn shift(&mut self, at: u32, change: i64) {
        if let Some(node) = self.nodes.get_mut(at as usize) {
            node.value += change;
            node.min += change;
            node.max += change;
            node.pending += change;
        }
    }

    fn push(&mut self, at: u32) {
        let Node { pending, left, right, .. } = self.nodes[at as usize];
        if pending != 0 {
            self.shift(left, pending);
            self.shift(right, pending);
            self.nodes[at as usize].pending = 0;
        }
    }

    fn pull(&mut self, at: u32) {
        let Node { value, left, right, .. } = self.nodes[at as usize];
        let extremes = |child: u32| self.nodes.get(child as usize).map_or((value, value), |node| (node.min, node.max));
        let (left, right) = (extremes(left), extremes(right));
        let node = &mut self.nodes[at as usize];
        node.min = value.min(left.0).min(right.0);
        node.max = value.max(left.1).max(right.1);
    }

    /// Splits a tree into the breakpoints before `key` and the breakpoints from `key` on.
    fn split(&mut self, at: u32, key: Time) -> (u32, u32) {
        if at == NONE {
            return (NONE, NONE);
        }
        self.push(at);
        let parts = if self.nodes[at as usize].from < key {
            let (left, right) = self.split(self.nodes[at as usize].right, key);
            self.nodes[at as usize].right = left;
            (at, right)
        } else {
            let (left, right) = self.split(self.nodes[at as usize].left, key);
            self.nodes[at as usize].left = right;
            (left, at)
        };
        self.pull(at);
        parts
    }

    /// Joins two trees. All breakpoints of `left` must be before all breakpoints of `right`.
    fn merge(&mut self, left: u32, right: u32) -> u32 {
        if left == NONE || right == NONE {
            return if left == NONE { right } else { left };
        }
        if self.nodes[left as usize].priority > self.nodes[right as usize].priority {
            self.push(left);
            self.nodes[left as usize].right = self.merge(self.nodes[left as usize].right, right);
            self.pull(left);
            left
        } else {
            self.push(right);
            self.nodes[right as usize].left = self.merge(left, self.nodes[right as usize].left);
            self.pull(right);
            right
        }
    }

    fn first_from(&self, mut at: u32) -> Option<Time> {
        let mut first = None;
        while let Some(node) = self.nodes.get(at as usize) {
            first = Some(node.from);
            at = node.left;
        }
        first
    }

    fn first_value(&self, tree: u32) -> Option<i64> {
        self.edge_value(tree, |node| node.left)
    }

    fn last_value(&self, tree: u32) -> Option<i64> {
        self.edge_value(tree, |node| node.right)
    }

    /// Returns the value of the first or last breakpoint of a tree. `next` returns the left or right child of a node.
    fn edge_value(&self, mut at: u32, next: impl Fn(&Node) -> u32) -> Option<i64> {
        let (mut value, mut added) = (None, 0);
        while let Some(node) = self.nodes.get(at as usize) {
            value = Some(node.value + added);
            added += node.pending;
            at = next(node);
        }
        value
    }

    fn drop_first(&mut self, at: u32) -> u32 {
        self.push(at);
        let left = self.nodes[at as usize].left;
        if left == NONE {
            self.unused.push(at);
            return self.nodes[at as usize].right;
        }
        let rest = self.drop_first(left);
        self.nodes[at as usize].left = rest;
        self.pull(at);
        at
    }

    #[cfg(test)]
    pub(super) fn breakpoints(&self) -> usize {
        self.nodes.len() - self.unused.len()
    }
}
