//! File formats of Makespan: instances, schedules and logs, to and from the types of the core; Gantt charts, reports
//! and figures.
//!
//! [`read_instance`] reads any instance file, by content first. Readers never panic: whatever is wrong with a file
//! is one [`FormatError`] that names the place and what would be right. Writers go through [`write_atomic`], so that
//! no file is ever half written.

#![warn(missing_docs)]

mod atomic;
mod bandwidth;
mod document;
pub mod error;
pub mod etc;
pub mod gantt;
mod input;
pub mod instance;
pub mod jobs_csv;
pub mod moldable_set;
pub mod plot;
mod read;
pub mod report;
mod scalar;
pub mod schedule;
mod suggest;
pub mod swf;

pub use atomic::write_atomic;
pub use error::{FormatError, Place};
pub use etc::write_etc;
pub use instance::{Language, write_instance};
pub use moldable_set::read_moldable_set;
pub use read::{Format, ReadInstance, ReadOptions, parse_instance, read_instance};
pub use schedule::ScheduleFile;
pub use swf::{SpeedupSpec, write_swf};
