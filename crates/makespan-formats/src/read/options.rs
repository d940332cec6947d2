//! Options for reading a file.

use makespan_core::{Link, Platform};

use crate::error::{FormatError, Place};
use crate::format::{Format, FormatOption};
use crate::look::Lists;
use crate::{NextflowTrace, SpeedupSpec};

/// How an instance file is read. The options of logs and of workflows are refused for other files.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadOptions {
    /// Processors of a log's platform, instead of the header's, or the machines of an ETC matrix that is one column, or
    /// the nodes of one processor of speed 1 on which a workflow is planned.
    pub processors: Option<u32>,
    /// The machines, instead of those of the file; a workflow has none of its own.
    pub platform: Option<Platform>,
    /// Number of floating-point operations in one unit of work of `platform`, as in [`crate::ReplayOptions`].
    pub unit_flops: Option<f64>,
    /// The link between any two of the nodes that `processors` makes for a workflow.
    pub network: Option<Link>,
    /// The node that holds the files that come from outside a workflow: its tasks fetch them from there. Without one these
    /// files are there at once.
    pub storage: Option<String>,
    /// Trace of a Nextflow run. It states the tasks and run times of the processes in the DOT file.
    pub trace: Option<NextflowTrace>,
    /// Makes the jobs of a log moldable.
    pub speedup: Option<SpeedupSpec>,
    /// Of `downey:random`.
    pub seed: u64,
    /// True if impossible values are errors instead of warnings. A log is then refused if a record would be skipped or
    /// changed.
    pub strict: bool,
    /// The machine on which files are planned that say nothing of machines: lists of commands, and native files without a
    /// platform. Of its memory and GPUs a list has what its commands need.
    pub machine: Option<Platform>,
    /// Whether workflows that say nothing of machines are planned on `machine`, too.
    pub workflows_on_machine: bool,
    /// Whether a native file that states a placement keeps it on the machines of `platform`.
    pub keeps_placement: bool,
    /// Rule that decides whether a text is read as a list of commands.
    pub lists: Lists,
    /// Least number of digits of the numbers in the names of a list's jobs. `None` stands for the digits of the last number.
    pub digits: Option<usize>,
    /// Most decompressed bytes.
    pub max_bytes: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            processors: None,
            platform: None,
            unit_flops: None,
            network: None,
            storage: None,
            trace: None,
            speedup: None,
            seed: 0,
            strict: false,
            machine: None,
            workflows_on_machine: false,
            keeps_placement: false,
            lists: Lists::Detected,
            digits: None,
            max_bytes: crate::input::MAX_BYTES,
        }
    }
}

impl ReadOptions {
    /// Returns an error if an option is set that this format does not accept.
    pub(super) fn refuse_for(&self, format: Format, file: &str) -> Result<(), FormatError> {
        let stated = [
            self.network.map(|_| FormatOption::Bandwidth),
            self.storage.as_ref().map(|_| FormatOption::Storage),
            self.trace.as_ref().map(|_| FormatOption::Trace),
            self.processors.map(|_| FormatOption::Processors),
            self.speedup.map(|_| FormatOption::Speedup),
        ];
        match stated.into_iter().flatten().find(|&option| !format.takes(option)) {
            Some(option) => Err(FormatError::content(file, Place::default(), option.refusal(format))),
            None => Ok(()),
        }
    }
}
