//! Errors of the journal.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The reason why a journal cannot be used.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The operating system reported an error.
    #[error("{path}: {source}")]
    Io {
        /// Path of the file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The journal was deleted during the run.
    #[error("{path} was deleted during the run; running jobs were ended, and the record of the finished jobs is lost")]
    Gone {
        /// Path of the deleted journal.
        path: PathBuf,
    },
    /// The folder already holds a run.
    #[error("{folder} already contains a run; resume the run (--resume), or choose another folder")]
    Exists {
        /// Path of the folder.
        folder: PathBuf,
    },
    /// Another process uses the folder.
    #[error(
        "{path} is locked: another process executes the run in this folder; wait until it ends, or choose another \
         folder"
    )]
    Busy {
        /// Path of the lock file.
        path: PathBuf,
    },
    /// The journal belongs to another instance.
    #[error(
        "{path} is the journal of a run of another instance (fingerprint {journal}, but this instance has \
         {instance}); use the instance with which the run began, or choose another folder"
    )]
    OtherInstance {
        /// Path of the journal.
        path: PathBuf,
        /// Fingerprint in the journal.
        journal: String,
        /// Fingerprint of the instance.
        instance: String,
    },
    /// The journal belongs to another instance and has no list of its tasks, so the common tasks are unknown.
    #[error(
        "{path} is the journal of a run of another instance, in the format of an earlier version, which does not list \
         the jobs; resume the run with the instance with which it began, or choose another folder"
    )]
    TasksUnknown {
        /// Path of the journal.
        path: PathBuf,
    },
    /// The run in the folder and the instance have no task in common, not even an edited task.
    #[error(
        "the run in {folder} has {jobs} other tasks: no task of this instance has the name or the command of one of \
         these tasks; name the folder of the right run, or remove --resume to begin a new run"
    )]
    OtherJobs {
        /// Path of the folder.
        folder: PathBuf,
        /// Number of tasks of the run in the folder.
        jobs: u64,
    },
    /// The journal has a version that this program does not support.
    #[error(
        "{path} has version {version}, but this program supports only version {}; continue with the program that \
         started the run, or choose another folder",
        super::VERSION
    )]
    Version {
        /// Path of the journal.
        path: PathBuf,
        /// The version that the journal states.
        version: u64,
    },
    /// The file is not a journal.
    #[error("{path} is not a journal of a run, so it is not overwritten; choose another folder")]
    NotAJournal {
        /// Path of the file.
        path: PathBuf,
    },
    /// Another file has the path of a file that the run would write.
    #[error(
        "{path} {what} and belongs to no run, so it is not overwritten; choose another folder, or move the file away"
    )]
    Stranger {
        /// Path of the file.
        path: PathBuf,
        /// State of the file: "exists", or "is a symbolic link".
        what: &'static str,
    },
    /// The journal in this folder belongs to another run of the same instance.
    #[error(
        "{status} and {path} belong to different runs of this instance; restore the journal of this folder, or resume the other run in its \
         own folder. `--resume --recover` continues from the status files of this folder"
    )]
    OtherRun {
        /// Path of the journal.
        path: PathBuf,
        /// A status file of the other run.
        status: PathBuf,
    },
    /// A line is not a record, or has the wrong number.
    #[error("{path}, line {line}: {reason}; the journal is damaged. {REMEDY}")]
    Damaged {
        /// Path of the journal.
        path: PathBuf,
        /// Number of the line, counted from 1.
        line: usize,
        /// Description of the damage.
        reason: String,
    },
    /// A status file contradicts the journal.
    #[error("{status}: {reason}; this file or {path} is damaged. {REMEDY}")]
    Contradiction {
        /// Path of the journal.
        path: PathBuf,
        /// Path of the status file.
        status: PathBuf,
        /// Description of the contradiction.
        reason: String,
    },
    /// There are status files but no journal.
    #[error("{path} is missing or empty, but {folder} shows that jobs have ended, such as `{job}`. {REMEDY}")]
    Lost {
        /// Path of the journal.
        path: PathBuf,
        /// Path of the folder with the status files.
        folder: PathBuf,
        /// Name of one of the jobs.
        job: String,
    },
    /// The damaged journal does not identify its run.
    #[error("{path} is damaged, and no record of it can be read; choose another folder")]
    NothingCertain {
        /// Path of the journal.
        path: PathBuf,
    },
}

/// Advice for a damaged journal.
const REMEDY: &str = "`--resume --recover` keeps the jobs with intact records and runs all other jobs again";

impl JournalError {
    /// Returns the error for a file that does not belong to a run.
    pub(crate) fn stranger(path: &Path) -> Self {
        let is_link = path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
        let what = if is_link { "is a symbolic link" } else { "exists" };
        Self::Stranger { path: path.to_owned(), what }
    }

    /// Returns whether recovery may help.
    pub(super) fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::Contradiction { .. } | Self::Lost { .. } | Self::OtherRun { .. })
    }
}
