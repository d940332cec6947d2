//! Database of records.

mod append;
mod entry;
mod export;
mod filter;
mod recall;
mod schema;

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::HistoryError;
use crate::tables::{self, Kind};
use schema::{APPLICATION, STEPS};

pub use entry::Entry;
pub use filter::Filter;
pub(crate) use recall::{LONGEST, Recalled, Setting};

/// Timeout for the lock of another process that writes. Each write takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// Database of earlier runs: an `SQLite` file with a write-ahead log. Several processes may use it at the same time. If a
/// process is killed, only records that it had not yet committed are lost.
#[derive(Debug)]
pub struct History {
    connection: Connection,
    path: PathBuf,
}

impl History {
    /// Opens a history for reading and writing. A missing file or folder is created, with access for its owner only, because
    /// commands may contain secrets.
    ///
    /// # Errors
    /// [`HistoryError`].
    pub fn open(path: &Path) -> Result<Self, HistoryError> {
        Self::with_steps(path, &STEPS)
    }

    fn with_steps(path: &Path, steps: &[&str]) -> Result<Self, HistoryError> {
        make_file(path).map_err(|error| unavailable(path, &error))?;
        let fail = |error| HistoryError::of(path, error);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).map_err(fail)?;
        connection.busy_timeout(PATIENCE).map_err(fail)?;
        let known = steps.len() as i64;
        // Both values are read in one transaction, because another process may be creating the tables.
        let kind =
            connection.unchecked_transaction().and_then(|instant| tables::kind(&instant, APPLICATION)).map_err(fail)?;
        match kind {
            Kind::Foreign => return Err(HistoryError::Foreign { path: path.to_owned() }),
            Kind::Ours(version) if version > known => {
                return Err(HistoryError::Later { path: path.to_owned(), version, known });
            }
            Kind::Ours(_) => {}
        }
        if connection.is_readonly(rusqlite::MAIN_DB).map_err(fail)? {
            return Err(HistoryError::ReadOnly { path: path.to_owned() });
        }
        prepare(&mut connection, steps).map_err(fail)?;
        Ok(Self { connection, path: path.to_owned() })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that every page and every index is intact. This function reads the whole file.
    ///
    /// # Errors
    /// [`HistoryError::Damaged`] if a page or index is damaged.
    pub fn check(&self) -> Result<(), HistoryError> {
        let verdict = self.connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0));
        match verdict.map_err(|error| self.error(error))? {
            verdict if verdict == "ok" => Ok(()),
            reason => Err(HistoryError::Damaged { path: self.path.clone(), reason }),
        }
    }

    fn error(&self, error: rusqlite::Error) -> HistoryError {
        HistoryError::of(&self.path, error)
    }
}

/// Enables the write-ahead log and creates the tables. Only one process at a time can change the journal mode. `SQLite` does not
/// wait for this lock, so the change is retried.
fn prepare(connection: &mut Connection, steps: &[&str]) -> Result<(), rusqlite::Error> {
    const TRIES: u32 = 100;
    let mut tried = 1;
    // A file system without shared memory keeps its journal mode, which is equally safe.
    while let Err(error) = connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())) {
        if error.sqlite_error_code() != Some(ErrorCode::DatabaseBusy) || tried == TRIES {
            return Err(error);
        }
        tried += 1;
        std::thread::sleep(PATIENCE / TRIES);
    }
    // With a write-ahead log, this setting syncs the log before its pages are written back. A power failure may lose the last
    // records but causes no damage.
    connection.pragma_update(None, "synchronous", "normal")?;
    tables::migrate(connection, APPLICATION, steps).map(drop)
}

fn make_file(path: &Path) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn unavailable(path: &Path, error: &io::Error) -> HistoryError {
    let path = path.to_owned();
    match error.kind() {
        io::ErrorKind::ReadOnlyFilesystem => HistoryError::ReadOnly { path },
        io::ErrorKind::StorageFull => HistoryError::Full { path },
        _ => HistoryError::Unavailable { path, reason: error.to_string() },
    }
}

#[cfg(test)]
mod tests;
