//! The data that a metascheduler stores about planned jobs.

use std::collections::BTreeMap;

use makespan_core::{JobId, LoggedDecision, Time};

use super::choice::FlowChoice;

/// The jobs that have been planned.
#[derive(Clone, Debug, Default)]
pub(super) struct JobRecords {
    entries: BTreeMap<JobId, PlannedJob>,
}

/// A job that has been planned.
#[derive(Clone, Debug)]
pub(super) struct PlannedJob {
    /// The instant by which the job must end, in ticks.
    pub deadline: i64,
    /// Whether the last plan of the job ends in time.
    pub in_time: bool,
    /// The strategy of the job and the variant that was last chosen for the whole job. `None` if the strategy is
    /// unknown or was discarded.
    pub choice: Option<FlowChoice>,
}

impl JobRecords {
    /// Returns the data of a job.
    pub fn get(&self, job: JobId) -> Option<&PlannedJob> {
        self.entries.get(&job)
    }

    /// Returns the instant by which a job must end, in ticks. Returns `i64::MAX` if the job has not been planned.
    pub fn deadline(&self, job: JobId) -> i64 {
        self.get(job).map_or(i64::MAX, |entry| entry.deadline)
    }

    /// Returns whether a job was cancelled.
    pub fn is_given_up(&self, job: JobId) -> bool {
        let choice = self.get(job).and_then(|entry| entry.choice.as_ref());
        choice.is_some_and(|choice| choice.given_up)
    }

    /// Records the deadline of a job, and whether the plan met the deadline, from a log entry of an earlier session.
    /// Log entries do not contain the places of tasks.
    pub fn recall(&mut self, job: JobId, told: &LoggedDecision) {
        let Some(finish) = told.finish() else { return };
        let deadline = told.deadline().map(Time::ticks).or_else(|| self.get(job).map(|entry| entry.deadline));
        if let Some(deadline) = deadline {
            let in_time = finish.ticks() <= deadline;
            self.entries.insert(job, PlannedJob { deadline, in_time, choice: None });
        }
    }

    /// Records a plan. Returns true if the places of tasks differ from the places in the previous plan, or if the job
    /// is cancelled.
    pub fn note(&mut self, job: JobId, deadline: i64, choice: FlowChoice) -> bool {
        let places = |entry: &PlannedJob| entry.choice.as_ref().map(|choice| choice.offer.places.clone());
        let same = self.get(job).and_then(places).is_some_and(|places| places == choice.offer.places);
        let changed = !same || choice.given_up;
        self.entries.insert(job, PlannedJob { deadline, in_time: choice.in_time, choice: Some(choice) });
        changed
    }

    /// Discards the strategy of a job because its run times have changed. If the job was cancelled, it stays
    /// cancelled.
    pub fn forget_strategy(&mut self, job: JobId) {
        if let Some(entry) = self.entries.get_mut(&job) {
            entry.choice = entry.choice.take().filter(|choice| choice.given_up);
        }
    }

    /// Records whether a planned job that is expected to end at `finish` is in time.
    pub fn note_late(&mut self, job: JobId, finish: i64) {
        if let Some(entry) = self.entries.get_mut(&job) {
            entry.in_time = finish <= entry.deadline;
        }
    }

    /// Records that the remaining tasks of a job were planned again. The job keeps its strategy.
    pub fn note_again(&mut self, job: JobId, finish: i64) {
        let deadline = self.deadline(job);
        let choice = self.entries.remove(&job).and_then(|entry| entry.choice);
        self.entries.insert(job, PlannedJob { deadline, in_time: finish <= deadline, choice });
    }
}
