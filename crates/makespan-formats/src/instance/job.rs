//! One job of the native file.

use std::collections::HashMap;

use makespan_core::{Job, Platform, Profile, Task, Time, Weight};
use serde::Deserialize;

use super::schema::{Allotments, OneOrMany, SpeedupEntry, TimesOn};
use crate::scalar::{Scalar, Tasks};
use crate::suggest::nearest;

/// A job, checked while it is read, so that errors carry its place.
#[derive(Deserialize)]
#[serde(try_from = "Fields")]
pub(super) struct JobEntry {
    job: Job,
    /// The nodes of `time_on`, in the order of the times of the profile, until the platform is known.
    nodes: Option<Vec<String>>,
}

/// The positions of nodes by name.
pub(super) type Positions<'a> = HashMap<&'a str, usize>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    name: String,
    weight: Option<Scalar<Weight>>,
    released: Option<Scalar<Time>>,
    walltime: Option<Scalar<Time>>,
    count: Option<Scalar<Tasks>>,
    time: Option<OneOrMany<Time, Scalar<Time>>>,
    work: Option<Scalar<Time>>,
    time_on: Option<TimesOn>,
    speedup: Option<SpeedupEntry>,
    processors: Option<Allotments>,
    #[serde(default)]
    command: Vec<String>,
}

impl TryFrom<Fields> for JobEntry {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        if fields.name.is_empty() {
            return Err("a job's name is empty; give it a unique name".to_owned());
        }
        let of_job = |problem: String| format!("job `{}`: {problem}", fields.name);
        let (profile, nodes) = match fields.time_on {
            None => {
                let profile = profile(fields.time, fields.work, fields.speedup, fields.processors);
                (profile.map_err(of_job)?, None)
            }
            Some(TimesOn(pairs)) => {
                let others = fields.time.is_some() || fields.work.is_some() || fields.speedup.is_some();
                let (nodes, times) = pairs.into_iter().unzip();
                (on_machines(times, others, fields.processors).map_err(of_job)?, Some(nodes))
            }
        };
        let count = fields.count.map(|count| count.0.0);
        // A bag competes only if it is given a weight to do so.
        let usual = if count.is_some() { Weight::ZERO } else { Weight::ONE };
        let job = Job {
            name: fields.name,
            weight: fields.weight.map_or(usual, |weight| weight.0),
            release: fields.released.map_or(Time::ZERO, |release| release.0),
            walltime: fields.walltime.map(|walltime| walltime.0),
            task: Task { profile, command: fields.command },
            count,
        };
        Ok(Self { job, nodes })
    }
}

impl JobEntry {
    /// The job on a platform of these nodes.
    pub(super) fn resolved(self, positions: &Positions<'_>) -> Result<Job, String> {
        let Self { mut job, nodes } = self;
        let (Some(nodes), Some(times)) = (nodes, job.task.profile.machine_times()) else { return Ok(job) };
        let mut row = vec![Profile::CANNOT_RUN; positions.len()];
        for (node, &time) in nodes.iter().zip(times) {
            let known = positions.get(node.as_str()).ok_or_else(|| {
                let near = nearest(node, positions.keys().copied());
                let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                format!("job `{}`: `time_on` names `{node}`, which is no node of the platform{hint}", job.name)
            })?;
            row[*known] = time;
        }
        job.task.profile = Profile::on_machines(row).map_err(|error| format!("job `{}`: {error}", job.name))?;
        Ok(job)
    }
}

/// The times in the order in which they are written.
fn on_machines(times: Vec<Time>, others: bool, allotments: Option<Allotments>) -> Result<Profile, String> {
    if others {
        return Err("`time_on` stands alone, without `time`, `work` or `speedup`".to_owned());
    }
    match range(allotments) {
        (None | Some(1), None | Some(1)) => Profile::on_machines(times).map_err(|error| error.to_string()),
        _ => Err("`time_on` is the time on one processor; leave `processors` out".to_owned()),
    }
}

fn profile(
    time: Option<OneOrMany<Time, Scalar<Time>>>,
    work: Option<Scalar<Time>>,
    speedup: Option<SpeedupEntry>,
    allotments: Option<Allotments>,
) -> Result<Profile, String> {
    match (time, work, speedup) {
        (Some(_), Some(_), _) => Err("it has both `time` and `work`; write one of them".to_owned()),
        (None, None, _) => Err("it has neither `time` nor `work`; write one of them, or `time_on`".to_owned()),
        (Some(_), None, Some(_)) => Err("`speedup` goes with `work`, not with `time`".to_owned()),
        (Some(OneOrMany::One(time)), None, None) => rigid(time, allotments),
        (Some(OneOrMany::Many(times)), None, None) => table(times, allotments),
        (None, Some(work), None) => sequential(work.0, allotments),
        (None, Some(work), Some(law)) => {
            let (min, max) = range(allotments);
            // Without a limit the instance clips the allotments to its platform.
            let max = max.unwrap_or(Platform::MAX_PROCESSORS);
            Profile::law(work.0, law.into(), min.unwrap_or(1), max).map_err(|error| error.to_string())
        }
    }
}

fn rigid(time: Time, allotments: Option<Allotments>) -> Result<Profile, String> {
    match allotments {
        Some(Allotments::Range { .. }) => {
            Err("one `time` goes with one number of `processors`; for a range write `time` as a list, or `work` and \
                 `speedup`"
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
        return Err(format!(
            "processors from {min} to {max} is an empty range; min must be at least 1 and at most max"
        ));
    }
    let table = Profile::table(times.into_iter().map(|time| time.0).collect()).map_err(|error| error.to_string())?;
    let narrowed = table.at_most(max).and_then(|table| table.at_least(min));
    narrowed.ok_or_else(|| format!("`processors` asks for at least {min} and `time` lists {count}; lengthen the list"))
}

fn range(allotments: Option<Allotments>) -> (Option<u32>, Option<u32>) {
    match allotments {
        None => (None, None),
        Some(Allotments::Exactly(processors)) => (Some(processors), Some(processors)),
        Some(Allotments::Range { min, max }) => (min, max),
    }
}
