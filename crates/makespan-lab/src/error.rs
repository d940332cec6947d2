//! Errors of the laboratory.

use std::path::{Path, PathBuf};

use makespan_core::InstanceError;
use makespan_generate::GenerateError;
use thiserror::Error;

/// The reason why a campaign fails.
#[derive(Debug, Error)]
pub enum LabError {
    /// The value of an option is invalid.
    #[error("{name} is {value}; {expected}")]
    Option { name: &'static str, value: String, expected: &'static str },
    /// The output folder is a file.
    #[error("`{0}` is a file, but results are written to a folder; name a folder, which is created if it is missing")]
    NoFolder(PathBuf),
    /// No project belongs to the requested sets.
    #[error("no project belongs to the sets {sets}; the available sets are {there}")]
    NoSuchSet { sets: String, there: String },
    /// A generator failed.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// The catalogue of algorithms rejects the spec of an algorithm.
    #[error("{0}")]
    Algorithm(String),
    /// The random jobs do not form a valid instance.
    #[error("the drawn jobs do not form a valid instance: {0}")]
    Instance(#[from] InstanceError),
    /// A scheduler failed.
    #[error("{algorithm} failed on {instance}: {reason}")]
    Scheduler { algorithm: String, instance: String, reason: String },
    /// A bound failed its verification, or the value of a schedule is below a bound.
    #[error("the {bound} bound of {instance} is wrong: {reason}")]
    Bound { bound: &'static str, instance: String, reason: String },
    /// The journal of an earlier campaign cannot be parsed.
    #[error("{}, line {line}: {reason}; delete the line, or the file to start again", path.display())]
    Journal { path: PathBuf, line: usize, reason: String },
    /// Another process writes to the same folder.
    #[error("{}: another campaign is writing to this folder; wait for it or choose another folder", .0.display())]
    Busy(PathBuf),
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    /// A result cannot be written.
    #[error(transparent)]
    Output(#[from] makespan_formats::FormatError),
    /// The threads of a campaign cannot be started.
    #[error("cannot start the threads of the campaign: {0}")]
    Threads(String),
}

impl LabError {
    /// Returns a function for `map_err` that adds `path` to an I/O error.
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}
