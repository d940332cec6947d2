//! Starts that are delayed, in the order of the instants at which they are due.

use std::collections::{BTreeMap, BTreeSet};

use makespan_core::{ProcSet, TaskId, Time};

/// The first pause after a refused start. The pause doubles up to `LONGEST_PAUSE`.
pub(super) const FIRST_PAUSE: Time = Time::from_ticks(50_000_000);
const LONGEST_PAUSE: Time = Time::from_ticks(5_000_000_000);

/// A start that is tried later, because starts are held or because the system temporarily refused the start.
#[derive(Clone, Debug)]
pub(crate) struct DelayedStart {
    pub task: TaskId,
    pub processors: ProcSet,
    pub due: Time,
    /// Pause after another refusal.
    pub pause: Time,
}

impl DelayedStart {
    /// Returns whether the system has refused this start.
    pub fn was_refused(&self) -> bool {
        self.pause > FIRST_PAUSE
    }

    /// Returns this start after the system refused it at an instant.
    pub fn refused(self, at: Time) -> Self {
        Self { due: at + self.pause, pause: LONGEST_PAUSE.min(self.pause + self.pause), ..self }
    }
}

/// A due instant, and the number of earlier additions to [`DelayedStarts`].
type Place = (Time, u64);

/// Delayed starts, at most one for each task. Starts that are due at one instant keep the order in which they were added.
///
/// All operations take logarithmic time.
#[derive(Debug, Default)]
pub(crate) struct DelayedStarts {
    starts: BTreeMap<Place, DelayedStart>,
    places: BTreeMap<TaskId, Place>,
    refused: BTreeSet<Place>,
    added: u64,
}

impl DelayedStarts {
    /// Adds a start. Replaces an earlier start of its task.
    pub fn add(&mut self, delayed: DelayedStart) {
        self.remove(delayed.task);
        let place = (delayed.due, self.added);
        self.added += 1;
        self.places.insert(delayed.task, place);
        if delayed.was_refused() {
            self.refused.insert(place);
        }
        self.starts.insert(place, delayed);
    }

    /// Removes the start of a task. Returns whether there was one.
    pub fn remove(&mut self, task: TaskId) -> bool {
        let Some(place) = self.places.remove(&task) else { return false };
        self.refused.remove(&place);
        self.starts.remove(&place).is_some()
    }

    /// Removes and returns the first start if it is due at an instant.
    pub fn take_due(&mut self, now: Time) -> Option<DelayedStart> {
        let task = self.starts.first_key_value().filter(|((due, _), _)| *due <= now)?.1.task;
        let place = self.places.remove(&task)?;
        self.refused.remove(&place);
        self.starts.remove(&place)
    }

    /// Makes the earliest refused start due at `now`, unless it is already due at or before `now`.
    pub fn hasten_refused(&mut self, now: Time) {
        let Some(place) = self.refused.first().copied().filter(|&(due, _)| due > now) else { return };
        if let Some(delayed) = self.starts.get(&place).cloned() {
            self.add(DelayedStart { due: now, ..delayed });
        }
    }

    /// Returns the instant at which the first start is due.
    pub fn next(&self) -> Option<Time> {
        self.starts.first_key_value().map(|((due, _), _)| *due)
    }

    pub fn contains(&self, task: TaskId) -> bool {
        self.places.contains_key(&task)
    }

    pub fn iter(&self) -> impl Iterator<Item = &DelayedStart> {
        self.starts.values()
    }

    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A change of the delayed starts: its kind, the task, and the instant.
    type Change = (u8, u64, i64);

    fn delayed(task: u64, due: i64, is_refused: bool) -> DelayedStart {
        let pause = if is_refused { FIRST_PAUSE + FIRST_PAUSE } else { FIRST_PAUSE };
        DelayedStart { task: TaskId(task), processors: "0".parse().unwrap(), due: Time::from_ticks(due), pause }
    }

    proptest! {
        /// The starts behave as a list that is searched from the front.
        #[test]
        fn starts_are_taken_in_the_order_of_a_list(changes in prop::collection::vec((0..5_u8, 0..6_u64, 0..4_i64), 0..60)) {
            let (mut starts, mut list): (DelayedStarts, Vec<(u64, i64, bool)>) = Default::default();
            for (kind, task, at) in changes as Vec<Change> {
                match kind {
                    0 | 1 => {
                        starts.add(delayed(task, at, kind == 1));
                        list.retain(|entry| entry.0 != task);
                        list.push((task, at, kind == 1));
                    }
                    2 => {
                        let count = list.len();
                        list.retain(|entry| entry.0 != task);
                        prop_assert_eq!(starts.remove(TaskId(task)), list.len() < count);
                    }
                    3 => {
                        let first = list.iter().map(|entry| entry.1).min().filter(|&due| due <= at);
                        let index = list.iter().position(|entry| Some(entry.1) == first);
                        let expected = index.map(|index| TaskId(list.remove(index).0));
                        prop_assert_eq!(starts.take_due(Time::from_ticks(at)).map(|taken| taken.task), expected);
                    }
                    _ => {
                        starts.hasten_refused(Time::from_ticks(at));
                        let first = list.iter().filter(|entry| entry.2).map(|entry| entry.1).min();
                        let index = list.iter().position(|entry| entry.2 && Some(entry.1) == first);
                        if let Some(index) = index.filter(|_| first > Some(at)) {
                            let (task, _, is_refused) = list.remove(index);
                            list.push((task, at, is_refused));
                        }
                    }
                }
                prop_assert_eq!(starts.next(), list.iter().map(|entry| Time::from_ticks(entry.1)).min());
                prop_assert_eq!(starts.iter().count(), list.len());
                prop_assert!((0..6).all(|task| starts.contains(TaskId(task)) == list.iter().any(|entry| entry.0 == task)));
                prop_assert_eq!(starts.is_empty(), list.is_empty());
            }
        }
    }
}
