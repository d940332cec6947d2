//! Why there is no history.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;

/// Why a history cannot be read or written. Each message begins with the file.
#[derive(Debug, Error)]
pub enum HistoryError {
    /// Its folder cannot be made, or the file cannot be opened, read or written.
    #[error("{}: cannot use the history: {reason}", .path.display())]
    Unavailable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// It can be read but not written.
    #[error("{}: cannot write the history: the file or its folder is read-only", .path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The disk is full.
    #[error("{}: cannot write the history: no space is left on the disk", .path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// It is no database, or a part of it was overwritten.
    #[error("{}: the history is damaged ({reason}); move the file away, and the next run begins a new one", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What `SQLite` says.
        reason: String,
    },
    /// It is a database of another program.
    #[error("{}: this database belongs to another program; name another file for the history", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A later version made it.
    #[error(
        "{}: a later version of makespan made this history (its version is {version}, this program knows {known}); \
         use that version, or name another file", .path.display()
    )]
    Later {
        /// The file.
        path: PathBuf,
        /// Of the file.
        version: i64,
        /// Of this program.
        known: i64,
    },
    /// Another process held it for longer than one waits.
    #[error("{}: another process keeps the history locked", .path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// Anything else.
    #[error("{}: {source}", .path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What `SQLite` says.
        source: rusqlite::Error,
    },
    /// What was exported could not be written.
    #[error("cannot write the table: {0}")]
    Output(io::Error),
}

impl HistoryError {
    /// What an error of `SQLite` means for a file.
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

/// Whether the file, or the folder in which its log is made, may not be written. `SQLite` only says that it cannot open something.
fn is_read_only(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let guarded = folder.metadata().is_ok_and(|folder| folder.permissions().readonly());
    let refused = OpenOptions::new().append(true).open(path).err().map(|error| error.kind());
    guarded || matches!(refused, Some(io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied))
}

/// The words of `SQLite`, without those of its binding.
fn message(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        other => other.to_string(),
    }
}
