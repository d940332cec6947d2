//! What a run has done so far, on disk.
//!
//! `journal.jsonl` holds one [`Record`] a line and only grows; every record is on disk before what it announces
//! happens (a start, a signal) or right after it happened (an end). Killed at any moment, at most the last line is
//! torn, and it is ignored. A lock file keeps a second run out of the folder.

mod error;
mod history;
mod record;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use makespan_core::Instance;

pub use error::JournalError;
pub use history::{Attempt, History, Progression};
pub use record::{Cause, Record};

use crate::fingerprint;

/// The version of the records.
pub const VERSION: u32 = 1;

/// The name of the journal in the folder of a run.
pub const FILE: &str = "journal.jsonl";

/// How long a lock is waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// An open journal. It holds the lock of its folder until it is dropped, or its process is killed.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    _lock: File,
}

impl Journal {
    /// Begins a journal, or continues the one in the folder when `resume` says so, and tells what it holds.
    ///
    /// # Errors
    /// [`JournalError`] when another process uses the folder, when it holds a run and `resume` is not set, when that
    /// run is of another instance, or when a line other than the last cannot be read.
    pub fn open(folder: &Path, instance: &Instance, resume: bool) -> Result<(Self, History), JournalError> {
        let lock = locked(&folder.join("lock"))?;
        let path = folder.join(FILE);
        let fail = |source| JournalError::Io { path: path.clone(), source };
        let text = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(fail(error)),
        };
        let (records, sound) = history::records(&path, &text)?;
        if !records.is_empty() && !resume {
            return Err(JournalError::Exists { folder: folder.to_owned() });
        }
        let file = OpenOptions::new().append(true).create(true).open(&path).map_err(fail)?;
        file.set_len(sound as u64).map_err(fail)?;
        let mut journal = Self { path: path.clone(), file, _lock: lock };
        let mut records = records;
        if records.is_empty() {
            let header = header(instance);
            journal.append(&header)?;
            // The name of a new file is on disk only when its folder is.
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(fail)?;
            records.push(header);
        }
        let history = History::of(&path, instance, &records)?;
        Ok((journal, history))
    }

    /// Whether [`Journal::open`] would accept the folder; nothing is made or changed.
    ///
    /// # Errors
    /// As [`Journal::open`].
    pub fn check(folder: &Path, instance: &Instance, resume: bool) -> Result<(), JournalError> {
        let path = folder.join(FILE);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(source) => return Err(JournalError::Io { path, source }),
        };
        let lock = folder.join("lock");
        if lock.exists() {
            drop(locked(&lock)?);
        }
        let (records, _) = history::records(&path, &bytes)?;
        match (records.is_empty(), resume) {
            (true, _) => Ok(()),
            (false, false) => Err(JournalError::Exists { folder: folder.to_owned() }),
            (false, true) => History::of(&path, instance, &records).map(drop),
        }
    }

    /// Adds a record; it is on disk when this returns.
    ///
    /// # Errors
    /// [`JournalError::Io`], a full disk for one.
    pub fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        let line = serde_json::to_string(record).map_err(io::Error::from);
        line.and_then(|line| {
            self.file.write_all(format!("{line}\n").as_bytes())?;
            self.file.sync_data()
        })
        .map_err(|source| JournalError::Io { path: self.path.clone(), source })
    }
}

fn header(instance: &Instance) -> Record {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Record::Header {
        version: VERSION,
        fingerprint: fingerprint(instance),
        origin: i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
    }
}

fn locked(path: &Path) -> Result<File, JournalError> {
    let fail = |source| JournalError::Io { path: path.to_owned(), source };
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(fail)?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            // A process that was killed while it forked leaves the lock to its child, until that one executes.
            Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => thread::sleep(PATIENCE / 50),
            Err(TryLockError::WouldBlock) => return Err(JournalError::Busy { path: path.to_owned() }),
            Err(TryLockError::Error(error)) => return Err(fail(error)),
        }
    }
}

#[cfg(test)]
mod tests;
