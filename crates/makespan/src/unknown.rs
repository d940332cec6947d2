//! Times that nobody tells a policy.

use makespan_core::{Actual, Estimate, Instance, InstanceError, Job, Profile, TaskId, Time};

/// What every task is guessed to take on its fewest processors.
const GUESS: Time = Time::from_seconds(60);

/// The same instance where nobody knows how long a task takes, and how long each really takes.
///
/// Each task is guessed to take a minute on its fewest processors, or its walltime if that is shorter; how it speeds up is told. A log is
/// replayed so to see what a policy makes of times that it does not know, or that it learns ([`SimulationOptions::estimation`](crate::SimulationOptions::estimation)).
///
/// # Errors
/// [`InstanceError`] where walltimes leave a task nowhere to run that takes a minute.
pub fn unknown(instance: &Instance, actual: &Actual) -> Result<(Instance, Actual), InstanceError> {
    let real = |task: TaskId| match actual {
        Actual::AsEstimated => instance.profile(task).clone(),
        Actual::Profiles(profiles) => profiles[task.index()].clone(),
        Actual::Factors(factors) => {
            let profile = instance.profile(task).clone();
            let ticks = i128::from(profile.longest().ticks()) * i128::from(factors[task.index()]) / 1_000_000;
            profile.lasting(Time::from_ticks(i64::try_from(ticks).unwrap_or(i64::MAX).max(1)))
        }
    };
    let profiles: Vec<Profile> = instance.task_ids().map(real).collect();
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
