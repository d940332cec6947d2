//! Guessed run times for tasks whose run times are not stated.

use makespan_core::{Job, Profile, ProfileError, SpeedupLaw, Task, Time};

use crate::speedup::through;

/// Guessed run time of a task on its minimum number of processors.
pub(crate) const GUESS: Time = Time::from_seconds(60);

/// Guessed speed-up of a task. The guess is cautious: on 4 processors, a task runs 3.1 times as fast as on one. It
/// never runs more than 10 times as fast.
pub(crate) const GUESSED_LAW: SpeedupLaw = SpeedupLaw::Amdahl { serial: 0.1 };

/// Returns the guessed profile of a task on `min` to `max` processors. On `min` processors the task takes 60 s, or its
/// walltime if the walltime is shorter. The speed-up on more processors is stated by `law`, or by [`GUESSED_LAW`] if
/// `law` is `None`.
///
/// # Errors
/// [`ProfileError`] if the range is empty or a parameter of the law is out of range.
pub(crate) fn guessed(
    min: u32,
    max: u32,
    law: Option<SpeedupLaw>,
    walltime: Option<Time>,
) -> Result<Profile, ProfileError> {
    timed(walltime.map_or(GUESS, |walltime| walltime.min(GUESS)), min, max, law.unwrap_or(GUESSED_LAW))
}

/// Returns the profile with the run time `time` on `min` processors and the speed-up `law`.
///
/// # Errors
/// As for [`guessed`].
pub(crate) fn timed(time: Time, min: u32, max: u32, law: SpeedupLaw) -> Result<Profile, ProfileError> {
    if min == 0 || min > max {
        return Err(ProfileError::Range { min, max });
    }
    if min == max {
        return Profile::rigid(min, time);
    }
    law.check()?;
    match through(time, min, law, max).and_then(|profile| profile.at_least(min)) {
        Some(profile) => Ok(profile),
        None => Profile::rigid(min, time),
    }
}

/// Shortens each guessed run time to at most the job's walltime. So a guess never causes an error.
pub(crate) fn keep_walltime(job: &mut Job) {
    let Some(walltime) = job.walltime.filter(|walltime| *walltime > Time::ZERO) else { return };
    job.work.tasks_mut().for_each(|task| shorten(task, walltime));
}

fn shorten(task: &mut Task, walltime: Time) {
    let profile = &task.profile;
    if !task.estimate.is_guess() || profile.machine_times().is_some() || profile.longest() <= walltime {
        return;
    }
    let law = profile.speedup().map(|(_, law)| law);
    if let Ok(shorter) = guessed(profile.min_processors(), profile.max_processors(), law, Some(walltime)) {
        task.profile = shorter;
    }
}
