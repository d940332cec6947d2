//! Reads the run times of a job or a task in a native file.

use makespan_core::{Estimate, Platform, Profile, Time};

use super::values::{Allotments, EstimateEntry, OneOrMany, SpeedupEntry, TimesOn};
use crate::native::guess::guessed;
use crate::native::milestones::check_keys;
use crate::native::scalar::Scalar;

/// Run times of a job or a task, as written in the file.
pub(super) struct TimeFields {
    pub(super) time: Option<OneOrMany<Time, Scalar<Time>>>,
    pub(super) work: Option<Scalar<Time>>,
    pub(super) time_on: Option<TimesOn>,
    pub(super) speedup: Option<SpeedupEntry>,
    pub(super) estimate: Option<EstimateEntry>,
}

/// Run times of a task, their source, and the names of the nodes if the times differ between nodes.
pub(super) struct TaskTimes {
    pub(super) profile: Profile,
    pub(super) estimate: Estimate,
    pub(super) nodes: Option<Vec<String>>,
}

impl TimeFields {
    /// Returns true if the stated time is 0 on every allotment.
    pub(super) fn is_of_milestone(&self) -> bool {
        match &self.time {
            Some(OneOrMany::One(time)) => *time == Time::ZERO,
            Some(OneOrMany::Many(times)) => !times.is_empty() && times.iter().all(|time| time.0 == Time::ZERO),
            None => false,
        }
    }

    /// Replaces the times of a milestone by the shortest time. The task of the milestone is removed later.
    ///
    /// # Errors
    /// A message if the milestone also states `work`, or times or speed-ups in another form.
    pub(super) fn of_milestone(self) -> Result<Self, String> {
        check_keys(&[
            ("work", self.work.is_some()),
            ("time_on", self.time_on.is_some()),
            ("speedup", self.speedup.is_some()),
            ("estimate", self.estimate.is_some()),
        ])?;
        Ok(Self { time: Some(OneOrMany::One(Time::TICK)), ..self })
    }
}

/// Returns the stated run times, or a guess if none are stated.
pub(super) fn times(fields: TimeFields, allotments: Option<Allotments>) -> Result<TaskTimes, String> {
    let TimeFields { time, work, time_on, speedup, estimate } = fields;
    if time.is_none() && work.is_none() && time_on.is_none() {
        if !estimate.is_none_or(|estimate| estimate.0.is_guess()) {
            return Err(
                "`estimate` states the source of a run time, but there is no run time; write `time` or `work`, or \
                 remove `estimate`"
                    .to_owned(),
            );
        }
        let (min, max) = range(allotments);
        let alone = allotments.is_none() && speedup.is_none();
        let max = max.unwrap_or(if alone { 1 } else { Platform::MAX_PROCESSORS });
        let profile = guessed(min.unwrap_or(1), max, speedup.map(Into::into), None);
        let profile = profile.map_err(|error| error.to_string())?;
        return Ok(TaskTimes { profile, estimate: Estimate::Guessed, nodes: None });
    }
    let (profile, nodes) = profile(time, work, time_on, speedup, allotments)?;
    Ok(TaskTimes { profile, estimate: estimate.map_or(Estimate::Stated, |estimate| estimate.0), nodes })
}

fn profile(
    time: Option<OneOrMany<Time, Scalar<Time>>>,
    work: Option<Scalar<Time>>,
    time_on: Option<TimesOn>,
    speedup: Option<SpeedupEntry>,
    allotments: Option<Allotments>,
) -> Result<(Profile, Option<Vec<String>>), String> {
    let Some(TimesOn(pairs)) = time_on else {
        return Ok((profile_by_number(time, work, speedup, allotments)?, None));
    };
    if time.is_some() || work.is_some() || speedup.is_some() {
        return Err("`time_on` replaces `time`, `work` and `speedup`; remove these keys".to_owned());
    }
    let (nodes, times) = pairs.into_iter().unzip();
    Ok((on_machines(times, allotments)?, Some(nodes)))
}

/// Returns the profile with these times, in the order of the file.
fn on_machines(times: Vec<Time>, allotments: Option<Allotments>) -> Result<Profile, String> {
    match range(allotments) {
        (None | Some(1), None | Some(1)) => Profile::on_machines(times).map_err(|error| error.to_string()),
        _ => Err("`time_on` is the time on one processor; remove `processors`".to_owned()),
    }
}

fn profile_by_number(
    time: Option<OneOrMany<Time, Scalar<Time>>>,
    work: Option<Scalar<Time>>,
    speedup: Option<SpeedupEntry>,
    allotments: Option<Allotments>,
) -> Result<Profile, String> {
    match (time, work, speedup) {
        (Some(_), Some(_), _) => Err("both `time` and `work` are stated; remove one of them".to_owned()),
        (None, None, _) => Err("the run time is missing; write `time`, `work` or `time_on`".to_owned()),
        (Some(_), None, Some(_)) => {
            Err("`speedup` requires `work` instead of `time`; write `work`, or remove `speedup`".to_owned())
        }
        (Some(OneOrMany::One(time)), None, None) => rigid(time, allotments),
        (Some(OneOrMany::Many(times)), None, None) => table(times, allotments),
        (None, Some(work), None) => sequential(work.0, allotments),
        (None, Some(work), Some(law)) => {
            let (min, max) = range(allotments);
            // If no maximum is stated, the instance later lowers this maximum to the size of the platform.
            let max = max.unwrap_or(Platform::MAX_PROCESSORS);
            Profile::law(work.0, law.into(), min.unwrap_or(1), max).map_err(|error| error.to_string())
        }
    }
}

fn rigid(time: Time, allotments: Option<Allotments>) -> Result<Profile, String> {
    match allotments {
        Some(Allotments::Range { .. }) => {
            Err("`time` is one time, but `processors` is a range; write one number of processors, or a list of times, \
                 or `work` and `speedup`"
                .to_owned())
        }
        Some(Allotments::Exactly(processors)) => Profile::rigid(processors, time).map_err(|error| error.to_string()),
        None => Profile::rigid(1, time).map_err(|error| error.to_string()),
    }
}

fn sequential(work: Time, allotments: Option<Allotments>) -> Result<Profile, String> {
    match range(allotments) {
        (None | Some(1), None | Some(1)) => Profile::rigid(1, work).map_err(|error| error.to_string()),
        _ => Err("`work` on several processors needs a `speedup`, such as {\"amdahl\": {\"serial\": 0.05}}".to_owned()),
    }
}

fn table(times: Vec<Scalar<Time>>, allotments: Option<Allotments>) -> Result<Profile, String> {
    let (min, max) = range(allotments);
    let (min, max) = (min.unwrap_or(1), max.unwrap_or(Platform::MAX_PROCESSORS));
    let count = times.len();
    if min == 0 || min > max {
        return Err(format!("invalid range of processors, {min} to {max}: min must be at least 1 and at most max"));
    }
    let table = Profile::table(times.into_iter().map(|time| time.0).collect()).map_err(|error| error.to_string())?;
    let narrowed = table.at_most(max).and_then(|table| table.at_least(min));
    narrowed.ok_or_else(|| {
        format!(
            "`processors` requires at least {min}, but `time` lists run times for at most {count}; add times to the list"
        )
    })
}

fn range(allotments: Option<Allotments>) -> (Option<u32>, Option<u32>) {
    match allotments {
        None => (None, None),
        Some(Allotments::Exactly(processors)) => (Some(processors), Some(processors)),
        Some(Allotments::Range { min, max }) => (min, max),
    }
}
