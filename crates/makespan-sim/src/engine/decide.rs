//! What the policy wants is done.

use makespan_core::{Decision, JobId, ProcSet, Running, Time};

use super::Engine;
use crate::SimulationError;

impl Engine<'_> {
    pub(super) fn decide(&mut self, decision: Decision) -> Result<(), SimulationError> {
        match decision {
            Decision::Start { job, processors } => {
                self.barren = 0;
                self.start(job, processors)
            }
            Decision::WakeAt(Time::MAX) => Ok(()),
            Decision::WakeAt(at) => {
                let at = at.max(self.now() + Time::TICK);
                self.agenda.wake = Some(self.agenda.wake.map_or(at, |wake| wake.min(at)));
                Ok(())
            }
            Decision::Cancel(job) => {
                self.barren = 0;
                self.cluster.withdraw(job).map_err(|defect| self.defect(defect))?;
                self.cancelled.push(job);
                self.left -= 1;
                self.abandon(job, self.now());
                Ok(())
            }
        }
    }

    fn start(&mut self, job: JobId, processors: ProcSet) -> Result<(), SimulationError> {
        let admitted = self.cluster.admit(job, &processors);
        let at_hand = admitted.and_then(|()| self.cluster.check_data(job, &processors));
        at_hand.and_then(|()| self.cluster.check_open(job, &processors)).map_err(|defect| self.defect(defect))?;
        let real = self.actual.time(self.instance, job, &processors);
        let limit = self.instance.job(job).walltime.filter(|&limit| self.options.kill_at_walltime && limit < real);
        let start = self.now();
        let end = start + limit.unwrap_or(real);
        if end == Time::MAX {
            return Err(SimulationError::TooLong(self.cluster.name(job).to_owned()));
        }
        self.ends[job.index()] = (end, limit.is_some());
        self.agenda.expect((end, job, limit.is_some()));
        self.cluster.begin(Running { job, start, processors });
        Ok(())
    }
}
