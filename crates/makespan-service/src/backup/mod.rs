//! Backups of a store: made while the service runs, and restored into a new folder.
//!
//! A backup is a folder with a copy of the database, the output of the ended tasks, the list of tokens, and the file
//! `backup.json`, which states the size and the SHA-256 hash of every file. The copy of the database is the state of
//! one instant. The journal of the current round (run of the engine) may already contain more ends of tasks than the
//! database, so these ends are added to the copy. Therefore no job that has succeeded runs again after a restore.

mod copy;
mod journaled;
mod list;
mod make;
mod open;
mod restore;

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use make::{BackupSummary, back_up};
pub use restore::{RestoreSummary, restore};

use crate::store::database_fault;
use crate::words::JobNumber;

/// The error of a backup or of a restore. After an error, the target does not exist, or is as empty as before.
#[derive(Debug, Error)]
pub enum BackupError {
    /// The folder contains no store.
    #[error("{path}: there is no store; name the store of a service with --store")]
    NoStore {
        /// The folder.
        path: PathBuf,
    },
    /// The folder contains no backup.
    #[error(
        "{path}: there is no backup, because the file `backup.json` is missing; name a folder that `makespan service backup` made"
    )]
    NoBackup {
        /// The folder.
        path: PathBuf,
    },
    /// The target exists and is not an empty folder.
    #[error("{path}: this path exists, and is not an empty folder; name a new folder")]
    Occupied {
        /// The target.
        path: PathBuf,
    },
    /// A file or folder cannot be read or written.
    #[error("{path}: cannot {doing}: {source}; {remedy}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The failed operation, such as `copy`.
        doing: &'static str,
        /// The error of the operating system.
        source: io::Error,
        /// The remedy.
        remedy: &'static str,
    },
    /// The database cannot be read or written.
    #[error("{0}")]
    Database(String),
    /// The journal of the current round is missing, damaged, or older than the database.
    #[error("the backup would lack ends of jobs: {0}")]
    Journal(String),
    /// Jobs ended while no service was running.
    #[error(
        "the service does not run, so the store does not contain the ends of {}; start the service, and make the \
         backup while the service runs", jobs(.0)
    )]
    Unrecorded(Vec<JobNumber>),
    /// Jobs ended, but the running service has not recorded their ends.
    #[error(
        "the running service has not recorded the ends of {}; `makespan queue` and the log of the service show the \
         cause; solve this problem, and make the backup again", jobs(.0)
    )]
    NotRecording(Vec<JobNumber>),
    /// A file of a backup is damaged.
    #[error("{path}: the backup is damaged: {reason}; restore another backup")]
    Damaged {
        /// The damaged file.
        path: PathBuf,
        /// The difference from the list of files.
        reason: String,
    },
    /// A later version of makespan made the backup.
    #[error("{path}: a later version of makespan made this backup ({version}); restore it with that version")]
    Newer {
        /// The backup.
        path: PathBuf,
        /// The version that made the backup.
        version: String,
    },
}

/// Returns text such as `jobs 3, 4 and 5`, with up to ten numbers.
fn jobs(numbers: &[JobNumber]) -> String {
    const MAX: usize = 10;
    let first: Vec<String> = numbers.iter().take(MAX).map(ToString::to_string).collect();
    match (numbers.len(), first.split_last()) {
        (1, Some((last, _))) => format!("job {last}"),
        (count, _) if count > MAX => format!("jobs {} and {} more", first.join(", "), count - MAX),
        (_, Some((last, rest))) => format!("jobs {} and {last}", rest.join(", ")),
        (_, None) => "no jobs".to_owned(),
    }
}

/// Returns a function that makes an error of a database an error with a path.
fn in_database(path: &Path) -> impl Fn(rusqlite::Error) -> BackupError + Clone + use<> {
    let path = path.to_owned();
    move |error| BackupError::Database(database_fault(&path, &error))
}

/// Returns a function that makes an error of the operating system an error with a path.
fn failed(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> BackupError {
    let path = path.to_owned();
    move |source| {
        let remedy = match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "free space on this disk, or name another folder"
            }
            io::ErrorKind::FileTooLarge => "name a folder in a file system that allows larger files",
            io::ErrorKind::PermissionDenied => "run the command as the user of the service, or name another folder",
            io::ErrorKind::NotFound => "create the parent folder, or name another folder",
            _ => "check the disk, or name another folder",
        };
        BackupError::File { path, doing, source, remedy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_named() {
        let some = |count: u64| jobs(&(1..=count).map(JobNumber).collect::<Vec<_>>());
        assert_eq!((some(1), some(2), some(3)), ("job 1".into(), "jobs 1 and 2".into(), "jobs 1, 2 and 3".into()));
        assert!(some(12).ends_with("9, 10 and 2 more"), "{}", some(12));
    }
}
