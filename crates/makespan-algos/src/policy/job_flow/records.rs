//! What a metascheduler knows of the jobs that were handed over to it.

use std::collections::BTreeMap;

use makespan_core::{Logged, Time};

use super::candidate::Choice;

/// Whole jobs that have been planned.
#[derive(Clone, Debug, Default)]
pub(super) struct JobRecords {
    entries: BTreeMap<usize, Entry>,
}

/// A whole job that has been planned.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// When its walltime is over, in ticks.
    pub deadline: i64,
    /// Whether its last plan ends in time.
    pub in_time: bool,
    /// Its strategy and what is taken of it; none once it had to be planned again in part.
    pub choice: Option<Choice>,
}

impl JobRecords {
    /// What is known of a whole job.
    pub fn get(&self, whole: usize) -> Option<&Entry> {
        self.entries.get(&whole)
    }

    /// When the walltime of a whole job is over, in ticks; never for one that has not been planned.
    pub fn deadline(&self, whole: usize) -> i64 {
        self.get(whole).map_or(i64::MAX, |entry| entry.deadline)
    }

    /// Whether a whole job was given up.
    pub fn is_given_up(&self, whole: usize) -> bool {
        let choice = self.get(whole).and_then(|entry| entry.choice.as_ref());
        choice.is_some_and(|choice| choice.given_up)
    }

    /// Notes what an earlier session told: a walltime that began to count goes on, and a promise binds. The places are gone
    /// with the session.
    pub fn recall(&mut self, whole: usize, told: &Logged) {
        let Some(finish) = told.finish() else { return };
        let deadline = told.deadline().map(Time::ticks).or_else(|| self.get(whole).map(|entry| entry.deadline));
        if let Some(deadline) = deadline {
            let in_time = finish.ticks() <= deadline;
            self.entries.insert(whole, Entry { deadline, in_time, choice: None });
        }
    }

    /// Notes a plan; returned is whether it differs from the one before.
    pub fn note(&mut self, whole: usize, deadline: i64, choice: Choice) -> bool {
        let places = |entry: &Entry| entry.choice.as_ref().map(|choice| choice.offer.places.clone());
        let same = self.get(whole).and_then(places).is_some_and(|places| places == choice.offer.places);
        let changed = !same || choice.given_up;
        self.entries.insert(whole, Entry { deadline, in_time: choice.in_time, choice: Some(choice) });
        changed
    }

    /// Notes that the plan of a whole job now ends then.
    pub fn note_late(&mut self, whole: usize, finish: i64) {
        if let Some(entry) = self.entries.get_mut(&whole) {
            entry.in_time = finish <= entry.deadline;
        }
    }

    /// Notes that a whole job was planned again otherwise than by its strategy.
    pub fn note_again(&mut self, whole: usize, finish: i64) {
        let deadline = self.deadline(whole);
        self.entries.insert(whole, Entry { deadline, in_time: finish <= deadline, choice: None });
    }
}
