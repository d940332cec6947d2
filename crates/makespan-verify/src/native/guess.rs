//! Guessed run times for tasks without stated run times.

use makespan_core::{Job, Profile, ProfileError, SpeedupLaw, Task, Time};

/// Guessed run time of a task on its minimum number of processors.
pub const GUESS: Time = Time::from_seconds(60);

/// Guessed speed-up of a task. The guess is cautious: on 4 processors, a task runs 3.1 times as fast as on one. On any
/// number of processors, the task runs at most 10 times as fast.
pub const GUESSED_LAW: SpeedupLaw = SpeedupLaw::Amdahl { serial: 0.1 };

/// Returns the guessed profile of a task on `min` to `max` processors. On `min` processors the task takes 60 s, or its
/// walltime if the walltime is shorter. On more processors, the speed-up follows `law`. If `law` is `None`, it follows
/// [`GUESSED_LAW`].
///
/// # Errors
/// [`ProfileError`] if the range is empty or a parameter of the law is out of range.
pub fn guessed(min: u32, max: u32, law: Option<SpeedupLaw>, walltime: Option<Time>) -> Result<Profile, ProfileError> {
    timed(walltime.map_or(GUESS, |walltime| walltime.min(GUESS)), min, max, law.unwrap_or(GUESSED_LAW))
}

/// Returns the profile with the run time `time` on `min` processors and the speed-up `law`.
///
/// # Errors
/// As for [`guessed`].
pub fn timed(time: Time, min: u32, max: u32, law: SpeedupLaw) -> Result<Profile, ProfileError> {
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

/// Limits each guessed run time to the job's walltime, so that a guess never makes the instance invalid.
pub fn keep_walltime(job: &mut Job) {
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

/// Returns a profile on 1 to `max` processors with the speed-up `law`. Its time on `processors` processors is exactly
/// `time`. Returns `None` if its time on one processor would exceed the maximum time.
pub fn through(time: Time, processors: u32, law: SpeedupLaw, max: u32) -> Option<Profile> {
    let profile = |ticks: i64| Profile::law(Time::from_ticks(ticks), law, 1, max).ok();
    let at = |ticks: i64| profile(ticks).map(|profile| profile.time(processors));
    // If the sequential time grows by one tick, the time on `processors` processors grows by at most one tick. So
    // bisection finds a sequential time for every `time`.
    let guess = time.ticks() as f64 / law.time_fraction(processors);
    let top = (guess * (1.0 + 1e-9)).ceil() + 2.0;
    if top >= (i64::MAX / 2) as f64 {
        return None;
    }
    let (mut low, mut high) = ((guess * (1.0 - 1e-9)).floor() as i64, top as i64);
    low = (low - 2).max(1);
    while low < high {
        let middle = low + (high - low) / 2;
        if at(middle)? >= time { high = middle } else { low = middle + 1 }
    }
    profile(low)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_law_passes_through_the_logged_time(
            ticks in 1_i64..1_000_000_000_000_000, processors in 1_u32..2000, a in 1.0_f64..300.0, sigma in 0.0_f64..2.0,
            kind in 0..4,
        ) {
            let law = match kind {
                0 => SpeedupLaw::Linear {},
                1 => SpeedupLaw::Amdahl { serial: sigma / 2.0 },
                2 => SpeedupLaw::Power { exponent: sigma / 2.0 },
                _ => SpeedupLaw::Downey { parallelism: a, sigma },
            };
            let time = Time::from_ticks(ticks);
            let profile = through(time, processors, law, 2000).unwrap();
            prop_assert_eq!(profile.time(processors), time);
        }
    }
}
