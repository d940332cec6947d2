//! Gangs of running tasks.

use super::Cluster;
use crate::model::TaskId;
use crate::online::Defect;

impl Cluster<'_> {
    /// Returns an error if a task that starts at this instant belongs to a gang, and another task of the gang could still
    /// start but does not start now. The driver calls this function after it has carried out all decisions of an
    /// instant.
    ///
    /// # Errors
    /// [`Defect::Gang`]
    pub fn check_gangs(&self) -> Result<(), Defect> {
        if !self.instance.has_gangs() {
            return Ok(());
        }
        for run in self.running.iter().filter(|run| run.start == self.now) {
            let is_left = |mate: &TaskId| {
                self.may_start(*mate) || self.run_of(*mate).is_some_and(|other| other.start != self.now)
            };
            if let Some(mate) = self.instance.gang_mates(run.task).into_iter().find(is_left) {
                let (job, mate) = (self.name(run.task).into_owned(), self.name(mate).into_owned());
                return Err(Defect::Gang { job, mate });
            }
        }
        Ok(())
    }

    /// Adds to `tasks` the running tasks that belong to a gang of one of these tasks. Tasks of a gang communicate, so
    /// none of them can continue if one of them is interrupted.
    pub fn extend_by_gangs(&self, tasks: &mut Vec<TaskId>) {
        if !self.instance.has_gangs() {
            return;
        }
        let mates = tasks.iter().flat_map(|&task| self.instance.gang_mates(task));
        let running: Vec<TaskId> = mates.filter(|&mate| self.run_of(mate).is_some()).collect();
        tasks.extend(running);
        tasks.sort_unstable();
        tasks.dedup();
    }
}
