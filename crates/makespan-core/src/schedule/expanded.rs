//! Schedules of an instance whose tasks are jobs, and of the original.

use crate::model::{Expansion, JobId};
use crate::schedule::{Placement, Schedule};

impl Expansion {
    /// A placement of the expanded instance, in the terms of the original.
    pub fn original(&self, placement: &Placement) -> Placement {
        let (job, task) = self.tasks[placement.job.index()];
        let is_whole = self.instance.job(placement.job).is_compound();
        Placement { job, task: if is_whole { placement.task } else { task }, ..placement.clone() }
    }

    /// A schedule of the expanded instance, in the terms of the original.
    pub fn original_schedule(&self, schedule: &Schedule) -> Schedule {
        let original = |(placement, group)| (self.original(placement), group);
        Schedule::with_groups(schedule.grouped().map(original).collect())
    }

    /// A schedule of the original, in the terms of the expanded instance, of which it must not lack a job.
    pub fn expanded_schedule(&self, schedule: &Schedule) -> Schedule {
        let expanded = |placement: &Placement| {
            let job = JobId(self.first[placement.job.index()] + placement.task);
            Placement { job, task: 0, ..placement.clone() }
        };
        Schedule::new(schedule.placements().iter().map(expanded).collect())
    }
}
