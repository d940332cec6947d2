//! Instances with unknown run times.

use makespan_core::{Actual, Estimate, Instance, InstanceError, Job, Profile, Time};

/// The guessed time of every task on its minimum number of processors.
const GUESS: Time = Time::from_seconds(60);

/// Returns the instance with guessed times for all tasks, and the real times.
///
/// The guess for each task is a minute on its minimum number of processors, or the walltime of the task if the
/// walltime is shorter. Policies still know the speed-up of each task. Simulations of the returned instance show the
/// effect of unknown or learned run times on a policy
/// ([`SimulationOptions::estimation`](crate::SimulationOptions::estimation)).
///
/// # Errors
/// [`InstanceError`] if some task, with its guessed time, cannot run on any processors within its walltime.
pub fn unknown(instance: &Instance, actual: &Actual) -> Result<(Instance, Actual), InstanceError> {
    let profiles: Vec<Profile> = instance.task_ids().map(|task| actual.profile(instance, task)).collect();
    let mut jobs = instance.all_submitted();
    jobs.iter_mut().for_each(forget);
    let told = Instance::new(instance.platform().clone(), jobs, instance.unavailable().to_vec())?;
    Ok((told, Actual::Profiles(profiles)))
}

fn forget(job: &mut Job) {
    let guess = job.walltime.map_or(GUESS, |walltime| walltime.min(GUESS));
    for task in job.work.tasks_mut() {
        task.profile = task.profile.clone().lasting(guess);
        task.estimate = Estimate::Guessed;
    }
}
