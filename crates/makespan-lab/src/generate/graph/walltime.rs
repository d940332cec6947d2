//! Walltimes that a user could ask for.

use makespan_core::{Context, Instance, Job, Platform, Time};

use crate::LabError;

/// Gives a job the walltime of so many times HEFT's makespan for it alone on idle processors, rounded up to a millisecond,
/// which is exact in files.
pub(super) fn state(platform: &Platform, job: &mut Job, factor: f64) -> Result<(), LabError> {
    let failed = |reason: String| LabError::Algorithm(format!("heft: {reason}"));
    let alone = Instance::new(platform.clone(), vec![job.clone().with_release(Time::ZERO)], Vec::new())?;
    let heft = makespan_algos::scheduler("heft").map_err(|error| failed(error.to_string()))?;
    let plan = heft.schedule(&alone, &mut Context::default()).map_err(|error| failed(error.to_string()))?;
    let schedule = plan.into_schedule().ok_or_else(|| failed("it plans no placements".into()))?;
    let seconds = (schedule.makespan().seconds() * factor * 1e3).ceil() / 1e3;
    job.walltime = Some(Time::from_seconds_f64(seconds).map_err(|error| failed(error.to_string()))?);
    Ok(())
}
