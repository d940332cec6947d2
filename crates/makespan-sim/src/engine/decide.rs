//! Carries out the decisions of the policy.

use makespan_core::{Decision, ProcSet, TaskId, Time};

use super::Engine;
use crate::SimulationError;

impl Engine<'_> {
    pub(super) fn decide(&mut self, decision: Decision) -> Result<(), SimulationError> {
        match decision {
            Decision::Start { task, processors } => {
                self.barren = 0;
                self.start(task, processors)
            }
            Decision::Limit { task, time } => {
                self.cluster.check_waiting(task).map_err(|defect| self.defect(defect))?;
                self.granted.insert(task, time);
                Ok(())
            }
            Decision::WakeAt(Time::MAX) => Ok(()),
            Decision::WakeAt(at) => {
                let at = at.max(self.now() + Time::TICK);
                self.agenda.wake = Some(self.agenda.wake.map_or(at, |wake| wake.min(at)));
                Ok(())
            }
            Decision::Cancel(task) => {
                self.barren = 0;
                self.cluster.withdraw(task).map_err(|defect| self.defect(defect))?;
                self.cancelled.push(task);
                self.left -= 1;
                self.abandon(task, self.now());
                Ok(())
            }
        }
    }

    pub(super) fn start(&mut self, task: TaskId, processors: ProcSet) -> Result<(), SimulationError> {
        let start = self.now();
        let started = self.cluster.start_limited(task, processors, self.granted.get(&task).copied());
        let running = started.map_err(|defect| SimulationError::Policy { at: start, defect })?;
        let real = self.actual.time(self.instance, task, &running.processors);
        let walltime = self.instance.walltime(task).filter(|_| self.options.kill_at_walltime);
        let limit = walltime.into_iter().chain(self.granted.remove(&task)).min().filter(|&limit| limit < real);
        let end = start + limit.unwrap_or(real);
        if end == Time::MAX {
            return Err(SimulationError::TooLong(self.instance.name(task).into_owned()));
        }
        self.ends[task.index()] = (end, limit.is_some());
        self.agenda.expect((end, task, limit.is_some()));
        Ok(())
    }
}
