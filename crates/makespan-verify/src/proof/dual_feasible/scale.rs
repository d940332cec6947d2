//! Functions that assign a value to each size. For a limit on the total of several sizes, this module computes the
//! maximum sum of their values.

use serde::{Deserialize, Serialize};

use super::super::CertificateError;
use super::super::error::malformed;

/// Maximum product of the number of table entries and the number of steps.
const MAX_EFFORT: u64 = 1 << 21;

/// A non-decreasing function of a size (processors or ticks) that is zero at zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// The value of a size is the size itself.
    Whole,
    /// A step function: pairs of a size and the value from this size on. The value is zero below the first size. Sizes
    /// and values are positive and ascending.
    Steps(Vec<(i64, u32)>),
}

impl Scale {
    pub(in crate::proof) fn check(&self) -> Result<(), CertificateError> {
        let Self::Steps(steps) = self else { return Ok(()) };
        let ascending = steps.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1);
        if ascending && steps.first().is_some_and(|&(size, value)| size > 0 && value > 0) {
            return Ok(());
        }
        malformed("there is no step, or the steps are not positive and ascending in size and in value")
    }

    /// Returns the value of a size. The size must not be negative.
    pub(in crate::proof) fn value(&self, size: i64) -> i64 {
        match self {
            Self::Whole => size,
            Self::Steps(steps) => {
                let index = steps.partition_point(|&(from, _)| from <= size);
                index.checked_sub(1).map_or(0, |index| i64::from(steps[index].1))
            }
        }
    }

    /// Returns the steps, or `None` if the function is the size itself.
    pub fn steps(&self) -> Option<&[(i64, u32)]> {
        if let Self::Steps(steps) = self { Some(steps) } else { None }
    }

    /// Returns the sizes at which the value changes.
    pub(super) fn sizes(&self) -> impl Iterator<Item = i64> + '_ {
        let steps: &[(i64, u32)] = if let Self::Steps(steps) = self { steps } else { &[] };
        steps.iter().map(|&(size, _)| size)
    }
}

/// For a capacity, the maximum sum of values over all multisets of sizes that sum to at most this capacity (an
/// unbounded knapsack problem).
pub(in crate::proof) enum MaxSum {
    /// The function is the size itself, so the maximum sum equals the capacity.
    Whole,
    /// Entry c is the maximum sum of values for the capacity c.
    ByRoom(Vec<i64>),
    /// Entry v - 1 is the minimum capacity for which the maximum sum of values is at least v.
    ByValue(Vec<i64>),
}

impl MaxSum {
    /// Creates the table of the maximum sums for all capacities up to `largest`. Takes O(largest * number of steps).
    pub(in crate::proof) fn by_room(scale: &Scale, largest: u32) -> Result<Self, CertificateError> {
        let Scale::Steps(steps) = scale else { return Ok(Self::Whole) };
        if u64::from(largest) * steps.len() as u64 > MAX_EFFORT {
            return Err(too_many());
        }
        let mut most = vec![0; largest as usize + 1];
        for room in 1..most.len() {
            let with = |&(size, value): &(i64, u32)| {
                Some(most[room.checked_sub(usize::try_from(size).ok()?)?] + i64::from(value))
            };
            most[room] = steps.iter().map_while(with).max().unwrap_or(0);
        }
        Ok(Self::ByRoom(most))
    }

    /// Creates the table of the minimum capacities, for all sums that capacities up to `largest` reach. Takes O(v *
    /// number of steps), where v is the maximum sum of values for the capacity `largest`.
    pub(super) fn by_value(scale: &Scale, largest: i64) -> Result<Self, CertificateError> {
        let Scale::Steps(steps) = scale else { return Ok(Self::Whole) };
        let mut least: Vec<i64> = Vec::new();
        loop {
            // Let v be `least.len() + 1`. Computes the minimum capacity for which the maximum sum of values is at least
            // v. If no combination of steps has values that sum to exactly v, this maximum sum is larger than v.
            let rest = |value: u32| (least.len() + 1).checked_sub(value as usize + 1).map_or(0, |index| least[index]);
            let room = steps.iter().map(|&(size, value)| size.saturating_add(rest(value))).min().unwrap_or(i64::MAX);
            if room > largest || room == i64::MAX {
                return Ok(Self::ByValue(least));
            }
            least.push(room);
            if (least.len() * steps.len()) as u64 > MAX_EFFORT {
                return Err(too_many());
            }
        }
    }

    /// Returns the maximum sum of values for the capacity `room`, which must be from 0 to the largest capacity of the
    /// table.
    pub(in crate::proof) fn at(&self, room: i64) -> i64 {
        match self {
            Self::Whole => room,
            Self::ByRoom(most) => most[room as usize],
            Self::ByValue(least) => least.partition_point(|&least| least <= room) as i64,
        }
    }
}

fn too_many() -> CertificateError {
    CertificateError::Unproved(
        "the functions of the certificate have too many steps, or too fine steps, to check".into(),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Tries all multisets of sizes recursively: either uses the size of the first step once more, or drops this step.
    fn brute_force(steps: &[(i64, u32)], room: i64) -> i64 {
        let Some((&(size, value), rest)) = steps.split_first() else { return 0 };
        let never = brute_force(rest, room);
        if size > room { never } else { never.max(i64::from(value) + brute_force(steps, room - size)) }
    }

    proptest! {
        #[test]
        fn the_most_is_that_of_the_best_multiset(
            raw in prop::collection::btree_map(1_i64..20, 1_u32..9, 1..5),
            largest in 0_u32..40,
        ) {
            let mut last = 0;
            let steps: Vec<(i64, u32)> = raw.into_iter().map(|(size, value)| { last += value; (size, last) }).collect();
            let scale = Scale::Steps(steps.clone());
            prop_assert_eq!(scale.check(), Ok(()));
            let tables = [MaxSum::by_room(&scale, largest).unwrap(), MaxSum::by_value(&scale, i64::from(largest)).unwrap()];
            for room in 0..=i64::from(largest) {
                let expected = brute_force(&steps, room);
                prop_assert_eq!(tables.each_ref().map(|most| most.at(room)), [expected, expected]);
            }
        }
    }

    #[test]
    fn tables_out_of_reach_are_refused() {
        let fine = Scale::Steps(vec![(1, 1)]);
        assert!(matches!(MaxSum::by_value(&fine, i64::MAX), Err(CertificateError::Unproved(_))));
        assert!(matches!(MaxSum::by_room(&fine, u32::MAX), Err(CertificateError::Unproved(_))));
        let huge = Scale::Steps(vec![(i64::MAX - 1, u32::MAX)]);
        assert_eq!(MaxSum::by_value(&Scale::Steps(vec![(5, 3), (i64::MAX, u32::MAX)]), 4).unwrap().at(4), 0);
        assert!(MaxSum::by_value(&huge, i64::MAX - 2).is_ok());
    }
}
