//! File formats of Makespan. Reads instances, schedules and logs into the types of the core, and writes these types.
//! Also draws Gantt charts, reports and figures.
//!
//! [`read_instance`] reads an instance file of any format and recognises the format mainly by the content.
//! [`read_replay`] reads a log of any format, and separates the data that a policy may use from the real run times.
//! Readers never panic. If a file is wrong, they return a [`FormatError`] that names the place, the problem and the
//! remedy. Writers use [`write_atomic`], so that a file is never half written.

#![warn(missing_docs)]

pub mod anomaly;
mod atomic;
mod clock;
mod domains_file;
mod encoding;
pub mod etc;
mod failures;
mod figure;
mod format;
pub mod gantt;
mod ignored;
mod input;
pub mod instance;
mod job_log;
pub mod jobs_csv;
mod lines;
pub mod list;
mod look;
pub mod moldable_set;
mod names;
mod needs;
mod numbers;
mod odd;
#[cfg(test)]
mod packing;
pub mod performance_profile;
pub mod picture;
pub mod plot;
mod policy_log;
pub mod prometheus;
mod read;
mod replay;
pub mod report;
pub mod simgrid;
mod speedup;
#[cfg(test)]
mod submitted;
pub mod swf;
mod toml_document;
pub mod tree_plan;
mod wanted;
mod xml;

pub use makespan_verify::native::{PlanFile, PlanOrigin, error, schedule};
use makespan_verify::native::{amount, bandwidth, document, guess, scalar, suggest};

pub use amount::parse_amount;
pub use atomic::write_atomic;
pub use bandwidth::parse_bandwidth;
pub use clock::{Clock, length};
pub use domains_file::{DomainEntry, DomainsFile, parse_domains, read_domains};
pub use error::{FilePlace, FormatError};
pub use etc::write_etc;
pub use failures::{parse_failures, read_failures};
pub use format::sacct::{SacctMemory, SacctMemoryTable, parse_sacct_memory, read_sacct_memory};
pub use format::{Format, FormatOption};
use format::{batsim, workflow};
pub use instance::{Language, ReadMachines, parse_machines, read_machines, read_platform, write_instance};
pub use job_log::{JobLog, LoggedJob};
pub use look::states_shell;
pub use moldable_set::read_moldable_set;
pub use names::CsvNames;
pub use policy_log::{LogRow, write_log_csv};
pub use read::{
    ReadInstance, ReadOptions, is_list, parse_instance, parse_job_log, parse_replay, read_instance, read_job_log,
    read_replay, read_task_files,
};
pub use replay::{Estimates, LoggedEnd, LoggedStarts, Replay, ReplayOptions};
pub use schedule::ScheduleFile;
pub use speedup::{SpeedupSpec, SpeedupSpecError};
pub use swf::{write_swf, write_swf_log, write_swf_trace};
pub use tree_plan::TreePlanFile;
pub use wanted::Lists;
pub use workflow::compound_xml::write_compound_xml;
pub use workflow::{NextflowTrace, StatedFiles};
