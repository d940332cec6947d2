//! Sets of processors.

mod in_place;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smallvec::{SmallVec, smallvec};
use thiserror::Error;

/// Closed intervals. Up to two are stored inline: a plan can have a million sets, most of which have one interval.
type Intervals = SmallVec<[(u32, u32); 2]>;

/// A set of processor ids as sorted, disjoint, non-adjacent closed intervals, printed as `0-3,8`.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub struct ProcSet {
    intervals: Intervals,
}

/// [`Clone::clone_from`] reuses memory, because some policies copy the free processors at every event.
impl Clone for ProcSet {
    fn clone(&self) -> Self {
        Self { intervals: self.intervals.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.intervals.clone_from(&source.intervals);
    }
}

/// The reason why a text is not a set of processors.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProcSetError {
    /// The text does not consist of ids and ranges.
    #[error("`{0}` is not a set of processors; write ids and ranges such as 0-3,8")]
    Syntax(String),
    /// The text contains a processor more than once. The set would have fewer processors than the text suggests.
    #[error("`{text}` contains processor {processor} twice; write each processor once")]
    Twice {
        /// The first repeated processor.
        processor: u32,
        /// The whole text.
        text: String,
    },
}

impl ProcSet {
    /// Creates an empty set.
    pub const fn new() -> Self {
        Self { intervals: SmallVec::new_const() }
    }

    /// Returns the ids from `first` to `last`, both included.
    ///
    /// # Panics
    /// Panics if `first > last`.
    pub fn range(first: u32, last: u32) -> Self {
        assert!(first <= last, "an interval of processors starts at its smaller id");
        Self { intervals: smallvec![(first, last)] }
    }

    /// Returns the ids `0 .. count`.
    pub fn first(count: u32) -> Self {
        if count == 0 { Self::new() } else { Self::range(0, count - 1) }
    }

    /// Returns the union of closed intervals, which may be in any order.
    pub fn from_intervals(mut intervals: Vec<(u32, u32)>) -> Self {
        intervals.sort_unstable();
        Self::joined(SmallVec::from_slice(&intervals))
    }

    /// Joins intervals that overlap or are adjacent. The intervals must be sorted by their first ids.
    fn joined(mut intervals: Intervals) -> Self {
        intervals.dedup_by(|next, tail| {
            let touches = next.0 <= tail.1.saturating_add(1);
            if touches {
                tail.1 = tail.1.max(next.1);
            }
            touches
        });
        Self { intervals }
    }

    /// Returns the closed intervals, ascending.
    pub fn intervals(&self) -> &[(u32, u32)] {
        &self.intervals
    }

    /// Returns the number of processors.
    pub fn len(&self) -> u32 {
        self.intervals.iter().map(|&(first, last)| last - first + 1).sum()
    }

    /// Returns true if every id is in `other`. Takes O(k log n) for k intervals in this set and n in `other`.
    pub fn is_subset(&self, other: &Self) -> bool {
        let mut rest = other.intervals.as_slice();
        self.intervals.iter().all(|&(first, last)| {
            rest = &rest[rest.partition_point(|interval| interval.1 < first)..];
            rest.first().is_some_and(|interval| interval.0 <= first && last <= interval.1)
        })
    }

    /// Returns true if the set has no processors.
    pub fn is_empty(&self) -> bool {
        self.intervals.is_empty()
    }

    /// Returns the ids, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.intervals.iter().flat_map(|&(first, last)| first..=last)
    }

    /// Returns the largest id.
    pub fn last(&self) -> Option<u32> {
        self.intervals.last().map(|&(_, last)| last)
    }

    /// Returns true if `id` is in the set.
    pub fn contains(&self, id: u32) -> bool {
        let at = self.intervals.partition_point(|&(_, last)| last < id);
        self.intervals.get(at).is_some_and(|&(first, _)| first <= id)
    }

    /// Returns the ids that are in at least one of the sets. Takes O(n + k log n) for n intervals in this set and k in
    /// `other`.
    pub fn union(&self, other: &Self) -> Self {
        let mut all = Intervals::with_capacity(self.intervals.len() + other.intervals.len());
        let mut own = self.intervals.as_slice();
        for interval in &other.intervals {
            let (before, rest) = own.split_at(own.partition_point(|own| own < interval));
            all.extend_from_slice(before);
            all.push(*interval);
            own = rest;
        }
        all.extend_from_slice(own);
        Self::joined(all)
    }

    /// Returns the ids of this set that are not in `other`.
    pub fn difference(&self, other: &Self) -> Self {
        let mut left = Intervals::with_capacity(self.intervals.len() + other.intervals.len());
        let mut holes = other.intervals.iter().peekable();
        for &(first, last) in &self.intervals {
            let mut from = first;
            while holes.next_if(|hole| hole.1 < from).is_some() {}
            let mut ahead = holes.clone();
            let mut open = true;
            while let Some(hole) = ahead.next_if(|hole| hole.0 <= last) {
                if hole.0 > from {
                    left.push((from, hole.0 - 1));
                }
                if hole.1 >= last {
                    open = false;
                    break;
                }
                from = hole.1 + 1;
            }
            if open {
                left.push((from, last));
            }
        }
        Self { intervals: left }
    }

    /// Returns the ids that are in both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        let (mut i, mut j) = (0, 0);
        let mut common = Intervals::new();
        while let (Some(a), Some(b)) = (self.intervals.get(i), other.intervals.get(j)) {
            let (first, last) = (a.0.max(b.0), a.1.min(b.1));
            if first <= last {
                common.push((first, last));
            }
            if a.1 < b.1 { i += 1 } else { j += 1 }
        }
        Self { intervals: common }
    }

    /// Returns true if no id is in both sets. Takes O(k log n) for k intervals in this set and n in `other`.
    pub fn is_disjoint(&self, other: &Self) -> bool {
        let mut rest = other.intervals.as_slice();
        self.intervals.iter().all(|&(first, last)| {
            rest = &rest[rest.partition_point(|interval| interval.1 < first)..];
            rest.first().is_none_or(|interval| last < interval.0)
        })
    }

    /// Removes `count` processors from the set and returns them. These are the lowest ids of the first contiguous
    /// block that has enough processors. If no block has enough, they are the lowest ids of the set. Returns `None`
    /// and removes nothing if the set has fewer processors.
    pub fn take(&mut self, count: u32) -> Option<Self> {
        if count == 0 {
            return Some(Self::new());
        }
        if let Some(at) = self.intervals.iter().position(|&(first, last)| last - first + 1 >= count) {
            let (first, last) = self.intervals[at];
            if last - first + 1 == count {
                self.intervals.remove(at);
            } else {
                self.intervals[at].0 = first + count;
            }
            return Some(Self::range(first, first + count - 1));
        }
        if self.len() < count {
            return None;
        }
        let mut missing = count;
        let mut taken = Intervals::new();
        let mut whole = 0;
        for interval in &mut self.intervals {
            let size = interval.1 - interval.0 + 1;
            if size > missing {
                if missing > 0 {
                    taken.push((interval.0, interval.0 + missing - 1));
                    interval.0 += missing;
                }
                break;
            }
            taken.push(*interval);
            missing -= size;
            whole += 1;
        }
        self.intervals.drain(..whole);
        Some(Self { intervals: taken })
    }
}

impl fmt::Display for ProcSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, &(first, last)) in self.intervals.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            if first == last { write!(f, "{comma}{first}")? } else { write!(f, "{comma}{first}-{last}")? }
        }
        Ok(())
    }
}

impl FromStr for ProcSet {
    type Err = ProcSetError;

    /// Parses ids and ranges in any order. Each processor may occur only once.
    fn from_str(text: &str) -> Result<Self, ProcSetError> {
        let fail = || ProcSetError::Syntax(text.to_owned());
        let number = |digits: &str| digits.trim().parse::<u32>().map_err(|_| fail());
        if text.trim().is_empty() {
            return Ok(Self::new());
        }
        let mut intervals = Vec::new();
        for part in text.split(',') {
            let (first, last) = match part.split_once('-') {
                Some((first, last)) => (number(first)?, number(last)?),
                None => (number(part)?, number(part)?),
            };
            if first > last || last == u32::MAX {
                return Err(fail());
            }
            intervals.push((first, last));
        }
        intervals.sort_unstable();
        if let Some(pair) = intervals.windows(2).find(|pair| pair[1].0 <= pair[0].1) {
            return Err(ProcSetError::Twice { processor: pair[1].0, text: text.to_owned() });
        }
        Ok(Self::from_intervals(intervals))
    }
}

impl Serialize for ProcSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ProcSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
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

    #[test]
    fn reads_what_it_prints() {
        for text in ["", "0", "0-3,8", "1-2,4,6-9"] {
            assert_eq!(text.parse::<ProcSet>().unwrap().to_string(), text);
        }
        assert_eq!("3,1-2,0".parse::<ProcSet>().unwrap().to_string(), "0-3");
        for bad in ["a", "3-1", "1,,2", "-1", "4294967295"] {
            assert!(bad.parse::<ProcSet>().is_err(), "{bad}");
        }
    }

    #[test]
    fn takes_a_block_before_fragments() {
        let mut free: ProcSet = "0,2,4-7".parse().unwrap();
        assert_eq!(free.take(2).unwrap().to_string(), "4-5");
        assert_eq!(free.take(3).unwrap().to_string(), "0,2,6");
        assert_eq!(free.take(2), None);
        assert_eq!(free.to_string(), "7");
    }

    #[test]
    fn a_processor_that_is_named_twice_is_named() {
        let said = |text: &str| text.parse::<ProcSet>().unwrap_err().to_string();
        assert_eq!(said("0,1,2,0"), "`0,1,2,0` contains processor 0 twice; write each processor once");
        assert_eq!(said("5-9,0-5"), "`5-9,0-5` contains processor 5 twice; write each processor once");
    }

    proptest! {
        /// A text of ids and ranges is valid if and only if no id occurs twice. The test counts the ids to decide
        /// whether the text is valid.
        #[test]
        fn a_text_that_names_an_id_twice_is_no_set(parts in proptest::collection::vec((0_u32..60, 0_u32..4), 1..12)) {
            let parts: Vec<(u32, u32)> = parts.into_iter().map(|(first, more)| (first, first + more)).collect();
            let texts: Vec<String> = parts.iter().map(|&(first, last)| match last - first {
                0 => first.to_string(),
                _ => format!("{first}-{last}"),
            }).collect();
            let mut ids: Vec<u32> = parts.iter().flat_map(|&(first, last)| first..=last).collect();
            let named = ids.len();
            ids.sort_unstable();
            ids.dedup();
            let read = texts.join(",").parse::<ProcSet>();
            prop_assert_eq!(read.is_ok(), ids.len() == named);
            if let Ok(read) = read {
                prop_assert_eq!(read.iter().collect::<Vec<_>>(), ids);
            }
        }

        #[test]
        fn agrees_with_a_plain_set(a in proptest::collection::btree_set(0_u32..40, 0..25),
                                   b in proptest::collection::btree_set(0_u32..40, 0..25), count in 0_u32..30) {
            let (left, right) = (set(&a), set(&b));
            prop_assert_eq!(left.union(&right), set(&(&a | &b)));
            prop_assert_eq!(left.difference(&right), set(&(&a - &b)));
            prop_assert_eq!(left.intersection(&right), set(&(&a & &b)));
            prop_assert_eq!(left.len() as usize, a.len());
            prop_assert!((0..40).all(|id| left.contains(id) == a.contains(&id)));
            let mut rest = left.clone();
            match rest.take(count) {
                Some(taken) => {
                    prop_assert_eq!(taken.len(), count);
                    prop_assert!(taken.is_disjoint(&rest));
                    prop_assert_eq!(taken.union(&rest), left);
                }
                None => prop_assert!(count > left.len()),
            }
        }
    }
}
