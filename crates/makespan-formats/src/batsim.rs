//! Workloads of Batsim, in the JSON of its versions up to 4 and of version 5.
//!
//! `{"nb_res": 4, "jobs": [{"id", "subtime", "res", "walltime", "profile"}], "profiles": {"name": {"type": "delay", "delay": s}}}`
//! (P.-F. Dutot, M. Mercier, M. Poquet, O. Richard, "Batsim: a realistic language-independent resources and jobs
//! management systems simulator", JSSPP 2016, DOI 10.1007/978-3-319-61756-5_10). Version 5 gives the types of profiles
//! other names. A delay takes its time, and a homogeneous parallel profile the time of its computation; what it
//! communicates takes no time here.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use makespan_core::{Needs, Quantity, Time};
use rustc_hash::FxHashSet;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::anomaly::{Anomaly, Report, Unit};
use crate::document::from_json;
use crate::error::{FormatError, Place};
use crate::replay::record::{Logged, Record};
use crate::scalar::{Count, FromLiteral, NUMBER_KEY, Scalar};
use crate::suggest::nearest;

/// Floating-point operations a second of a processor of speed 1, unless others are stated.
pub(crate) const SPEED: f64 = 1e9;

/// Keys that no other JSON has at its top or in its jobs.
const KEYS: [&[u8]; 2] = [b"\"nb_res\"", b"\"subtime\""];

/// The types of profiles that are read, for messages.
const TYPES: [&str; 9] = [
    "delay",
    "DelayProfile",
    "parallel_homogeneous",
    "parallel_homogeneous_total",
    "ParallelTaskHomogeneousProfile",
    "ptask_homogeneous",
    "ptask_homogeneous_total",
    "msg_par_hg",
    "msg_par_hg_tot",
];

/// Whether the beginning of a JSON document is that of a workload.
pub(crate) fn is_workload(head: &[u8]) -> bool {
    KEYS.iter().any(|key| {
        let mut at = head.windows(key.len()).enumerate().filter(|(_, window)| window == key);
        at.any(|(at, _)| head[at + key.len()..].trim_ascii_start().first() == Some(&b':'))
    })
}

/// Users add what they like to a workload, so unknown keys are accepted.
#[derive(Deserialize)]
struct Document {
    nb_res: Option<Scalar<Count>>,
    jobs: Vec<JobEntry>,
    profiles: Profiles,
}

/// Profiles by name, each of which is there once.
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
                return Err(Error::custom("a profile of this name stands above; names must be unique"));
            };
            place.insert(map.next_value()?);
        }
        Ok(Profiles(profiles))
    }
}

#[derive(Deserialize)]
struct JobEntry {
    id: Option<Scalar<Label>>,
    subtime: Option<Scalar<Known>>,
    res: Option<Scalar<Count>>,
    walltime: Option<Scalar<Known>>,
    profile: Scalar<Label>,
}

#[derive(Deserialize)]
struct ProfileEntry {
    #[serde(rename = "type")]
    kind: String,
    delay: Option<Scalar<Known>>,
    #[serde(default)]
    cpu: Amount,
    #[serde(default)]
    com: Amount,
    generation_strategy: Option<String>,
}

/// A name, which is a text or a number.
struct Label(String);

/// A time; `None` where it is negative.
struct Known(Option<Time>);

/// A number; `None` where something else stands, such as the list of a profile that is not homogeneous.
#[derive(Default)]
struct Amount(Option<f64>);

impl FromLiteral for Label {
    const EXPECTED: &'static str = "a name";

    fn from_literal(text: &str, _quoted: bool) -> Result<Self, String> {
        Ok(Self(text.to_owned()))
    }
}

impl FromLiteral for Known {
    const EXPECTED: &'static str = "a time in seconds, or -1";

    fn from_literal(text: &str, quoted: bool) -> Result<Self, String> {
        match Time::parse(text) {
            _ if quoted => Err(format!("`{text}` is a text; write a number of seconds")),
            Ok(time) => Ok(Self(Some(time))),
            Err(makespan_core::TimeError::Negative(_)) => Ok(Self(None)),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AmountVisitor)
    }
}

struct AmountVisitor;

impl<'de> Visitor<'de> for AmountVisitor {
    type Value = Amount;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount of operations or bytes")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Amount, E> {
        amount(value as f64)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Amount, E> {
        amount(value as f64)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Amount, E> {
        amount(value)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Amount, A::Error> {
        match map.next_key::<String>()? {
            // The literal of a number, as `serde_json` presents it.
            Some(key) if key == NUMBER_KEY => amount(map.next_value::<String>()?.parse().unwrap_or(f64::NAN)),
            _ => Err(Error::custom("a table stands here; write a number or a list")),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Amount, A::Error> {
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Amount(None))
    }
}

fn amount<E: Error>(value: f64) -> Result<Amount, E> {
    Quantity::AMOUNT.check(value).map(|value| Amount(Some(value))).map_err(E::custom)
}

/// Reads a workload; a processor makes `speed` floating-point operations a second.
pub(crate) fn read_batsim(file: &str, bytes: &[u8], speed: f64) -> Result<Logged, FormatError> {
    let document: Document = from_json(file, bytes)?;
    let mut report = Report::by(Unit::Job);
    let mut names = FxHashSet::default();
    let mut records = Vec::new();
    for (at, job) in document.jobs.into_iter().enumerate() {
        let mut skip = |anomaly| report.add(anomaly, at);
        let processors = job.res.map_or(0, |res| res.0.0);
        let Some(name) = job.id.map(|id| id.0.0).filter(|name| !name.is_empty()) else {
            skip(Anomaly::NoNumber);
            continue;
        };
        let Some(submit) = job.subtime.and_then(|submit| submit.0.0) else {
            skip(Anomaly::NoSubmitTime);
            continue;
        };
        if processors == 0 {
            skip(Anomaly::NoProcessors);
            continue;
        }
        let (label, profiles) = (job.profile.0.0, &document.profiles.0);
        let (run, silent) = time(&label, profiles, processors, speed).map_err(|problem| {
            FormatError::content(file, Place::field(format!("jobs[{at}]")), format!("job `{name}`: {problem}"))
        })?;
        if !silent {
            skip(Anomaly::Communication);
        }
        if run == Time::ZERO {
            skip(Anomaly::ZeroRunTime);
        } else if names.insert(name.clone()) {
            let requested = job.walltime.and_then(|walltime| walltime.0.0).filter(|&walltime| walltime > Time::ZERO);
            records.push(Record {
                at,
                name,
                submit,
                run,
                processors,
                requested,
                user: None,
                queue: None,
                efficiency: None,
                needs: Needs::NONE,
                measured: false,
                started: None,
                submission: None,
                is_alive: false,
            });
        } else {
            skip(Anomaly::RepeatedNumber);
        }
    }
    let processors = document.nb_res.map(|count| count.0.0).filter(|&count| count > 0);
    let (untold, remarks) = ("the workload has no `nb_res`", Vec::new());
    Ok(Logged { records, report, processors, untold, remarks, week: None, clock: None, now: None })
}

/// How long the profile takes, and whether it communicates nothing.
fn time(
    label: &str,
    profiles: &BTreeMap<String, ProfileEntry>,
    processors: u32,
    speed: f64,
) -> Result<(Time, bool), String> {
    let profile = profiles.get(label).ok_or_else(|| {
        let near = nearest(label, profiles.keys().map(String::as_str));
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        format!("the profile `{label}` is not among `profiles`{near}")
    })?;
    let spread = match profile.generation_strategy.as_deref() {
        // In workloads by one name, in the protocol by another.
        None | Some("defined_amount_used_for_each_value" | "DefinedAmountsUsedForEachValue") => false,
        Some("defined_amount_spread_uniformly" | "DefinedAmountsSpreadUniformly") => true,
        Some(other) => {
            return Err(format!(
                "profile `{label}`: the generation strategy `{other}` is not known; write \
                 defined_amount_used_for_each_value or defined_amount_spread_uniformly"
            ));
        }
    };
    let total = match profile.kind.as_str() {
        "delay" | "DelayProfile" => {
            let delay = profile.delay.as_ref().and_then(|delay| delay.0.0);
            let delay = delay.ok_or_else(|| format!("profile `{label}` has no `delay` of 0 s or more"))?;
            return Ok((delay, true));
        }
        "parallel_homogeneous" | "ptask_homogeneous" | "ParallelTaskHomogeneousProfile" | "msg_par_hg" => spread,
        "parallel_homogeneous_total" | "ptask_homogeneous_total" | "msg_par_hg_tot" => true,
        other => {
            let known = TYPES.join(", ");
            return Err(format!(
                "profile `{label}` is of type `{other}`, whose time depends on more than is simulated; read are {known}"
            ));
        }
    };
    let cpu = profile.cpu.0.unwrap_or(0.0);
    let operations = if total { cpu / f64::from(processors) } else { cpu };
    let time = Time::from_seconds_f64(operations / speed).map_err(|error| {
        format!("profile `{label}`: its computation takes {} s at {speed} a second: {error}", operations / speed)
    })?;
    // What computes at all takes some time.
    let time = if cpu > 0.0 { time.max(Time::TICK) } else { time };
    Ok((time, profile.com.0.unwrap_or(0.0) == 0.0))
}

#[cfg(test)]
mod tests;
