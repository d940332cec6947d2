//! Errors of the history.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;

/// A failure to read or write the history. Each message begins with the path of the file.
#[derive(Debug, Error)]
pub enum HistoryError {
    /// The folder cannot be created, or the file cannot be opened, read or written.
    #[error("{}: cannot use the history: {reason}", .path.display())]
    Unavailable {
        /// Path of the history.
        path: PathBuf,
        /// The message of the operating system.
        reason: String,
    },
    /// The file can be read but not written.
    #[error("{}: cannot write the history: the file or its folder is read-only", .path.display())]
    ReadOnly {
        /// Path of the history.
        path: PathBuf,
    },
    /// The disk is full.
    #[error("{}: cannot write the history: no space is left on the disk", .path.display())]
    Full {
        /// Path of the history.
        path: PathBuf,
    },
    /// The file is not a database, or a part of it was overwritten.
    #[error(
        "{}: the history is damaged ({reason}); move the file away; the next run then begins a new history",
        .path.display()
    )]
    Damaged {
        /// Path of the history.
        path: PathBuf,
        /// The message of `SQLite`.
        reason: String,
    },
    /// The file is a database of another program.
    #[error("{}: this database belongs to another program; choose another file for the history", .path.display())]
    Foreign {
        /// Path of the history.
        path: PathBuf,
    },
    /// A later version of Makespan created the file.
    #[error(
        "{}: a later version of makespan made this history (its format has version {version}, this program supports \
         {known}); use the later version, or choose another file", .path.display()
    )]
    Later {
        /// Path of the history.
        path: PathBuf,
        /// Version of the tables in the file.
        version: i64,
        /// Latest version of the tables that this program can read.
        known: i64,
    },
    /// Another process locked the file for longer than the maximum wait.
    #[error("{}: another process keeps the history locked", .path.display())]
    Busy {
        /// Path of the history.
        path: PathBuf,
    },
    /// Any other error of `SQLite`.
    #[error("{}: {source}", .path.display())]
    Other {
        /// Path of the history.
        path: PathBuf,
        /// The error of `SQLite`.
        source: rusqlite::Error,
    },
    /// The exported records could not be written.
    #[error("cannot write the table: {0}")]
    Output(io::Error),
}

impl HistoryError {
    /// Converts an error of `SQLite` for the file at `path`.
    pub(crate) fn of(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, reason: message(&source) }
            }
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::CannotOpen) if is_read_only(&path) => Self::ReadOnly { path },
            Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure | ErrorCode::PermissionDenied) => {
                Self::Unavailable { path, reason: message(&source) }
            }
            _ => Self::Other { path, source },
        }
    }
}

/// Returns true if the file, or the folder in which its log is created, is read-only. `SQLite` itself only reports
/// that it cannot open a file.
fn is_read_only(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let guarded = folder.metadata().is_ok_and(|folder| folder.permissions().readonly());
    let refused = OpenOptions::new().append(true).open(path).err().map(|error| error.kind());
    guarded || matches!(refused, Some(io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied))
}

/// Returns the message of `SQLite`, without the prefix that its Rust binding adds.
fn message(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        other => other.to_string(),
    }
}
