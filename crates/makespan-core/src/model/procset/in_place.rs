//! In-place changes of a large set by a small set.

use super::ProcSet;

/// Maximum number of intervals that are inserted or removed one by one. Each insertion moves the tail of the larger
/// set. Above this number, merging both sets is faster.
const FEW: usize = 16;

impl ProcSet {
    /// Adds the ids of `other` to this set. For k intervals in `other` and n in this set, takes O(k log n + k n) if k
    /// is at most 16, otherwise O(n + k).
    pub fn insert(&mut self, other: &Self) {
        if other.intervals.len() > FEW {
            *self = self.union(other);
            return;
        }
        for &(first, last) in &other.intervals {
            self.insert_interval(first, last);
        }
    }

    /// Removes the ids of `other`. Ids that are not in the set are ignored. For k intervals in `other` and n in this
    /// set, takes O(k log n + k n) if k is at most 16, otherwise O(n + k).
    pub fn remove(&mut self, other: &Self) {
        if other.intervals.len() > FEW {
            *self = self.difference(other);
            return;
        }
        for &(first, last) in &other.intervals {
            self.remove_interval(first, last);
        }
    }

    fn insert_interval(&mut self, first: u32, last: u32) {
        // The intervals at positions `from .. to` overlap the new interval or are adjacent to it, so they are joined
        // with it.
        let from = self.intervals.partition_point(|&(_, end)| end.saturating_add(1) < first);
        let meeting = self.intervals[from..].partition_point(|&(start, _)| start <= last.saturating_add(1));
        let to = from + meeting;
        if from == to {
            self.intervals.insert(from, (first, last));
            return;
        }
        let joined = (first.min(self.intervals[from].0), last.max(self.intervals[to - 1].1));
        self.intervals[from] = joined;
        self.intervals.drain(from + 1..to);
    }

    fn remove_interval(&mut self, first: u32, last: u32) {
        let from = self.intervals.partition_point(|&(_, end)| end < first);
        let meeting = self.intervals[from..].partition_point(|&(start, _)| start <= last);
        let to = from + meeting;
        if from == to {
            return;
        }
        let (start, end) = (self.intervals[from].0, self.intervals[to - 1].1);
        match (start < first, last < end) {
            (false, false) => drop(self.intervals.drain(from..to)),
            (true, false) => {
                self.intervals[from].1 = first - 1;
                self.intervals.drain(from + 1..to);
            }
            (false, true) => {
                self.intervals[to - 1].0 = last + 1;
                self.intervals.drain(from..to - 1);
            }
            (true, true) if to - from == 1 => {
                self.intervals[from].1 = first - 1;
                self.intervals.insert(to, (last + 1, end));
            }
            (true, true) => {
                self.intervals[from].1 = first - 1;
                self.intervals[to - 1].0 = last + 1;
                self.intervals.drain(from + 1..to - 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn set(ids: &BTreeSet<u32>) -> ProcSet {
        ProcSet::from_intervals(ids.iter().map(|&id| (id, id)).collect())
    }

    proptest! {
        #[test]
        fn changes_agree_with_a_plain_set(
            begin in proptest::collection::btree_set(0_u32..120, 0..80),
            changes in proptest::collection::vec((proptest::collection::btree_set(0_u32..120, 0..60), any::<bool>()), 1..8),
            runs in proptest::collection::vec((0_u32..120, 0_u32..30, any::<bool>()), 0..20),
        ) {
            let runs = runs.into_iter().map(|(first, more, insert)| ((first..=first + more).collect(), insert));
            let (mut built, mut model) = (set(&begin), begin);
            for (ids, insert) in changes.into_iter().chain(runs) {
                if insert {
                    built.insert(&set(&ids));
                    model = &model | &ids;
                } else {
                    built.remove(&set(&ids));
                    model = &model - &ids;
                }
                prop_assert_eq!(&built, &set(&model));
                prop_assert_eq!(set(&ids).is_subset(&built), ids.is_subset(&model));
                prop_assert_eq!(set(&ids).is_disjoint(&built), ids.is_disjoint(&model));
            }
        }
    }

    #[test]
    fn the_ends_of_the_range_are_no_exception() {
        let mut all = ProcSet::range(0, u32::MAX - 1);
        all.remove(&ProcSet::range(0, 3));
        all.insert(&ProcSet::range(u32::MAX, u32::MAX));
        assert_eq!(all, ProcSet::range(4, u32::MAX));
        all.remove(&ProcSet::range(u32::MAX, u32::MAX));
        all.insert(&ProcSet::range(0, 3));
        assert_eq!(all, ProcSet::range(0, u32::MAX - 1));
    }
}
