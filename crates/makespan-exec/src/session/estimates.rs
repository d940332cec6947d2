//! Replaces estimates during a run.

use std::collections::BTreeMap;

use makespan_core::{Event, NewTimes, Profile, Run, TaskId};

use super::Session;
use super::active::SessionNews;
use crate::journal::{EqualTimes, JournalRecord};

impl Session<'_> {
    /// Passes a successful run to the estimator, and replaces the estimates that the estimator corrects.
    pub(super) fn learn(&mut self, run: &Run) {
        let Some(estimator) = &mut self.policy.estimator else { return };
        let restated = estimator.ended(self.state.cluster.instance(), run);
        self.restate(restated, true);
    }

    /// Restores the estimates of the earlier sessions, and then passes all successful runs to the estimator. If the
    /// estimator corrects a task several times, only the last correction is used.
    pub fn recall(&mut self, restated: Vec<NewTimes>) {
        self.restate(restated, false);
        let Some(estimator) = &mut self.policy.estimator else { return };
        let mut last: BTreeMap<TaskId, NewTimes> = BTreeMap::new();
        for run in self.state.runs.iter().filter(|run| run.outcome == makespan_core::Outcome::Succeeded) {
            let said = estimator.ended(self.state.cluster.instance(), run);
            last.extend(said.into_iter().map(|restated| (restated.task, restated)));
        }
        self.restate(last.into_values().collect(), true);
    }

    /// Replaces estimates. Records `new` estimates in the journal. The policy receives the new estimates with the
    /// other events.
    pub(super) fn restate(&mut self, restated: Vec<NewTimes>, new: bool) {
        if restated.is_empty() {
            return;
        }
        // The journal states times relative to the times of the instance at the begin of the session. For tasks that
        // arrived later, the journal states times relative to the current times.
        let (first_later, current) = (self.policy.stated.tasks(), self.state.cluster.instance());
        let first = |task: TaskId| current.equal_tasks(task).next().unwrap_or(task);
        let later = restated.iter().map(|one| first(one.task)).filter(|task| task.0 >= first_later);
        let later: BTreeMap<TaskId, Profile> = later.map(|task| (task, current.profile(task).clone())).collect();
        let events = self.state.cluster.restate(restated.clone());
        let of = |event: &Event| if let Event::Estimated(task) = *event { Some(task) } else { None };
        let tasks: Vec<TaskId> = events.iter().filter_map(of).collect();
        if tasks.is_empty() {
            return;
        }
        if new {
            let instance = self.state.cluster.instance();
            let first = |task: TaskId| instance.equal_tasks(task).next().unwrap_or(task);
            let mut changed: Vec<NewTimes> =
                restated.into_iter().map(|one| NewTimes { task: first(one.task), ..one }).collect();
            changed.retain(|restated| tasks.binary_search(&restated.task).is_ok());
            let (at, times) = (
                self.now(),
                EqualTimes::of(&changed, |task| later.get(&task).unwrap_or_else(|| self.policy.stated.profile(task))),
            );
            self.ledger.journal.note(JournalRecord::Estimated { at, times });
        }
        self.policy.events.extend(events);
        self.news.push(SessionNews::Estimated(tasks));
    }
}
