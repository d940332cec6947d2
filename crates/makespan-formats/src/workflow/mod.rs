//! Graphs of tasks in the formats of other programs: `WfFormat` of `WfCommons`, DAX of Pegasus, the Standard Task Graph
//! Set, DOT, and an XML form of compound jobs.
//!
//! None of them describes machines in a way that could be planned on, so a platform goes with the reading. Times are
//! those on a processor of speed 1.

pub mod compound_xml;
mod dax;
mod dot;
mod draft;
mod fitted;
mod machines;
mod nextflow;
mod stage;
mod stg;
#[cfg(test)]
mod tests;
mod wfformat;
mod xml;

use std::collections::BTreeMap;

use makespan_core::{Graph, Instance, Job, Platform, counted};

use crate::error::{FormatError, Place};
use crate::format::Format;
use draft::Outside;
pub use draft::StatedFiles;

/// Jobs that were read, with what the user should know.
struct Read {
    jobs: Vec<Job>,
    remarks: Vec<String>,
    /// The machines of the file, if it names any, or why they cannot be used.
    platform: Result<Option<Platform>, String>,
    /// What the first job reads from outside.
    outside: Outside,
}

impl Read {
    /// Jobs of which nothing comes from outside, without machines.
    fn of(jobs: Vec<Job>, remarks: Vec<String>) -> Self {
        Self { jobs, remarks, platform: Ok(None), outside: Outside::default() }
    }
}

/// What is wrong, and where.
struct Wrong {
    place: Place,
    problem: String,
}

impl Wrong {
    fn at(place: Place, problem: impl Into<String>) -> Self {
        Self { place, problem: problem.into() }
    }
}

/// For problems whose place is in their text.
impl From<String> for Wrong {
    fn from(problem: String) -> Self {
        Self { place: Place::default(), problem }
    }
}

/// Returns a warning, or an error if the reading is strict.
fn remarked(remark: Option<String>, strict: bool) -> Result<Option<String>, String> {
    match remark {
        Some(remark) if strict => Err(format!("{remark}; --strict does not allow this")),
        remark => Ok(remark),
    }
}

/// Knows one of these formats by its beginning, or else by the ending of the name.
pub(crate) fn detect(text: &[u8], ending: Option<&str>) -> Option<Format> {
    let has = |word: &[u8]| text.windows(word.len()).any(|window| window == word);
    match text.first()? {
        b'{' if has(b"\"schemaVersion\"") || has(b"\"specification\"") => Some(Format::WfFormat),
        b'{' => has_table(text, b"\"workflow\"").then_some(Format::WfFormat),
        b'<' if has(b"<adag") => Some(Format::Dax),
        b'<' if has(b"<compound-jobs") => Some(Format::CompoundXml),
        b'<' if is_tag(text) => Some(if ending == Some("dax") { Format::Dax } else { Format::CompoundXml }),
        _ if matches!(ending, Some("stg")) => Some(Format::Stg),
        _ if matches!(ending, Some("dot" | "gv")) => Some(Format::Dot),
        _ if dot::begins(text) => Some(Format::Dot),
        b'0'..=b'9' if stg::begins(text) => Some(Format::Stg),
        _ => None,
    }
}

/// Returns whether a text begins with an XML tag. A command may also begin with `<`, as in `<a sort`.
fn is_tag(text: &[u8]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_:.-".contains(byte);
    let name = |text: &[u8]| text.iter().position(|byte| !is_name(byte)).unwrap_or(text.len());
    let inner = &text[1..];
    let rest = inner[name(inner)..].trim_ascii_start();
    let attribute = rest[name(rest)..].trim_ascii_start();
    matches!(inner.first(), Some(b'?' | b'!'))
        || rest.starts_with(b">")
        || rest.starts_with(b"/>")
        || attribute.starts_with(b"=")
}

/// Returns whether a JSON text has a key whose value is an object.
fn has_table(text: &[u8], key: &[u8]) -> bool {
    let places = text.windows(key.len()).enumerate().filter(|(_, window)| *window == key);
    places
        .map(|(at, _)| text[at + key.len()..].trim_ascii_start())
        .any(|rest| rest.strip_prefix(b":").is_some_and(|value| value.trim_ascii_start().first() == Some(&b'{')))
}

/// The files that each task of a workflow reads and writes, by the name of the task; `None` of a format in which tasks with commands name none.
pub(crate) fn files(
    file: &str,
    text: &str,
    format: Format,
) -> Result<Option<BTreeMap<String, StatedFiles>>, FormatError> {
    match format {
        Format::WfFormat => wfformat::files(file, text).map(Some),
        _ => Ok(None),
    }
}

/// Trace of a Nextflow run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextflowTrace {
    /// File name, for errors.
    pub file: String,
    /// Content of the file.
    pub text: String,
}

/// How a graph is read.
pub(crate) struct Options<'a> {
    pub(crate) platform: Option<&'a Platform>,
    pub(crate) strict: bool,
    /// The node that holds files from outside.
    pub(crate) storage: Option<&'a str>,
    /// The trace of the run of Nextflow of which a graph in DOT has the processes.
    pub(crate) trace: Option<&'a NextflowTrace>,
}

/// Reads a file of one of these formats; what is remarked is said beside the instance.
pub(crate) fn read(
    file: &str,
    text: &str,
    format: Format,
    options: &Options<'_>,
) -> Result<(Instance, Vec<String>), FormatError> {
    let wrong = |wrong: Wrong| FormatError::content(file, wrong.place, wrong.problem);
    let name = job_name(file);
    let read = match (format, options.trace) {
        (Format::Dot, Some(NextflowTrace { file, text: trace })) => {
            let tasks = nextflow::tasks(trace, options.strict);
            let tasks = tasks.map_err(|wrong| FormatError::content(file, wrong.place, wrong.problem))?;
            nextflow::read(text, &tasks, &name, options.strict).map_err(wrong)?
        }
        (_, Some(_)) => {
            let problem = format!(
                "a trace of Nextflow goes with its graph in DOT (-with-dag FILE.dot), and this file is {format}"
            );
            return Err(FormatError::content(file, Place::default(), problem));
        }
        (Format::WfFormat, None) => wfformat::read(file, text, options.strict)?,
        (Format::Dax, None) => dax::read(text, &name, options.strict).map_err(wrong)?,
        (Format::Stg, None) => stg::read(text, &name, options.strict).map_err(wrong)?,
        (Format::Dot, None) => dot::read(text, &name, options.strict).map_err(wrong)?,
        (_, None) => compound_xml::read(text, options.strict).map_err(wrong)?,
    };
    let Read { jobs, mut remarks, platform, outside } = read;
    let own = options.platform.is_none();
    let platform = match (options.platform, platform) {
        (Some(stated), _) => stated.clone(),
        (None, Ok(Some(own))) => {
            remarks.push(format!(
                "planned on the machines of the file ({} of speed 1); --processors or --platform selects other machines",
                counted(own.processors(), "processor")
            ));
            own
        }
        (None, without) => {
            let why = match without {
                Err(why) => format!("the machines of the file cannot be used: {why}"),
                Ok(_) => format!("{format} says nothing of machines"),
            };
            let problem = format!("{why}; state them: --processors N for N of speed 1, or --platform FILE");
            return Err(FormatError::content(file, Place::default(), problem));
        }
    };
    let wrong = |problem: String| FormatError::content(file, Place::default(), problem);
    let (mut jobs, said) = fitted::fitted(jobs, &platform, own, options.strict).map_err(wrong)?;
    remarks.extend(said);
    match options.storage {
        Some(node) => {
            let staged = stage::from(node, &outside, &jobs[0], &platform).map_err(wrong)?;
            remarks.push(staged.1);
            jobs[0] = staged.0;
        }
        None => remarks.extend(stage::remark(&outside)),
    }
    let carried = jobs.iter().filter_map(|job| job.work.graph()).flat_map(Graph::edges);
    let carries =
        carried.into_iter().any(|edge| matches!(edge.payload, makespan_core::Payload::Bytes(bytes) if bytes > 0));
    let joined = platform.interconnect().is_some() || platform.kinds().any(|(node, _)| node.link.is_some());
    if carries && !joined {
        remarks.push("no bandwidth is stated, so data between tasks take no time (--bandwidth, --platform)".into());
    }
    let instance = Instance::new(platform, jobs, Vec::new());
    let instance = instance.map_err(|error| FormatError::content(file, Place::default(), error))?;
    Ok((instance, remarks))
}

/// The name of the file without folders and endings.
pub(crate) fn job_name(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let name = [".gz", ".bz2"].iter().fold(name, |name, ending| name.strip_suffix(ending).unwrap_or(name));
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    if stem.is_empty() { "workflow".into() } else { stem.to_owned() }
}
