//! The promise to the job that has waited longest.

use makespan_core::{Instance, Schedule, Time, Weight};

use crate::redact::job_of_name;
use crate::words::JobNumber;

/// Factor of the weight of a job that must not start later.
const URGENT: u64 = 1_000_000;

/// The latest start that was promised to the job that has waited longest. If a new plan would start this job later, the
/// plan is made again with a large weight of this job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Promise {
    pub job: JobNumber,
    pub latest: Time,
}

impl Promise {
    /// Returns the promise after a plan: the job that has waited longest waits at most twice as long as planned. A
    /// promised latest start is never postponed.
    pub fn renewed(before_plan: Option<Self>, oldest: JobNumber, submitted: Time, start: Time) -> Self {
        let latest = start + start.saturating_since(submitted);
        let before = before_plan.filter(|before| before.job == oldest);
        Self { job: oldest, latest: before.map_or(latest, |before| before.latest.min(latest)) }
    }

    /// Returns the start of the job in a plan.
    pub fn start(self, instance: &Instance, schedule: &Schedule) -> Option<Time> {
        let own =
            schedule.placements().iter().filter(|at| job_of_name(&instance.job_of(at.task).name) == Some(self.job));
        own.map(|at| at.start).min()
    }

    /// Returns the instance with a large weight of the job.
    pub fn urgent(self, instance: &Instance) -> Result<Instance, String> {
        let mut jobs = instance.all_submitted();
        for job in jobs.iter_mut().filter(|job| job_of_name(&job.name) == Some(self.job)) {
            let weight = job.weight.millionths().max(1).saturating_mul(URGENT);
            job.weight = Weight::from_millionths(weight).map_err(|error| error.to_string())?;
        }
        Ok(instance.with_jobs(jobs))
    }
}
