//! Sets deadlines of compound jobs.

use makespan_algos::Context;
use makespan_core::{Instance, Job, Platform, Time};

use crate::GenerateError;

/// Sets the deadline of a job to its release time plus `factor` times the makespan of HEFT's schedule for this job
/// alone on the platform. The product is rounded up to a whole millisecond, so that files can state the deadline
/// exactly.
pub(super) fn state(platform: &Platform, job: &mut Job, factor: f64) -> Result<(), GenerateError> {
    let failed = |reason: String| GenerateError::Algorithm(format!("heft: {reason}"));
    let alone = Instance::new(platform.clone(), vec![job.clone().with_release(Time::ZERO)], Vec::new())?;
    let heft = makespan_algos::scheduler("heft").map_err(|error| failed(error.to_string()))?;
    let plan = heft.schedule(&alone, &mut Context::default()).map_err(|error| failed(error.to_string()))?;
    let schedule = plan.into_schedule().ok_or_else(|| failed("it plans no placements".into()))?;
    let seconds = (schedule.makespan().seconds() * factor * 1e3).ceil() / 1e3;
    job.deadline = Some(job.release + Time::from_seconds_f64(seconds).map_err(|error| failed(error.to_string()))?);
    Ok(())
}
