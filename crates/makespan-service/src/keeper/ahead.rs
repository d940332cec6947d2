//! When a running task ends, from its estimate and from tasks that ran at least as long.

use std::collections::{BTreeMap, VecDeque};

use makespan_core::{Time, believed_end};

/// The latest run times that are kept of a kind.
const RECENT: usize = 50;
/// The largest number of kinds; beyond it the table begins again.
const KINDS: usize = 10_000;

/// A running task and what is known of its length.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ahead {
    /// The length that is expected of it.
    pub expected: Time,
    /// The run time after which the job is ended.
    pub walltime: Option<Time>,
    /// Lengths of tasks of its kind, ascending.
    pub lengths: Vec<Time>,
}

impl Ahead {
    /// Returns the length that is expected of a task that runs for `elapsed` now, which is never less, and whether it is known.
    ///
    /// A task that is longer than expected takes the median length of the tasks that are known to have run at least as long. If there is none,
    /// its end is unknown: plans take it to be a quarter later, again and again.
    pub fn length(&self, elapsed: Time) -> (Time, bool) {
        if elapsed < self.expected {
            return (self.expected, true);
        }
        let longer = &self.lengths[self.lengths.partition_point(|&length| length < elapsed)..];
        let (length, is_known) = match longer.get(longer.len() / 2) {
            Some(&length) => (length, true),
            None => (believed_end(Time::ZERO, self.expected, elapsed), false),
        };
        // At the walltime it is ended.
        match self.walltime.filter(|&walltime| walltime <= length) {
            Some(walltime) => (walltime.max(elapsed), is_known),
            None => (length, is_known),
        }
    }
}

/// The lengths of tasks that ended, by kind.
#[derive(Debug, Default)]
pub(super) struct Lengths(BTreeMap<String, VecDeque<Time>>);

impl Lengths {
    /// Adds a task that ended to each of its kinds.
    pub fn add(&mut self, kinds: Vec<String>, length: Time) {
        if self.0.len() > KINDS {
            self.0.clear();
        }
        for kind in kinds {
            let lengths = self.0.entry(kind).or_default();
            if lengths.len() == RECENT {
                lengths.pop_front();
            }
            lengths.push_back(length);
        }
    }

    /// Finds the first of these kinds with a task that ran for `elapsed` or longer, and returns the run times of that kind, ascending.
    pub fn of(&self, kinds: &[String], elapsed: Time) -> Vec<Time> {
        let known = kinds.iter().filter_map(|kind| self.0.get(kind));
        let first = known.into_iter().find(|lengths| lengths.iter().any(|&length| length >= elapsed));
        let mut lengths: Vec<Time> = first.into_iter().flatten().copied().collect();
        lengths.sort_unstable();
        lengths
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ms(milliseconds: i64) -> Time {
        Time::from_ticks(milliseconds * 1_000_000)
    }

    /// Three `sleep 8` of which 0.5 s is expected: the end is unknown until one of them has ended, and then 8 s are expected.
    #[test]
    fn a_task_that_is_longer_than_expected_takes_the_length_of_those_that_were() {
        let mut lengths = Lengths::default();
        (0..3).for_each(|_| lengths.add(vec!["sleep 0.5".into(), "sleep {}".into()], ms(510)));
        let kinds = ["sleep 8".to_owned(), "sleep {}".to_owned()];
        let ahead = |lengths: &Lengths, elapsed| Ahead {
            expected: ms(500),
            walltime: None,
            lengths: lengths.of(&kinds, elapsed),
        };
        assert_eq!(ahead(&lengths, ms(100)).length(ms(100)), (ms(500), true));
        assert_eq!(ahead(&lengths, ms(505)).length(ms(505)), (ms(510), true));
        assert!(!ahead(&lengths, ms(4000)).length(ms(4000)).1);
        lengths.add(kinds.to_vec(), ms(8010));
        assert_eq!(ahead(&lengths, ms(4000)).length(ms(4000)), (ms(8010), true));
        assert!(!ahead(&lengths, ms(9000)).length(ms(9000)).1);
        let limited = Ahead { walltime: Some(ms(10_000)), ..ahead(&lengths, ms(9000)) };
        assert!(limited.length(ms(9900)).0 <= ms(10_000));
    }

    proptest! {
        /// No expected end is in the past, and the expected length never falls while the task runs.
        #[test]
        fn no_end_is_in_the_past(
            expected in 1_i64..2000,
            walltime in proptest::option::of(1_i64..5000),
            lengths in proptest::collection::vec(1_i64..5000, 0..20),
            mut instants in proptest::collection::vec(0_i64..10_000, 1..20),
        ) {
            let mut lengths: Vec<Time> = lengths.into_iter().map(ms).collect();
            lengths.sort_unstable();
            let ahead = Ahead { expected: ms(expected), walltime: walltime.map(ms), lengths };
            instants.sort_unstable();
            let mut before = Time::ZERO;
            for elapsed in instants.into_iter().map(ms) {
                let (length, is_known) = ahead.length(elapsed);
                prop_assert!(length >= elapsed && length >= before);
                prop_assert!(is_known || elapsed >= ahead.expected);
                prop_assert!(is_known || ahead.lengths.iter().all(|&other| other < elapsed));
                before = length;
            }
        }
    }
}
