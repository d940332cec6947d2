//! Opens a history that cannot be written, such as a history in a folder of another user.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::schema::{APPLICATION, STEPS};
use super::{History, PATIENCE};
use crate::HistoryError;
use crate::tables::{self, DatabaseKind};

impl History {
    /// Opens a history for reading. If the file can be written, this function does the same as [`History::open`], so
    /// that tables of an earlier version are migrated. Otherwise, the file is not changed.
    ///
    /// # Errors
    /// [`HistoryError`].
    pub fn open_for_reading(path: &Path) -> Result<Self, HistoryError> {
        match Self::open(path) {
            Err(error @ (HistoryError::ReadOnly { .. } | HistoryError::Unavailable { .. })) => {
                read_only(path).unwrap_or(Err(error))
            }
            opened => opened,
        }
    }
}

/// Opens a file without changing it. Returns `None` if the file cannot be opened, or if its tables are of another
/// version.
pub(super) fn read_only(path: &Path) -> Option<Result<History, HistoryError>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = usable(Connection::open_with_flags(path, flags)).or_else(|| {
        // In a read-only folder, `SQLite` cannot create the index of the log. Without a log, no index is needed.
        let log = PathBuf::from(OsString::from_vec([path.as_os_str().as_bytes(), b"-wal"].concat()));
        let is_complete = log.metadata().map_or(true, |log| log.len() == 0);
        let flags = flags | OpenFlags::SQLITE_OPEN_URI;
        usable(is_complete.then(|| Connection::open_with_flags(immutable(path), flags))?)
    })?;
    Some(Ok(History { connection, path: path.to_owned() }))
}

/// Returns the connection if its tables can be read and are of the current version.
pub(super) fn usable(opened: Result<Connection, rusqlite::Error>) -> Option<Connection> {
    let connection = opened.ok()?;
    connection.busy_timeout(PATIENCE).ok()?;
    let kind = tables::kind(&connection, APPLICATION).ok()?;
    (kind == DatabaseKind::Ours(STEPS.len() as i64)).then_some(connection)
}

/// Returns the URI of a file that no process changes.
pub(super) fn immutable(path: &Path) -> String {
    let mut text = "file:".to_owned();
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text + "?immutable=1"
}
