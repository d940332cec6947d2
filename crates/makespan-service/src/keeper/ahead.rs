//! Predicts the end of a running task. The prediction uses the estimate of the task, and the run times of ended tasks
//! that ran at least as long as the task has run so far.

use std::collections::{BTreeMap, VecDeque};

use makespan_core::{Time, believed_end};

/// Maximum number of run times that are stored for each kind of task. Older run times are discarded.
const RECENT: usize = 50;
/// Maximum number of kinds of tasks in the table. If there are more kinds, the table is cleared.
const KINDS: usize = 10_000;

/// Data for predicting the length of a running task.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LengthPredictor {
    /// Expected length of the task.
    pub expected: Time,
    /// Walltime limit of the task.
    pub walltime: Option<Time>,
    /// Lengths of ended tasks of the same kind, in ascending order.
    pub lengths: Vec<Time>,
}

impl LengthPredictor {
    /// Returns the expected length of a task that has run for `elapsed`, and whether this length is based on data
    /// (`true`) or assumed (`false`). The length is at least `elapsed`.
    ///
    /// If a task has run longer than its estimate, the expected length is the median length of the ended tasks that
    /// ran for at least `elapsed`. If there is no such ended task, the end is unknown. If the end is unknown, the
    /// assumed length is a quarter longer than the estimate. Whenever the task exceeds the assumed length, this length
    /// is extended by a quarter.
    pub fn length(&self, elapsed: Time) -> (Time, bool) {
        if elapsed < self.expected {
            return (self.expected, true);
        }
        let longer = &self.lengths[self.lengths.partition_point(|&length| length < elapsed)..];
        let (length, is_known) = match longer.get(longer.len() / 2) {
            Some(&length) => (length, true),
            None => (believed_end(Time::ZERO, self.expected, elapsed), false),
        };
        // The engine ends a task at its walltime.
        match self.walltime.filter(|&walltime| walltime <= length) {
            Some(walltime) => (walltime.max(elapsed), is_known),
            None => (length, is_known),
        }
    }
}

/// Lengths of ended tasks, by kind.
#[derive(Debug, Default)]
pub(super) struct Lengths(BTreeMap<String, VecDeque<Time>>);

impl Lengths {
    /// Adds the length of an ended task to each kind of this task.
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

    /// Returns the run times of the ended tasks of one kind, in ascending order. The kind is the first in `kinds` with
    /// an ended task that ran for at least `elapsed`.
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

    /// Checks a job `sleep 8` that is expected to take 0.5 s. The end is unknown while the job runs longer than every
    /// ended job. When another job `sleep 8` has ended, the expected length is 8 s.
    #[test]
    fn a_task_that_is_longer_than_expected_takes_the_length_of_those_that_were() {
        let mut lengths = Lengths::default();
        (0..3).for_each(|_| lengths.add(vec!["sleep 0.5".into(), "sleep {}".into()], ms(510)));
        let kinds = ["sleep 8".to_owned(), "sleep {}".to_owned()];
        let ahead = |lengths: &Lengths, elapsed| LengthPredictor {
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
        let limited = LengthPredictor { walltime: Some(ms(10_000)), ..ahead(&lengths, ms(9000)) };
        assert!(limited.length(ms(9900)).0 <= ms(10_000));
    }

    proptest! {
        /// Checks that the expected end is never in the past, and that the expected length never falls while the task
        /// runs.
        #[test]
        fn no_end_is_in_the_past(
            expected in 1_i64..2000,
            walltime in proptest::option::of(1_i64..5000),
            lengths in proptest::collection::vec(1_i64..5000, 0..20),
            mut instants in proptest::collection::vec(0_i64..10_000, 1..20),
        ) {
            let mut lengths: Vec<Time> = lengths.into_iter().map(ms).collect();
            lengths.sort_unstable();
            let ahead = LengthPredictor { expected: ms(expected), walltime: walltime.map(ms), lengths };
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
