//! The amount of something that tasks use over time.

use makespan_core::Time;

/// The amount in use over time: from each instant on, the amount until the next instant. Before the first instant, the
/// amount is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Levels(Vec<(Time, i128)>);

/// An amount in use from a start to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    pub start: Time,
    pub end: Time,
    pub amount: i128,
}

impl Levels {
    /// Returns the sum of several uses.
    pub fn of(uses: impl IntoIterator<Item = Use>) -> Self {
        let uses = uses.into_iter().filter(|one| one.start < one.end);
        let mut changes: Vec<(Time, i128)> =
            uses.flat_map(|one| [(one.start, one.amount), (one.end, -one.amount)]).collect();
        changes.sort_unstable();
        let mut steps: Vec<(Time, i128)> = Vec::with_capacity(changes.len());
        let mut level = 0;
        for (at, change) in changes {
            level += change;
            match steps.last_mut() {
                Some(last) if last.0 == at => last.1 = level,
                _ => steps.push((at, level)),
            }
        }
        Self(steps)
    }

    /// Adds a use, which may have a negative amount.
    pub fn add(&mut self, one: Use) {
        if one.start < one.end {
            let first = self.step_at(one.start);
            let last = self.step_at(one.end);
            self.0[first..last].iter_mut().for_each(|step| step.1 += one.amount);
        }
    }

    /// Returns the position of the step at this instant. If there is none, inserts the step.
    fn step_at(&mut self, at: Time) -> usize {
        match self.0.binary_search_by_key(&at, |step| step.0) {
            Ok(found) => found,
            Err(place) => {
                let level = place.checked_sub(1).map_or(0, |before| self.0[before].1);
                self.0.insert(place, (at, level));
                place
            }
        }
    }

    /// Returns true if the amount in use is at most `most` at every instant from `start` to `end`. The use `without`,
    /// which must be a part of these levels, is left out.
    pub fn are_within(&self, (start, end): (Time, Time), most: i128, without: Option<Use>) -> bool {
        let first = self.0.partition_point(|step| step.0 <= start).saturating_sub(1);
        let fits = |&(at, level): &(Time, i128)| {
            let own = without.filter(|own| own.start <= at && at < own.end).map_or(0, |own| own.amount);
            level - own <= most
        };
        let is_empty_before = self.0.first().is_none_or(|step| step.0 > start);
        (!is_empty_before || most >= 0) && self.0[first..].iter().take_while(|step| step.0 < end).all(fits)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares levels with an array of the amounts at each tick.
        #[test]
        fn levels_are_the_sums_of_their_uses(
            uses in prop::collection::vec((0_i64..20, 0_i64..10, 1_i128..5), 0..12),
            known in 0_usize..12, (start, length, most) in (0_i64..25, 1_i64..10, 0_i128..12), left_out in 0_usize..12,
        ) {
            let time = Time::from_ticks;
            let uses: Vec<Use> = uses.into_iter()
                .map(|(start, length, amount)| Use { start: time(start), end: time(start + length), amount }).collect();
            let known = known.min(uses.len());
            let mut levels = Levels::of(uses[..known].iter().copied());
            uses[known..].iter().for_each(|&one| levels.add(one));
            let without = uses.get(left_out).copied();
            let at = |tick: i64| -> i128 {
                let runs = |one: &&Use| one.start <= time(tick) && time(tick) < one.end;
                let sum = |all: &[Use]| all.iter().filter(runs).map(|one| one.amount).sum::<i128>();
                sum(&uses) - without.map_or(0, |one| sum(&[one]))
            };
            let expected = (start..start + length).all(|tick| at(tick) <= most);
            prop_assert_eq!(levels.are_within((time(start), time(start + length)), most, without), expected);
        }
    }
}
