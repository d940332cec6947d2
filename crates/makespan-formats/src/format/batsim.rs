//! Workloads of Batsim, in the JSON formats of versions up to 4 and of version 5.
//!
//! A workload is `{"nb_res": 4, "jobs": [{"id", "subtime", "res", "walltime", "profile"}], "profiles": {..}}`. An entry
//! of `profiles` is, for example, `"name": {"type": "delay", "delay": s}`.
//!
//! Source: P.-F. Dutot, M. Mercier, M. Poquet, O. Richard, "Batsim: a realistic language-independent resources and jobs
//! management systems simulator", JSSPP 2016, DOI 10.1007/978-3-319-61756-5_10.
//!
//! A profile describes the work of a job. In version 5, the profile types have different names. A delay takes its
//! stated time. A parallel profile takes the time of its computation. A composition takes the sum of the run times of
//! its parts. Communication takes no time. For profiles of other types, the run time is a guess.

mod profile;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::io::BufRead;

use makespan_core::{Node, Platform, Quantity, Time};
use rustc_hash::FxHashSet;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use crate::anomaly::{Anomaly, LogStatistics, Unit};
use crate::document::from_json;
use crate::error::{FilePlace, FormatError};
use crate::figure::Figure;
use crate::format::head::Head;
use crate::input::without_mark;
use crate::instance::foreign_json;
use crate::odd::limit;
use crate::replay::record::{LogContent, LogRecord, guessed_run};
use crate::scalar::{FromLiteral, Scalar};
use profile::{ProfileEntry, WorkloadProfiles};

/// Default number of floating-point operations per second on a processor of speed 1.
pub(crate) const SPEED: f64 = 1e9;

/// Returns whether the beginning of a JSON file contains a key of Batsim workloads and no sign of another kind of
/// JSON.
pub(crate) fn is_workload(head: &Head<'_>) -> bool {
    let has_key = || head.is_workload();
    head.first == b'{' && has_key() && foreign_json(head).is_none()
}

/// Unknown keys are accepted, because users add their own data to workloads.
#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    nb_res: Figure,
    jobs: Vec<JobEntry>,
    profiles: Profiles,
}

/// Profiles by name. Reading refuses a repeated name.
struct Profiles(BTreeMap<String, ProfileEntry>);

impl<'de> Deserialize<'de> for Profiles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ProfilesVisitor)
    }
}

struct ProfilesVisitor;

impl<'de> Visitor<'de> for ProfilesVisitor {
    type Value = Profiles;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of profiles by their names")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Profiles, A::Error> {
        let mut profiles = BTreeMap::new();
        while let Some(name) = map.next_key::<String>()? {
            let Entry::Vacant(place) = profiles.entry(name) else {
                return Err(Error::custom("an earlier profile has this name; names must be unique"));
            };
            place.insert(map.next_value()?);
        }
        Ok(Profiles(profiles))
    }
}

#[derive(Deserialize)]
struct JobEntry {
    id: Option<Scalar<Label>>,
    #[serde(default)]
    subtime: Figure,
    #[serde(default)]
    res: Figure,
    #[serde(default)]
    walltime: Figure,
    profile: Scalar<Label>,
    /// Names of the jobs that this job waits for. Batsim's documentation proposes this key.
    #[serde(default)]
    dependencies: Option<serde::de::IgnoredAny>,
}

/// Name that is written as a text or a number.
struct Label(String);

impl FromLiteral for Label {
    const EXPECTED: &'static str = "a name";

    fn from_literal(text: &str, _quoted: bool) -> Result<Self, String> {
        Ok(Self(text.to_owned()))
    }
}

/// Converts a `SimGrid` platform. Returns the platform with speeds relative to the first host, the speed of the first
/// host in floating-point operations per second, and a warning if the speeds differ. A delay takes its stated time on
/// the first host. `unit` is the number of operations in a unit of work of the platform.
pub(crate) fn relative(platform: &Platform, unit: f64) -> Option<(Platform, f64, Option<String>)> {
    let first = platform.nodes().iter().find(|node| node.processors > 0)?;
    let speed = first.speed;
    let nodes: Vec<Node> =
        platform.nodes().iter().map(|node| Node { speed: node.speed / speed, ..node.clone() }).collect();
    let differs = nodes.iter().any(|node| node.processors > 0 && (node.speed - 1.0).abs() > f64::EPSILON);
    let remark = differs.then(|| {
        format!(
            "the hosts differ in speed; the time of a `delay` profile is its time on host `{}`; on other hosts, the \
             time is scaled by the speed",
            first.name
        )
    });
    Some((Platform::new(nodes).ok()?, speed * unit, remark))
}

/// Reads a workload. `speed` is the number of floating-point operations that a processor executes per second.
pub(crate) fn read_batsim(file: &str, input: &mut dyn BufRead, speed: f64) -> Result<LogContent, FormatError> {
    Quantity::SPEED.check(speed).map_err(|error| {
        let problem = format!("floating-point operations a second: {error}");
        FormatError::content(file, FilePlace::default(), problem)
    })?;
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes).map_err(|source| FormatError::io(file, "read", source))?;
    let document: Document = from_json(file, without_mark(&bytes))?;
    let mut report = LogStatistics::by(Unit::Job);
    let mut names = FxHashSet::default();
    let mut records = Vec::new();
    let times = WorkloadProfiles { profiles: &document.profiles.0, speed };
    for (at, job) in document.jobs.into_iter().enumerate() {
        let mut add = |anomaly| report.add(anomaly, at);
        let Some(name) = job.id.map(|id| id.0.0).filter(|name| !name.is_empty()) else {
            add(Anomaly::NoNumber);
            continue;
        };
        let Some(submit) = job.subtime.text().and_then(|text| Time::parse(text).ok()) else {
            add(Anomaly::NoSubmitTime);
            continue;
        };
        let Some(processors) = job.res.text().and_then(|text| text.parse().ok()).filter(|&count: &u32| count > 0)
        else {
            add(Anomaly::NoProcessors);
            continue;
        };
        let took = times.of(&job.profile.0.0, processors).map_err(|problem| {
            FormatError::content(file, FilePlace::field(format!("jobs[{at}]")), format!("job `{name}`: {problem}"))
        })?;
        if !names.insert(name.clone()) {
            add(Anomaly::RepeatedNumber);
            continue;
        }
        let requested = limit(job.walltime.text()).unwrap_or_else(|_| {
            add(Anomaly::BrokenLimit);
            None
        });
        let run = took.time.unwrap_or_else(|| {
            add(Anomaly::GuessedRunTime);
            guessed_run(requested)
        });
        if run == Time::ZERO {
            add(Anomaly::ZeroRunTime);
        }
        if job.dependencies.is_some() {
            add(Anomaly::Precedence);
        }
        if took.communicates {
            add(Anomaly::Communication);
        }
        records.push(LogRecord {
            at,
            name,
            submit,
            run: run.max(Time::TICK),
            is_guess: took.time.is_none(),
            processors,
            requested,
            ..LogRecord::default()
        });
    }
    let stated = document.nb_res.text().map(|text| (text, text.parse::<u32>()));
    if let Some((text, Err(_))) = &stated {
        report.add_machine(FilePlace::field("nb_res"), format!("nb_res: {text}"));
    }
    let processors = stated.and_then(|(_, count)| count.ok()).filter(|&count| count > 0);
    let untold = "the workload does not state its number of processors (`nb_res`)";
    let (remarks, plan_remarks) = (Vec::new(), Vec::new());
    Ok(LogContent { records, report, processors, untold, remarks, plan_remarks, week: None, clock: None, now: None })
}

#[cfg(test)]
mod tests;
