//! Published sets of moldable jobs: `{"meta": .., "cpudata": {"nb_p": [1, 2, ..], "t1": [..], ..}, "gpudata": ..}`.
//!
//! This is the format of the instances of Hunold (github.com/hunsa/moldableILP). A file states measured run times in
//! seconds on 1 to m processors. Only `cpudata` is used. The jobs have weight 1 and release date 0.

use std::fmt;

use makespan_core::{Instance, Job, Platform, Profile, Time, counted};
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use crate::document::from_json;
use crate::error::{FilePlace, FormatError};
use crate::format::head::Head;
use crate::instance::foreign_json;
use crate::scalar::{Count, Scalar};

/// Possible keys at the top level of a moldable set.
const KEYS: [&str; 3] = ["meta", "cpudata", "gpudata"];

/// Returns whether a JSON file is a moldable set. The first key must be one of [`KEYS`], and the file must not be
/// another known kind of JSON.
pub(crate) fn is_set(head: &Head<'_>) -> bool {
    let key = head.text.strip_prefix(b"{").and_then(|rest| rest.trim_ascii_start().strip_prefix(b"\""));
    let begins = |known: &&str| {
        key.and_then(|key| key.strip_prefix(known.as_bytes())).is_some_and(|rest| rest.starts_with(b"\""))
    };
    KEYS.iter().any(begins) && foreign_json(head).is_none()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default, rename = "meta")]
    _meta: IgnoredAny,
    cpudata: Table,
    #[serde(default, rename = "gpudata")]
    _gpudata: IgnoredAny,
}

/// Columns of the table, in file order.
struct Table {
    processors: Vec<u32>,
    jobs: Vec<(String, Vec<Time>)>,
}

impl<'de> Deserialize<'de> for Table {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TableVisitor)
    }
}

struct TableVisitor;

impl<'de> Visitor<'de> for TableVisitor {
    type Value = Table;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of lists: nb_p, t1, t2, ..")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Table, A::Error> {
        let mut processors = None;
        let mut jobs = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if key == "nb_p" {
                let counts: Vec<Scalar<Count>> = map.next_value()?;
                if processors.replace(counts.into_iter().map(|count| count.0.0).collect()).is_some() {
                    return Err(Error::duplicate_field("nb_p"));
                }
            } else {
                let times: Vec<Scalar<Time>> = map.next_value()?;
                jobs.push((key, times.into_iter().map(|time| time.0).collect()));
            }
        }
        let processors = processors.ok_or_else(|| Error::missing_field("nb_p"))?;
        Ok(Table { processors, jobs })
    }
}

/// Reads a decompressed moldable set. `file` is the file name for errors.
///
/// # Errors
/// [`FormatError`] with the field of the error.
pub fn read_moldable_set(file: &str, bytes: &[u8]) -> Result<Instance, FormatError> {
    let Document { cpudata, .. } = from_json(file, bytes)?;
    let wrong = |field: &str, problem: &dyn fmt::Display| FormatError::content(file, FilePlace::field(field), problem);
    let count = cpudata.processors.len();
    if !cpudata.processors.iter().copied().eq(1..=count as u32) {
        return Err(wrong("cpudata.nb_p", &"the numbers of processors are not 1, 2, 3 .. in order"));
    }
    let platform = Platform::flat(count as u32).map_err(|error| wrong("cpudata.nb_p", &error))?;
    if cpudata.jobs.is_empty() {
        return Err(wrong("cpudata", &"there are no jobs; give at least one list of times, t1"));
    }
    let job = |(name, times): (String, Vec<Time>)| {
        let field = format!("cpudata.{name}");
        if times.len() != count {
            let problem = format!(
                "the list has {}; it must have {count}, one for each entry of nb_p",
                counted(times.len(), "time")
            );
            return Err(wrong(&field, &problem));
        }
        Ok(Job::new(name, Profile::table(times).map_err(|error| wrong(&field, &error))?))
    };
    let jobs = cpudata.jobs.into_iter().map(job).collect::<Result<Vec<_>, _>>()?;
    Instance::new(platform, jobs, Vec::new()).map_err(|error| FormatError::content(file, FilePlace::default(), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Result<usize, &str>) {
        match (read_moldable_set("a.in", text.as_bytes()), expect) {
            (Ok(instance), Ok(jobs)) => assert_eq!(instance.jobs().len(), jobs),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (got, _) => panic!("{text}: {got:?}"),
        }
    }

    #[test]
    fn reads_the_measured_times() {
        let text = r#"{"meta":{"n":2},"cpudata":{"nb_p":[1,2],"t1":[90.70274801226311,46.7],"t2":[3,2]},"gpudata":{}}"#;
        let instance = read_moldable_set("a.in", text.as_bytes()).unwrap();
        assert_eq!(instance.processors(), 2);
        assert_eq!(instance.profile(makespan_core::TaskId(0)).time(1), Time::from_ticks(90_702_748_012));
        assert_eq!(instance.jobs()[1].name, "t2");
    }

    #[test]
    fn refuses_what_is_no_set() {
        check(r#"{"cpudata":{"nb_p":[1],"t1":[3]}}"#, Ok(1));
        check(r#"{"cpudata":{"nb_p":[2,1],"t1":[3,2]}}"#, Err("cpudata.nb_p: the numbers"));
        check(r#"{"cpudata":{"nb_p":[1,2],"t1":[3]}}"#, Err("cpudata.t1: the list has 1 time; it must"));
        check(r#"{"cpudata":{"nb_p":[1,2],"t1":[3,-2]}}"#, Err("is negative"));
        check(r#"{"cpudata":{"nb_p":[1,2],"t1":[3,0]}}"#, Err("must be positive"));
        check(r#"{"cpudata":{"nb_p":[]}}"#, Err("no processors"));
        check(r#"{"cpudata":{"nb_p":[1]}}"#, Err("no jobs"));
        check(r#"{"cpudata":{"t1":[1]}}"#, Err("nb_p"));
        check(r#"{"meta":{}}"#, Err("`cpudata` is missing"));
    }
}
