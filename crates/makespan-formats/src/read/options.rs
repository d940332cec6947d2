//! Options for reading a file.

use makespan_core::{Link, Platform};

use crate::error::{FilePlace, FormatError};
use crate::format::{Format, FormatOption};
use crate::wanted::Lists;
use crate::{NextflowTrace, SpeedupSpec};

/// Options for reading an instance file. If an option is only for logs or workflows, its use for other formats is an
/// error.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadOptions {
    /// Number of processors. For a log, this number replaces the number in the header. If an ETC matrix has only one
    /// column, `processors` is the number of machines. For a workflow, `processors` is the number of nodes, each with
    /// one processor of speed 1.
    pub processors: Option<u32>,
    /// Machines that replace the machines of the file. A workflow without machines is also planned on `platform`.
    pub platform: Option<Platform>,
    /// Number of floating-point operations in one unit of work of `platform`, as in [`crate::ReplayOptions`].
    pub unit_flops: Option<f64>,
    /// Link between each pair of the nodes that `processors` creates for a workflow.
    pub network: Option<Link>,
    /// Node that stores the input files of a workflow. These are the files that no task writes. Tasks fetch the files
    /// from the node. If `None`, the input files are available everywhere from the beginning.
    pub storage: Option<String>,
    /// Trace of a Nextflow run. The trace states the tasks and run times of the processes in the DOT file.
    pub trace: Option<NextflowTrace>,
    /// Speed-up law that makes the jobs of a log moldable.
    pub speedup: Option<SpeedupSpec>,
    /// Seed for the speed-up `downey:random`.
    pub seed: u64,
    /// True if impossible values are errors instead of warnings. If true, a log with a record that would be skipped or
    /// changed is refused.
    pub strict: bool,
    /// Machine for files that do not state machines: lists of commands, and native files without a platform. If no
    /// command of a list needs memory, the platform of the instance has no memory. The same rule applies to GPUs.
    pub machine: Option<Platform>,
    /// True if `machine` is also used for workflows that do not state machines.
    pub workflows_on_machine: bool,
    /// True if a native file's `placement` is also used on the machines of `platform`.
    pub keeps_placement: bool,
    /// Rule that decides whether a text is read as a list of commands.
    pub lists: Lists,
    /// Minimum number of digits of the numbers in the names of a list's jobs. The default is the number of digits of
    /// the last number.
    pub digits: Option<usize>,
    /// Shell that runs the lines of a list, such as `bash`. The default is the shell in the first line of the list, or
    /// else `sh`.
    pub shell: Option<String>,
    /// Maximum size after decompression, in bytes.
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
            shell: None,
            max_bytes: crate::input::MAX_BYTES,
        }
    }
}

impl ReadOptions {
    /// Returns an error if an option is set that is not for this format.
    pub(super) fn refuse_for(&self, format: Format, file: &str) -> Result<(), FormatError> {
        let stated = [
            self.network.map(|_| FormatOption::Bandwidth),
            self.storage.as_ref().map(|_| FormatOption::Storage),
            self.trace.as_ref().map(|_| FormatOption::Trace),
            self.processors.map(|_| FormatOption::Processors),
            self.speedup.map(|_| FormatOption::Speedup),
        ];
        match stated.into_iter().flatten().find(|&option| !format.takes(option)) {
            Some(option) => Err(FormatError::content(file, FilePlace::default(), option.refusal(format))),
            None => Ok(()),
        }
    }
}
