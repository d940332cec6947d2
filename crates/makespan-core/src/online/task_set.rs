//! A set of tasks with fast insertion, removal and iteration.

use crate::model::TaskId;

/// A set of tasks, iterated in ascending order. The set is stored in levels of 64-bit words; a million tasks need four
/// levels. An insertion or removal changes at most one word of each level, and a search for the next member visits at
/// most two words of each level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskSet {
    /// The levels. In level 0, bit `i` is set if task `i` is a member. In any other level, bit `i` is set if word `i`
    /// of the level below is not zero.
    levels: Vec<Vec<u64>>,
    len: usize,
}

const BITS: usize = u64::BITS as usize;

impl TaskSet {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if the set has no members.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns true if the task is a member.
    pub fn contains(&self, task: TaskId) -> bool {
        let word = self.levels.first().and_then(|words| words.get(task.index() / BITS));
        word.is_some_and(|word| word >> (task.index() % BITS) & 1 == 1)
    }

    /// Adds a task. Returns true if the task was not a member before.
    pub fn insert(&mut self, task: TaskId) -> bool {
        if self.contains(task) {
            return false;
        }
        self.reach(task.index());
        let mut at = task.index();
        for words in &mut self.levels {
            words[at / BITS] |= 1 << (at % BITS);
            at /= BITS;
        }
        self.len += 1;
        true
    }

    /// Removes a task. Returns true if the task was a member before.
    pub fn remove(&mut self, task: TaskId) -> bool {
        if !self.contains(task) {
            return false;
        }
        let mut at = task.index();
        for words in &mut self.levels {
            words[at / BITS] &= !(1 << (at % BITS));
            if words[at / BITS] != 0 {
                break;
            }
            at /= BITS;
        }
        self.len -= 1;
        true
    }

    /// Returns the smallest member that is at least `task`.
    pub fn next(&self, task: TaskId) -> Option<TaskId> {
        let mut at = task.index();
        // Climbs until a word has a set bit at or after the current position. Then descends to the first set bit of
        // each level.
        let mut level = 0;
        loop {
            let word = self.levels.get(level)?.get(at / BITS).copied().unwrap_or(0) & (u64::MAX << (at % BITS));
            if word == 0 {
                at = at / BITS + 1;
                level += 1;
                continue;
            }
            at = at / BITS * BITS + word.trailing_zeros() as usize;
            if level == 0 {
                return Some(TaskId::at(at));
            }
            level -= 1;
            at *= BITS;
        }
    }

    /// Returns the smallest member.
    pub fn first(&self) -> Option<TaskId> {
        self.next(TaskId(0))
    }

    /// Returns the members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = TaskId> + '_ {
        std::iter::successors(self.first(), |task| self.next(TaskId(task.0.checked_add(1)?)))
    }

    /// Extends the levels so that the set can contain a task with this index.
    fn reach(&mut self, index: usize) {
        if self.levels.is_empty() {
            self.levels.push(Vec::new());
        }
        let mut words = index / BITS + 1;
        for level in 0.. {
            if self.levels.len() == level {
                // Creates a new level. Its bits mark the nonzero words of the level below.
                let below = &self.levels[level - 1];
                let mut summary = vec![0; below.len().div_ceil(BITS)];
                for (at, _) in below.iter().enumerate().filter(|(_, word)| **word != 0) {
                    summary[at / BITS] |= 1 << (at % BITS);
                }
                self.levels.push(summary);
            }
            let level = &mut self.levels[level];
            if level.len() < words {
                level.resize(words, 0);
            }
            if level.len() == 1 {
                break;
            }
            words = level.len().div_ceil(BITS);
        }
    }
}

impl FromIterator<TaskId> for TaskSet {
    fn from_iter<I: IntoIterator<Item = TaskId>>(tasks: I) -> Self {
        let mut set = Self::new();
        for task in tasks {
            set.insert(task);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn is_an_ordered_set(changes in prop::collection::vec((0u64..300_000, any::<bool>()), 0..300), scale in 1u64..5000) {
            let (mut set, mut model) = (TaskSet::new(), BTreeSet::new());
            for (id, insert) in changes {
                let id = id / scale;
                if insert {
                    prop_assert_eq!(set.insert(TaskId(id)), model.insert(id));
                } else {
                    prop_assert_eq!(set.remove(TaskId(id)), model.remove(&id));
                }
                prop_assert_eq!(set.len(), model.len());
                prop_assert_eq!(set.contains(TaskId(id)), model.contains(&id));
                prop_assert_eq!(set.next(TaskId(id)).map(|task| task.0), model.range(id..).next().copied());
            }
            prop_assert!(set.iter().map(|task| task.0).eq(model.iter().copied()));
            prop_assert_eq!(set.is_empty(), model.is_empty());
        }
    }

    #[test]
    fn the_largest_id_is_no_end() {
        let mut set: TaskSet = [TaskId(3)].into_iter().collect();
        assert_eq!(set.next(TaskId(u64::MAX)), None);
        assert!(set.remove(TaskId(3)) && !set.remove(TaskId(3)));
        assert_eq!(set.first(), None);
    }
}
