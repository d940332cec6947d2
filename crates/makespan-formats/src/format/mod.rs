//! The table of the formats of instance files. Detection, reading, messages and help texts use this table.
//!
//! The section "A format" of docs/adding-an-algorithm.md lists the places to change for a new format.

pub(crate) mod batsim;
pub(crate) mod head;
pub(crate) mod psplib;
pub(crate) mod sacct;
pub(crate) mod workflow;

use std::fmt;
use std::io::BufRead;

use makespan_core::{Instance, Platform};

use crate::error::FormatError;
use crate::replay::record::LogContent;
use crate::swf::{self, Lines};
use crate::{etc, instance, list, moldable_set};
use head::Head;

/// The formats of instance files, in the order in which messages and help texts list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// A list of shell commands.
    List,
    /// An instance in JSON, a native format.
    Json,
    /// An instance in TOML, a native format.
    Toml,
    /// A log in the Standard Workload Format.
    Swf,
    /// A workload of Batsim.
    Batsim,
    /// Jobs as printed by Slurm's `sacct --parsable2`.
    Sacct,
    /// A matrix of run times on machines.
    Etc,
    /// A published set of moldable jobs.
    MoldableSet,
    /// A workflow in `WfFormat`, the JSON of `WfCommons`.
    WfFormat,
    /// A workflow in DAX, the format of Pegasus.
    Dax,
    /// A graph of the Standard Task Graph Set.
    Stg,
    /// A graph in DOT.
    Dot,
    /// Compound jobs in XML.
    CompoundXml,
    /// A project of PSPLIB in the format of `ProGen`, with one or several modes for each activity.
    ProGen,
    /// A project in the format of Patterson.
    Patterson,
    /// A project with time lags in the format of `ProGen/max`.
    ProGenMax,
}

/// Option for reading that only some formats accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatOption {
    /// A number of processors, for a file without machines.
    Processors,
    /// The bandwidth between each pair of machines.
    Bandwidth,
    /// The node that stores the input files of a workflow.
    Storage,
    /// A trace of Nextflow.
    Trace,
    /// A speed-up law, which makes the jobs moldable.
    Speedup,
    /// Number of floating-point operations per second on a processor of speed 1.
    Flops,
    /// Queue numbers in the order of the queues' priorities.
    Queues,
}

/// An instance, and remarks about its file.
pub(crate) type Remarked = Result<(Instance, Vec<String>), FormatError>;

/// The reader of a format. The variants differ in the source of the machines.
pub(crate) enum Reader {
    /// Reads a document. The arguments are the file name, the text, and the machines to use if the file states none.
    Document(fn(&str, &str, Option<&Platform>) -> Remarked),
    /// Reads a matrix of times. The options contain the number of machines, for a file that does not state this
    /// number.
    Matrix(fn(&str, &mut dyn BufRead, &etc::EtcReadOptions) -> Remarked),
    /// Reads commands for the machine that the options state.
    List(fn(&str, &str, &Platform, Option<usize>) -> Result<Instance, FormatError>),
    /// Reads the records of the jobs that a machine ran.
    Log(ReadLog),
    /// Reads task graphs. The files contain no machines.
    Workflow(&'static workflow::Reader),
}

/// Reads the records of a log. The arguments are the file name, the content, floating-point operations per second, and
/// the rule that selects lines.
pub(crate) type ReadLog = fn(&str, &mut dyn BufRead, f64, Lines) -> Result<LogContent, FormatError>;

/// A row of the table of formats.
pub(crate) struct FormatRow {
    format: Format,
    /// The phrase that follows "this file is" in a message about a file of this format.
    words: &'static str,
    /// The name of the format in lists of formats. Formats with equal titles are listed once.
    title: &'static str,
    /// The file extensions, in lower case and without the dot.
    extensions: &'static [&'static str],
    options: &'static [FormatOption],
    /// The maximum length of a line, in bytes. Only readers that need much more memory than the line itself have a
    /// limit.
    pub(crate) longest_line: Option<usize>,
    /// Function that detects the format. The function returns whether a file has this format, or an error message if
    /// the file only seems to have this format.
    detects: fn(&Head<'_>) -> Result<bool, String>,
    pub(crate) reader: Reader,
}

/// The maximum length of a line in a list, in bytes. The limit allows a comment after the longest command (131,071
/// bytes).
const LIST_LINE: Option<usize> = Some(1 << 20);
/// The maximum length of a line in a graph, a project or an XML file, in bytes.
const GRAPH_LINE: Option<usize> = Some(64 << 20);

const OF_MATRICES: &[FormatOption] = &[FormatOption::Processors];
const OF_WORKFLOWS: &[FormatOption] = &[FormatOption::Processors, FormatOption::Bandwidth, FormatOption::Storage];

/// The formats, in the order in which detection checks them. If no format matches, `look.rs` decides whether the text
/// is a list of commands or TOML.
static ROWS: [FormatRow; 16] = [
    FormatRow {
        format: Format::WfFormat,
        words: "WfFormat",
        title: "WfFormat",
        extensions: &["json"],
        options: OF_WORKFLOWS,
        longest_line: None,
        detects: |head| Ok(workflow::is_wfformat(head)),
        reader: Reader::Workflow(&workflow::WFFORMAT),
    },
    FormatRow {
        format: Format::Dax,
        words: "a DAX",
        title: "DAX",
        extensions: &["dax"],
        options: OF_WORKFLOWS,
        longest_line: GRAPH_LINE,
        detects: |head| Ok(workflow::is_dax(head)),
        reader: Reader::Workflow(&workflow::DAX),
    },
    FormatRow {
        format: Format::CompoundXml,
        words: "XML of compound jobs",
        title: "XML of compound jobs",
        extensions: &["xml"],
        options: OF_WORKFLOWS,
        longest_line: GRAPH_LINE,
        detects: |head| Ok(workflow::is_xml(head)),
        reader: Reader::Workflow(&workflow::COMPOUND_XML),
    },
    FormatRow {
        format: Format::Dot,
        words: "DOT",
        title: "DOT",
        extensions: &["dot", "gv"],
        options: &[FormatOption::Processors, FormatOption::Bandwidth, FormatOption::Storage, FormatOption::Trace],
        longest_line: GRAPH_LINE,
        detects: |head| Ok(workflow::is_dot(head)),
        reader: Reader::Workflow(&workflow::DOT),
    },
    FormatRow {
        format: Format::Stg,
        words: "a standard task graph",
        title: "STG",
        extensions: &["stg"],
        options: OF_WORKFLOWS,
        longest_line: GRAPH_LINE,
        detects: |head| Ok(workflow::is_stg(head)),
        reader: Reader::Workflow(&workflow::STG),
    },
    FormatRow {
        format: Format::Patterson,
        words: "a project in Patterson's form",
        title: "PSPLIB (.sm, .mm, .rcp, .sch)",
        extensions: &["rcp"],
        options: &[],
        longest_line: GRAPH_LINE,
        detects: |head| Ok(psplib::is_patterson(head)),
        reader: Reader::Document(|file, text, _| psplib::read_patterson(file, text)),
    },
    FormatRow {
        format: Format::ProGen,
        words: "a project of PSPLIB",
        title: "PSPLIB (.sm, .mm, .rcp, .sch)",
        extensions: &["sm", "mm"],
        options: &[],
        longest_line: GRAPH_LINE,
        detects: psplib::is_progen,
        reader: Reader::Document(|file, text, _| psplib::read_progen(file, text)),
    },
    FormatRow {
        format: Format::ProGenMax,
        words: "a project with time lags",
        title: "PSPLIB (.sm, .mm, .rcp, .sch)",
        extensions: &["sch"],
        options: &[],
        longest_line: GRAPH_LINE,
        detects: |head| Ok(psplib::is_max(head)),
        reader: Reader::Document(|file, text, _| psplib::read_max(file, text)),
    },
    FormatRow {
        format: Format::List,
        words: "a list of commands",
        title: "a list of shell commands",
        extensions: &[
            "txt", "list", "lst", "sh", "cmd", "cmds", "command", "commands", "job", "jobs", "tasks", "parallel",
        ],
        options: OF_MATRICES,
        longest_line: LIST_LINE,
        detects: |head| Ok(list::is_group(head)),
        reader: Reader::List(list::read_numbered),
    },
    FormatRow {
        format: Format::MoldableSet,
        words: "moldable set",
        title: "a moldable set",
        extensions: &[],
        options: &[],
        longest_line: None,
        detects: |head| Ok(moldable_set::is_set(head)),
        reader: Reader::Document(|file, text, _| Ok((moldable_set::read_moldable_set(file, text.as_bytes())?, vec![]))),
    },
    FormatRow {
        format: Format::Batsim,
        words: "a Batsim workload",
        title: "Batsim",
        extensions: &["json"],
        options: &[FormatOption::Processors, FormatOption::Speedup, FormatOption::Flops],
        longest_line: None,
        detects: |head| Ok(batsim::is_workload(head)),
        reader: Reader::Log(|file, input, flops, _| batsim::read_batsim(file, input, flops)),
    },
    FormatRow {
        format: Format::Sacct,
        words: "a dump of sacct",
        title: "sacct --parsable2",
        extensions: &[],
        options: &[FormatOption::Processors, FormatOption::Speedup],
        longest_line: None,
        detects: |head| Ok(sacct::is_dump(head)),
        reader: Reader::Log(|file, input, _, _| sacct::read_sacct(file, input)),
    },
    FormatRow {
        format: Format::Swf,
        words: "SWF",
        title: "SWF",
        extensions: &["swf"],
        options: &[FormatOption::Processors, FormatOption::Speedup, FormatOption::Queues],
        longest_line: None,
        detects: |head| Ok(swf::is_log(head)),
        reader: Reader::Log(|file, input, _, lines| swf::records(file, input, lines)),
    },
    FormatRow {
        format: Format::Etc,
        words: "ETC matrix",
        title: "ETC",
        extensions: &["etc"],
        options: OF_MATRICES,
        longest_line: None,
        detects: |head| Ok(etc::is_matrix(head)),
        reader: Reader::Matrix(etc::read_etc),
    },
    FormatRow {
        format: Format::Json,
        words: "native JSON",
        title: "native JSON or TOML",
        extensions: &["json"],
        options: &[],
        longest_line: None,
        detects: instance::is_json,
        reader: Reader::Document(|file, text, machine| {
            Ok((instance::read_json(file, text.as_bytes(), machine)?, vec![]))
        }),
    },
    FormatRow {
        format: Format::Toml,
        words: "native TOML",
        title: "native JSON or TOML",
        extensions: &["toml"],
        options: &[],
        longest_line: None,
        detects: |head| Ok(head.named),
        reader: Reader::Document(|file, text, machine| Ok((instance::read_toml(file, text, machine)?, vec![]))),
    },
];

impl Format {
    /// Returns all formats.
    pub fn all() -> impl Iterator<Item = Self> {
        let mut all = ROWS.each_ref().map(|row| row.format);
        all.sort_unstable();
        all.into_iter()
    }

    /// Returns the format of a file, or `None` if no format matches. The beginning of the file and the file extension
    /// decide.
    ///
    /// # Errors
    /// An error message if the file only seems to have a format. The message states what the file is, and what the
    /// user should do.
    pub(crate) fn of(head: &Head<'_>) -> Result<Option<Self>, String> {
        for row in &ROWS {
            if (row.detects)(&head.named_by(row.extensions))? {
                return Ok(Some(row.format));
            }
        }
        Ok(None)
    }

    pub(crate) fn row(self) -> &'static FormatRow {
        ROWS.iter().find(|row| row.format == self).expect("each format has a row")
    }

    /// Returns the file extensions of the format, in lower case and without the dot.
    pub fn extensions(self) -> &'static [&'static str] {
        self.row().extensions
    }

    /// Returns whether the reader of this format accepts an option.
    pub fn takes(self, option: FormatOption) -> bool {
        self.row().options.contains(&option)
    }

    /// Returns whether this is a format of logs. A log lists the jobs that a machine ran. Logs can be replayed, and
    /// their jobs can be made moldable.
    pub fn is_log(self) -> bool {
        matches!(self.row().reader, Reader::Log(_))
    }

    /// Returns the names of the formats that `holds` selects, separated by commas.
    pub fn titles(holds: impl Fn(Self) -> bool) -> String {
        let mut titles: Vec<&str> = Self::all().filter(|&format| holds(format)).map(|one| one.row().title).collect();
        titles.dedup();
        titles.join(", ")
    }

    /// Returns the names of all kinds of files that can be read as an instance, separated by commas.
    pub fn readable() -> String {
        Self::titles(|_| true) + ", a Makefile (Makefile, .mk, .mak) or a Snakefile (Snakefile, .smk)"
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().words)
    }
}

impl FormatOption {
    /// Returns the error message for a file in a format that does not accept this option.
    pub(crate) fn refusal(self, format: Format) -> String {
        const NO_MACHINES: &str = "files without machines (logs, workflows, lists of commands, ETC matrices)";
        let takers = || Format::titles(|format| format.takes(self));
        let file = format!("but this file is {format}");
        match self {
            Self::Bandwidth => format!("a bandwidth is allowed only for workflows, {file}"),
            Self::Storage => format!("a node that holds files is allowed only for workflows, {file}"),
            Self::Trace => {
                format!("a trace of Nextflow is allowed only with its graph in DOT (-with-dag FILE.dot), {file}")
            }
            Self::Speedup => format!("a speed-up is allowed only for logs ({}), {file}", takers()),
            Self::Processors => format!(
                "a number of processors is allowed only for {NO_MACHINES}, {file}; change the platform in the file, \
                 or replace it with --platform FILE"
            ),
            Self::Flops | Self::Queues => format!("this option is allowed only for {}, {file}", takers()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_has_one_row() {
        for format in Format::all() {
            assert_eq!(ROWS.iter().filter(|row| row.format == format).count(), 1, "{format}");
        }
        let last = Format::ProGenMax;
        assert_eq!(Format::all().last(), Some(last), "name the last variant of `Format` here");
        assert_eq!(Format::all().count(), last as usize + 1, "a variant of `Format` has no row");
    }
}
