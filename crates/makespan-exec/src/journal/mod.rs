//! The journal: the state of a run on disk.
//!
//! `journal.jsonl` has one [`JournalRecord`] on each line. Records are only appended. Each line contains its number
//! and a checksum, so that damage is detected. Each record is written before the event that it announces, such as a
//! start or a signal, and is synced to disk before the event is reported. Records of one instant are written and
//! synced together. If the session is killed, at most the last line is incomplete, and readers ignore it. If the disk
//! is full, an incomplete line is cut off at once, and its records are kept in memory until they can be written. A
//! lock file keeps a second session out of the folder.

mod content;
mod edited;
mod error;
mod estimates;
mod history;
mod record;
mod salvage;
pub(crate) mod seal;
pub(crate) mod strangers;

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use makespan_core::Instance;

pub use content::{RecordedRun, UnnamedTasks, ended_tasks, grows, task_names};
pub use error::JournalError;
pub use estimates::{EqualTimes, RecordedTimes};
pub use history::{Attempt, History, Progression};
pub use record::{Cause, JournalRecord};

use crate::files::Files;
pub use crate::files::JOURNAL as FILE;
use crate::identity::identity;
use crate::keep::KeptTasks;
use crate::status::nanoseconds;
use crate::storage::{Disk, FileLocation, Handle, Storage, created, writable};
pub use crate::tasks::TaskList;
use content::JournalContent;
pub(crate) use edited::TasksBeforeEdit;
use strangers::{MARK, has_mark};

/// Version of the records.
pub const VERSION: u32 = 7;

/// Maximum wait for a lock.
const PATIENCE: Duration = Duration::from_millis(500);

/// Options for opening a journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "choices that go in any combination")]
pub struct Opening {
    /// True to continue an existing journal. False if an existing journal is an error.
    pub resume: bool,
    /// True to continue from the valid records of a damaged journal. The damaged journal is kept under another name.
    pub recover: bool,
    /// True if another program states what remains to be done. If true, the instance may lack tasks that the run has
    /// finished.
    pub of_now: bool,
    /// True if jobs may arrive during the run. If true, the fingerprint of a new journal includes only the machines.
    pub grows: bool,
}

/// An open journal. The journal holds the lock of its folder until it is dropped or its process is killed.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Box<dyn Handle>,
    /// Number of bytes that are certainly synced to disk.
    sound: u64,
    /// Number of written bytes, except bytes that must be written again after a failed sync.
    written: u64,
    /// Number of bytes in complete lines. Lines that must be written again are included, because their content is
    /// fixed.
    whole: u64,
    /// True if the file may contain an incomplete line after the complete lines.
    torn: bool,
    /// The number of the first record in `waiting`.
    number: u64,
    /// Records that are not yet synced to disk.
    waiting: Vec<JournalRecord>,
    /// Number of waiting records that were written to the file.
    in_file: usize,
    _lock: Option<File>,
}

/// A journal at the begin of a session.
pub(crate) struct OpenedJournal {
    pub journal: Journal,
    pub history: History,
    /// Messages for the user.
    pub notes: Vec<String>,
    /// The task list to which the journal and the history refer, if the instance was edited after this list was
    /// written. In this case, call [`Journal::carried_over`].
    pub earlier: Option<TaskList>,
}

impl Journal {
    /// Begins a journal, or continues the journal in the folder. Also returns the state of the run. If the instance
    /// was edited, tasks with unchanged commands and inputs keep their state.
    ///
    /// # Errors
    /// [`JournalError`] in these cases: another process uses the folder; the folder holds a run that must not be
    /// continued; another file has the name of the journal; the run belongs to another instance; the journal is
    /// damaged.
    pub fn open(folder: &Path, instance: &Instance, how: Opening) -> Result<(Self, History), JournalError> {
        let lock = Some(locked(&folder.join("lock"))?.0);
        let files = Files::at(folder.to_owned(), instance);
        let now = SystemTime::now();
        let OpenedJournal { journal, history, earlier, .. } = Self::begin(&Disk, &files, instance, how, now, lock)?;
        match earlier {
            None => Ok((journal, history)),
            Some(list) => {
                let old = TasksBeforeEdit { list: &list, history: &history };
                let (journal, history, _) = journal.carried_over(&Disk, &files, old, instance, KeptTasks::SameNames)?;
                Ok((journal, history))
            }
        }
    }

    /// Begins or continues a journal on any storage in the same way as [`Journal::open`]. Also returns messages for
    /// the user. The caller holds the lock.
    pub(crate) fn begin(
        storage: &dyn Storage,
        files: &Files,
        instance: &Instance,
        how: Opening,
        now: SystemTime,
        lock: Option<File>,
    ) -> Result<OpenedJournal, JournalError> {
        let path = files.folder().join(FILE);
        let fail = |source| JournalError::Io { path: path.clone(), source };
        let found = JournalContent::inspect(storage, files, instance, how)?;
        let mut notes = Vec::new();
        if let Some(note) = found.replace(storage, files).map_err(fail)? {
            notes.push(note);
        }
        let file = storage.open(&path).map_err(fail)?;
        let (sound, number) = (found.length().map_err(fail)?, found.records.len() as u64);
        let mut journal = Self {
            path: path.clone(),
            file,
            sound,
            written: sound,
            whole: sound,
            torn: true,
            number,
            waiting: Vec::new(),
            in_file: 0,
            _lock: lock,
        };
        let mut records = found.records;
        if records.is_empty() {
            let header = header(instance, now, how.grows);
            journal.append(&header)?;
            // The name of a new file is synced to disk only with its folder.
            storage.sync_folder(files.folder()).map_err(fail)?;
            records.push(header);
        }
        journal.cut().map_err(fail)?;
        let history = match &found.earlier {
            None => History::of(&path, instance, &records)?,
            Some(_) => History::of_edited(&path, &records)?.1,
        };
        Ok(OpenedJournal { journal, history, notes, earlier: found.earlier })
    }

    /// Checks that [`Journal::open`] would accept the folder. Does not create or change any file.
    ///
    /// # Errors
    /// The errors of [`Journal::open`].
    pub fn check(folder: &Path, instance: &Instance, how: Opening) -> Result<(), JournalError> {
        Self::check_beside(folder, instance, how, &[])
    }

    /// Makes the checks of [`Journal::check`]. For a new run, also returns an error if a file with a name in `results`
    /// exists.
    pub(crate) fn check_beside(
        folder: &Path,
        instance: &Instance,
        how: Opening,
        results: &[String],
    ) -> Result<(), JournalError> {
        let lock = folder.join("lock");
        let is_own = match lock.symlink_metadata() {
            Ok(_) => locked(&lock)?.1,
            Err(_) => false,
        };
        let files = Files::at(folder.to_owned(), instance);
        if Self::inspect(&files, instance, how)? { strangers::check(&files, results, is_own) } else { Ok(()) }
    }

    /// Checks the journal while the caller holds the lock. Returns true if the journal has no records yet.
    pub(crate) fn inspect(files: &Files, instance: &Instance, how: Opening) -> Result<bool, JournalError> {
        JournalContent::inspect(&Disk, files, instance, how).map(|found| found.records.is_empty())
    }

    /// Returns whether [`Journal::open`] would replace a damaged journal by its valid records.
    pub(crate) fn needs_recovery(storage: &dyn Storage, files: &Files, instance: &Instance, how: Opening) -> bool {
        let strict = Opening { recover: false, ..how };
        how.recover && JournalContent::inspect(storage, files, instance, strict).is_err_and(|error| error.is_damage())
    }

    /// Checks that the file is still at the path of the journal.
    ///
    /// # Errors
    /// [`JournalError::Gone`] if the journal was deleted. [`JournalError::Io`] if the folder of the journal was moved.
    pub(crate) fn in_place(&self) -> Result<(), JournalError> {
        let fail = |source| JournalError::Io { path: self.path.clone(), source };
        match self.file.place(&self.path).map_err(fail)? {
            FileLocation::Here => Ok(()),
            FileLocation::Elsewhere => Err(fail(io::Error::new(
                io::ErrorKind::NotFound,
                "the journal is no longer at this path; move its folder back, or stop the run and resume it in the \
                 new folder",
            ))),
            FileLocation::Nowhere => Err(JournalError::Gone { path: self.path.clone() }),
        }
    }

    /// Adds a record, which the next successful [`Journal::commit`] syncs to disk.
    pub fn note(&mut self, record: JournalRecord) {
        self.waiting.push(record);
    }

    /// Drops waiting records for which `keep` returns false.
    pub(crate) fn retain(&mut self, keep: impl FnMut(&JournalRecord) -> bool) {
        self.waiting.retain(keep);
    }

    /// Writes all waiting records and syncs them to disk. After an error, records that are not synced remain waiting,
    /// and the function can be called again.
    ///
    /// # Errors
    ///
    /// [`JournalError::Io`], for example if the disk is full.
    pub fn commit(&mut self) -> Result<(), JournalError> {
        self.write().and_then(|()| self.sync())
    }

    /// Writes all waiting records to the file. Written records survive the death of any process, but possibly not a
    /// power failure. After an error, none of these records remains in the file.
    pub(crate) fn write(&mut self) -> Result<(), JournalError> {
        if self.in_file == self.waiting.len() {
            return Ok(());
        }
        self.in_place()?;
        self.write_lines().map_err(|source| JournalError::Io { path: self.path.clone(), source })
    }

    fn write_lines(&mut self) -> io::Result<()> {
        let mut lines = String::new();
        for (number, record) in (self.number..).zip(&self.waiting).skip(self.in_file) {
            lines += &seal::seal(&serde_json::to_string(record)?, number);
        }
        self.cut()?;
        self.torn = true;
        if let Err(error) = self.file.write_at(self.written, lines.as_bytes()) {
            // Cuts off an incomplete record. If this fails, the next write cuts it off first.
            let _ = self.cut();
            return Err(error);
        }
        self.torn = false;
        self.written += lines.len() as u64;
        self.whole = self.whole.max(self.written);
        self.in_file = self.waiting.len();
        Ok(())
    }

    /// Returns whether records were written that may not be synced to disk yet.
    pub(crate) fn awaits_sync(&self) -> bool {
        self.in_file > 0
    }

    /// Syncs all written records to disk.
    pub(crate) fn sync(&mut self) -> Result<(), JournalError> {
        if self.in_file == 0 {
            return Ok(());
        }
        if let Err(source) = self.file.sync() {
            // After a failed sync, the system may have discarded the data, so the data will be written again. Until
            // then, the old data stay in the file, because running tasks rely on their start records.
            (self.written, self.in_file) = (self.sound, 0);
            return Err(JournalError::Io { path: self.path.clone(), source });
        }
        self.sound = self.written;
        self.number += self.in_file as u64;
        self.waiting.drain(..std::mem::take(&mut self.in_file));
        Ok(())
    }

    /// Cuts off the bytes after the last complete line.
    fn cut(&mut self) -> io::Result<()> {
        if self.torn {
            self.file.set_len(self.whole)?;
            self.torn = false;
        }
        Ok(())
    }

    /// Adds a record and syncs it to disk.
    ///
    /// # Errors
    ///
    /// [`JournalError::Io`], for example if the disk is full.
    pub fn append(&mut self, record: &JournalRecord) -> Result<(), JournalError> {
        self.note(record.clone());
        self.commit()
    }
}

fn header(instance: &Instance, now: SystemTime, grows: bool) -> JournalRecord {
    let fingerprint = identity(instance, grows);
    JournalRecord::Header { version: VERSION, fingerprint, origin: nanoseconds(now), grows }
}

/// Locks the folder of a run through the lock file `path`. Returns the locked file, and whether it already existed.
/// Writes the mark of a run into a new lock file.
pub(crate) fn locked(path: &Path) -> Result<(File, bool), JournalError> {
    let fail = |source| JournalError::Io { path: path.to_owned(), source };
    let (mut file, is_new) = match created(path) {
        Ok(file) => (file, true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (writable(path).map_err(fail)?, false),
        Err(error) => return Err(fail(error)),
    };
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            // If the disk is full, the new lock file stays empty, like the lock files of earlier versions.
            Ok(()) if is_new => {
                let _ = file.write_all(MARK.as_bytes());
                return Ok((file, false));
            }
            Ok(()) => {
                let is_own = has_mark(path).map_err(fail)?;
                let is_empty = file.metadata().map_err(fail)?.len() == 0;
                return if is_own || is_empty { Ok((file, is_own)) } else { Err(JournalError::stranger(path)) };
            }
            // If a process is killed during a fork, its child holds the lock until the child executes its program.
            Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => thread::sleep(PATIENCE / 50),
            Err(TryLockError::WouldBlock) => return Err(JournalError::Busy { path: path.to_owned() }),
            Err(TryLockError::Error(error)) => return Err(fail(error)),
        }
    }
}

/// Returns whether a session holds the lock of its folder.
fn is_locked(path: &Path) -> bool {
    let file = File::open(path);
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests;
