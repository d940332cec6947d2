//! Reads task graphs in the formats of other programs: `WfFormat` of `WfCommons`, DAX of Pegasus, the Standard Task
//! Graph Set, DOT, and an XML format for compound jobs.
//!
//! Most formats do not describe machines, so the caller states the platform. Times are run times on a processor of
//! speed 1.

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

use crate::error::{FilePlace, FormatError};
use crate::format::Format;
use crate::format::head::Head;
use draft::ExternalFiles;
pub use draft::StatedFiles;

/// Jobs read from a file, and remarks for the user.
struct ReadJobs {
    jobs: Vec<Job>,
    remarks: Vec<String>,
    /// Machines of the file, or `None` if the file states no machines. If the machines cannot be used, the error
    /// states why.
    platform: Result<Option<Platform>, String>,
    /// Files that the first job reads and no task writes.
    outside: ExternalFiles,
}

impl ReadJobs {
    /// Returns a result without machines and without files from outside.
    fn of(jobs: Vec<Job>, remarks: Vec<String>) -> Self {
        Self { jobs, remarks, platform: Ok(None), outside: ExternalFiles::default() }
    }
}

/// Problem with a file, and its place.
struct FileProblem {
    place: FilePlace,
    problem: String,
}

impl FileProblem {
    fn at(place: FilePlace, problem: impl Into<String>) -> Self {
        Self { place, problem: problem.into() }
    }

    fn of(self, file: &str) -> FormatError {
        FormatError::content(file, self.place, self.problem)
    }
}

/// Converts the text of a problem. The text states the place itself.
impl From<String> for FileProblem {
    fn from(problem: String) -> Self {
        Self { place: FilePlace::default(), problem }
    }
}

/// Returns the warning `remark` unchanged, or as an error if `strict` is true.
fn remarked(remark: Option<String>, strict: bool) -> Result<Option<String>, String> {
    match remark {
        Some(remark) if strict => Err(format!("{remark}; --strict does not allow this")),
        remark => Ok(remark),
    }
}

/// Returns whether a file is JSON that contains a key of `WfFormat`.
pub(crate) fn is_wfformat(head: &Head<'_>) -> bool {
    let has_table = || head.values_of(b"\"workflow\"").any(|value| value.starts_with(b"{"));
    head.first == b'{' && (head.has(b"\"schemaVersion\"") || head.has(b"\"specification\"") || has_table())
}

/// Returns whether a file is XML that contains the element `adag` of Pegasus, or XML with the file extension of a DAX.
pub(crate) fn is_dax(head: &Head<'_>) -> bool {
    let has_name = || head.named && !head.has(b"<compound-jobs") && is_tag(head.text);
    head.first == b'<' && (head.has(b"<adag") || has_name())
}

/// Returns whether a file begins like XML.
pub(crate) fn is_xml(head: &Head<'_>) -> bool {
    head.first == b'<' && (head.has(b"<compound-jobs") || is_tag(head.text))
}

/// Returns whether a file begins like a graph in DOT, or has a file extension of DOT.
pub(crate) fn is_dot(head: &Head<'_>) -> bool {
    head.named || head.ending != Some("stg") && dot::begins(head.text)
}

/// Returns whether a file begins like a graph of the Standard Task Graph Set, or has the file extension `stg`.
pub(crate) fn is_stg(head: &Head<'_>) -> bool {
    head.named || head.first.is_ascii_digit() && stg::begins(head.text)
}

/// Returns whether a text begins with an XML tag. A `<` is not sufficient, because a shell command may begin with `<`,
/// as in `<a sort`.
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

/// The trace of a run of Nextflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextflowTrace {
    /// File name, for errors.
    pub file: String,
    /// Content of the file.
    pub text: String,
}

/// Options for reading a workflow.
pub(crate) struct WorkflowOptions<'a> {
    pub(crate) platform: Option<&'a Platform>,
    pub(crate) strict: bool,
    /// Name of the node that holds the files that no task writes.
    pub(crate) storage: Option<&'a str>,
    /// The trace of a Nextflow run. If there is a trace, the file must be the DOT graph of the processes of this run.
    pub(crate) trace: Option<&'a NextflowTrace>,
}

/// A workflow file, and the name of the job that it describes.
struct Source<'a> {
    file: &'a str,
    text: &'a str,
    name: String,
    strict: bool,
    trace: Option<&'a NextflowTrace>,
}

/// The files of each task, by task name.
type TaskFiles = BTreeMap<String, StatedFiles>;

/// Returns the names of the files that each task reads and writes. The arguments are the name and the text of the
/// workflow file.
type ReadFiles = fn(&str, &str) -> Result<TaskFiles, FormatError>;

/// The reader of a workflow format.
pub(crate) struct Reader {
    read: fn(&Source<'_>) -> Result<ReadJobs, FormatError>,
    /// Function that returns the files that each task reads and writes. `None` if no task of this format has a command
    /// that names files.
    pub(crate) files: Option<ReadFiles>,
}

impl Reader {
    const fn of(read: fn(&Source<'_>) -> Result<ReadJobs, FormatError>) -> Self {
        Self { read, files: None }
    }
}

pub(crate) static WFFORMAT: Reader =
    Reader { read: |from| wfformat::read(from.file, from.text, from.strict), files: Some(wfformat::files) };
pub(crate) static DAX: Reader =
    Reader::of(|from| dax::read(from.text, &from.name, from.strict).map_err(|wrong| wrong.of(from.file)));
pub(crate) static STG: Reader =
    Reader::of(|from| stg::read(from.text, &from.name, from.strict).map_err(|wrong| wrong.of(from.file)));
pub(crate) static COMPOUND_XML: Reader =
    Reader::of(|from| compound_xml::read(from.text, from.strict).map_err(|wrong| wrong.of(from.file)));
pub(crate) static DOT: Reader = Reader::of(|from| {
    let Some(NextflowTrace { file, text: trace }) = from.trace else {
        return dot::read(from.text, &from.name, from.strict).map_err(|wrong| wrong.of(from.file));
    };
    let tasks = nextflow::tasks(trace, from.strict).map_err(|wrong| wrong.of(file))?;
    nextflow::read(from.text, &tasks, &from.name, from.strict).map_err(|wrong| wrong.of(from.file))
});

/// Reads a workflow in one of these formats. Returns the instance, and remarks about the file.
pub(crate) fn read(
    file: &str,
    text: &str,
    format: Format,
    reader: &Reader,
    options: &WorkflowOptions<'_>,
) -> Result<(Instance, Vec<String>), FormatError> {
    let &WorkflowOptions { strict, trace, .. } = options;
    let read = (reader.read)(&Source { file, text, name: job_name(file), strict, trace })?;
    let ReadJobs { jobs, mut remarks, platform, outside } = read;
    let own = options.platform.is_none();
    let platform = match (options.platform, platform) {
        (Some(stated), _) => stated.clone(),
        (None, Ok(Some(own))) => {
            remarks.push(format!(
                "using the machines of the file ({} of speed 1); to use other machines, add --processors or --platform",
                counted(own.processors(), "processor")
            ));
            own
        }
        (None, without) => {
            let why = match without {
                Err(why) => format!("the machines of the file cannot be used: {why}"),
                Ok(_) => format!("a file of {format} states no machines"),
            };
            let problem = format!("{why}; add --processors N (N processors of speed 1) or --platform FILE");
            return Err(FormatError::content(file, FilePlace::default(), problem));
        }
    };
    let wrong = |problem: String| FormatError::content(file, FilePlace::default(), problem);
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
        remarks.push(
            "no bandwidth is stated, so data between tasks take no time; state the bandwidth with --bandwidth or \
             --platform"
                .into(),
        );
    }
    let instance = Instance::new(platform, jobs, Vec::new());
    let instance = instance.map_err(|error| FormatError::content(file, FilePlace::default(), error))?;
    Ok((instance, remarks))
}

/// Returns the name of a file without folders and extensions.
pub(crate) fn job_name(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let name = [".gz", ".bz2"].iter().fold(name, |name, ending| name.strip_suffix(ending).unwrap_or(name));
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    if stem.is_empty() { "workflow".into() } else { stem.to_owned() }
}
