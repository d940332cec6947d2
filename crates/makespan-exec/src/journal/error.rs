//! Why a journal cannot be used.

use std::io;
use std::path::{Path, PathBuf};

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
    /// It was deleted while the run went on.
    #[error(
        "{path} was deleted while the run went on; running jobs were ended, and what had ended is no longer on record"
    )]
    Gone {
        /// Where it was.
        path: PathBuf,
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
    /// The run is of another instance, and nothing tells which of its tasks are the same.
    #[error(
        "{path} is the journal of another instance, and an earlier version wrote it, which did not tell jobs apart; resume it with \
         the instance that the run began with, or choose another folder"
    )]
    TasksUnknown {
        /// The journal.
        path: PathBuf,
    },
    /// The run is of other tasks: none of them is among those of the instance, edited or not.
    #[error(
        "the run in {folder} is of {jobs} other tasks: none of this instance has the name or the command of one of them; name the \
         folder of its run, or leave --resume out to begin a new one"
    )]
    OtherJobs {
        /// Where the run is.
        folder: PathBuf,
        /// How many tasks it has.
        jobs: u64,
    },
    /// A version that this program does not know.
    #[error(
        "{path} has version {version}; this program reads version {}: continue with the program that started the run, or choose \
         another folder",
        super::VERSION
    )]
    Version {
        /// The journal.
        path: PathBuf,
        /// What it states.
        version: u64,
    },
    /// A file that nobody wrote as a journal.
    #[error("{path} is no journal of a run and is not overwritten; choose another folder")]
    NotAJournal {
        /// The file.
        path: PathBuf,
    },
    /// A file that does not belong to the run but has a name that the run would write.
    #[error(
        "{path} {what} and belongs to no run, so it is not overwritten; choose another folder, or move the file away"
    )]
    Stranger {
        /// The path of the file.
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
    /// A line that is no record, or not the one that is due.
    #[error("{path}, line {line}: {reason}; the journal is damaged. {REMEDY}")]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A status file that does not agree with the journal.
    #[error("{status}: {reason}; it or {path} is damaged. {REMEDY}")]
    Contradiction {
        /// The journal.
        path: PathBuf,
        /// The status file.
        status: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Status files without a journal.
    #[error("{path} is missing or empty, and yet {folder} tells that jobs ended (`{job}` for one). {REMEDY}")]
    Lost {
        /// The journal.
        path: PathBuf,
        /// The folder of the status files.
        folder: PathBuf,
        /// One of the jobs.
        job: String,
    },
    /// Nothing tells which run it was.
    #[error("{path} is damaged, and nothing of it is certain; choose another folder")]
    NothingCertain {
        /// The journal.
        path: PathBuf,
    },
}

/// What can be done about damage.
const REMEDY: &str = "`--resume --recover` goes on with what is certain and runs again what is not";

impl JournalError {
    /// Returns the error for a file that belongs to no run.
    pub(crate) fn stranger(path: &Path) -> Self {
        let is_link = path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
        let what = if is_link { "is a symbolic link" } else { "exists" };
        Self::Stranger { path: path.to_owned(), what }
    }

    /// Whether recovery may help.
    pub(super) fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::Contradiction { .. } | Self::Lost { .. } | Self::OtherRun { .. })
    }
}
