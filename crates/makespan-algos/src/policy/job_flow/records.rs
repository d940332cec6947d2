//! What a metascheduler knows of the jobs that were handed over to it.

use std::collections::BTreeMap;

use makespan_core::{JobId, Logged, Time};

use super::choice::Choice;

/// Jobs that have been planned.
#[derive(Clone, Debug, Default)]
pub(super) struct JobRecords {
    entries: BTreeMap<JobId, Entry>,
}

/// A job that has been planned.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// By when it has to end, in ticks.
    pub deadline: i64,
    /// Whether its last plan ends in time.
    pub in_time: bool,
    /// Its strategy and what is taken of it; none once it had to be planned again in part.
    pub choice: Option<Choice>,
}

impl JobRecords {
    /// What is known of a job.
    pub fn get(&self, job: JobId) -> Option<&Entry> {
        self.entries.get(&job)
    }

    /// By when a job has to end, in ticks; `i64::MAX` for one that has not been planned.
    pub fn deadline(&self, job: JobId) -> i64 {
        self.get(job).map_or(i64::MAX, |entry| entry.deadline)
    }

    /// Whether a job was given up.
    pub fn is_given_up(&self, job: JobId) -> bool {
        let choice = self.get(job).and_then(|entry| entry.choice.as_ref());
        choice.is_some_and(|choice| choice.given_up)
    }

    /// Notes what an earlier session told: a deadline stays, and a promise binds. The places are gone
    /// with the session.
    pub fn recall(&mut self, job: JobId, told: &Logged) {
        let Some(finish) = told.finish() else { return };
        let deadline = told.deadline().map(Time::ticks).or_else(|| self.get(job).map(|entry| entry.deadline));
        if let Some(deadline) = deadline {
            let in_time = finish.ticks() <= deadline;
            self.entries.insert(job, Entry { deadline, in_time, choice: None });
        }
    }

    /// Notes a plan; returned is whether it differs from the one before.
    pub fn note(&mut self, job: JobId, deadline: i64, choice: Choice) -> bool {
        let places = |entry: &Entry| entry.choice.as_ref().map(|choice| choice.offer.places.clone());
        let same = self.get(job).and_then(places).is_some_and(|places| places == choice.offer.places);
        let changed = !same || choice.given_up;
        self.entries.insert(job, Entry { deadline, in_time: choice.in_time, choice: Some(choice) });
        changed
    }

    /// The strategy of a job rests on times that are other now. One that was given up stays so.
    pub fn forget_strategy(&mut self, job: JobId) {
        if let Some(entry) = self.entries.get_mut(&job) {
            entry.choice = entry.choice.take().filter(|choice| choice.given_up);
        }
    }

    /// Notes that the plan of a job now ends then.
    pub fn note_late(&mut self, job: JobId, finish: i64) {
        if let Some(entry) = self.entries.get_mut(&job) {
            entry.in_time = finish <= entry.deadline;
        }
    }

    /// Notes that a job was planned again otherwise than by its strategy.
    pub fn note_again(&mut self, job: JobId, finish: i64) {
        let deadline = self.deadline(job);
        self.entries.insert(job, Entry { deadline, in_time: finish <= deadline, choice: None });
    }
}
