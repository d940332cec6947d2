//! Why a journal cannot be used.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a journal cannot be used.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The system refuses.
    #[error("{path}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The folder holds a run already.
    #[error("{folder} holds a run already; resume it, or choose another folder")]
    Exists {
        /// Which folder.
        folder: PathBuf,
    },
    /// Another process works in the folder.
    #[error("{path} is locked: another process executes the run in this folder; wait for it, or choose another folder")]
    Busy {
        /// The lock file.
        path: PathBuf,
    },
    /// The run is of another instance.
    #[error(
        "{path} is the journal of another instance (fingerprint {journal}, this one has {instance}); \
         give the instance that the run began with, or choose another folder"
    )]
    OtherInstance {
        /// The journal.
        path: PathBuf,
        /// Fingerprint in the journal.
        journal: String,
        /// Fingerprint of the instance.
        instance: String,
    },
    /// A version that this program does not know.
    #[error("{path} has version {version}; this program reads version {known}", known = super::VERSION)]
    Version {
        /// The journal.
        path: PathBuf,
        /// What it states.
        version: u32,
    },
    /// A line that is no record although others follow it.
    #[error("{path}, line {line}: {reason}; the file was changed by hand or damaged, start anew in another folder")]
    Malformed {
        /// The journal.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}
