//! The database of the history.

mod append;
mod entry;
mod export;
mod filter;
mod peaks;
mod reading;
mod recall;
mod schema;
mod starts;

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::HistoryError;
use crate::tables::{self, DatabaseKind};
use schema::{APPLICATION, STEPS};

pub use entry::StoredRecord;
pub use filter::Filter;
pub(crate) use peaks::RecalledPeak;
pub(crate) use recall::{LONGEST, RecallSetting, RecalledRun};
pub use starts::StartForecast;

/// Maximum wait for another process that is writing. A write takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// The history of earlier runs: an `SQLite` file with a write-ahead log, which several processes may use at the same time. A
/// process that is killed loses only the records that it had not yet committed.
#[derive(Debug)]
pub struct History {
    connection: Connection,
    path: PathBuf,
}

impl History {
    /// Opens a history for reading and writing. Creates the file and its folder if they are missing, accessible only to their
    /// owner, because commands may contain secrets.
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
        // Another process may be creating the tables. The transaction ensures that both reads see the same state.
        let kind =
            connection.unchecked_transaction().and_then(|instant| tables::kind(&instant, APPLICATION)).map_err(fail)?;
        match kind {
            DatabaseKind::Foreign => return Err(HistoryError::Foreign { path: path.to_owned() }),
            DatabaseKind::Ours(version) if version > known => {
                return Err(HistoryError::Later { path: path.to_owned(), version, known });
            }
            DatabaseKind::Ours(_) => {}
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

    /// Checks the integrity of every page and every index. Reads the whole file.
    ///
    /// # Errors
    /// [`HistoryError::Damaged`] if the check fails.
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

/// Enables the write-ahead log and migrates the tables. Only one process at a time can change the journal mode, and `SQLite` does
/// not wait for a lock in this case, so the loop retries.
fn prepare(connection: &mut Connection, steps: &[&str]) -> Result<(), rusqlite::Error> {
    const TRIES: u32 = 100;
    let mut tried = 1;
    // On a file system without shared memory, the journal mode stays as it is, which is just as safe.
    while let Err(error) = connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())) {
        if error.sqlite_error_code() != Some(ErrorCode::DatabaseBusy) || tried == TRIES {
            return Err(error);
        }
        tried += 1;
        std::thread::sleep(PATIENCE / TRIES);
    }
    // With a write-ahead log, this mode syncs the file before pages are written back. A power failure may lose the latest
    // records, but does not damage the database.
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
