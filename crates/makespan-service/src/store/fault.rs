//! Messages about damaged databases and journals, with their places and remedies.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use makespan_core::counted;
use makespan_exec::journal::{FILE, JournalError, ended_tasks};
use rusqlite::{Connection, Error, ErrorCode};

use super::DATABASE;
use super::hand::Round;
use super::read::Reader;
use crate::words::JobNumber;

/// Advice for a damaged database.
const RESTORE: &str = "make a new store from a backup (makespan service restore BACKUP FOLDER), and start the service on \
                       the new store";

/// Returns the folder of a round in the folder of a store.
pub(crate) fn round_folder(folder: &Path, round: u64) -> PathBuf {
    folder.join(format!("round-{round}"))
}

/// Returns a message about an error of the database at `path`.
pub(crate) fn database_fault(path: &Path, error: &rusqlite::Error) -> String {
    let path = path.display();
    // Values that do not have the type of their column were not written by this program.
    let is_strange = matches!(
        error,
        Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
            | Error::Utf8Error(..)
    );
    let remedy = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            return format!("{path}: the database is damaged: {error}; {RESTORE}");
        }
        None if is_strange => return format!("{path}: the database is damaged: {error}; {RESTORE}"),
        Some(ErrorCode::DiskFull) => "free space on this disk",
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            "run the command as the owner of this file, and allow the owner to read and write the file"
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => "end the other program that uses this database",
        _ => "check the disk and the file, or name another folder",
    };
    format!("{path}: {error}; {remedy}")
}

/// Returns an error if `SQLite` finds damage in a database.
pub(super) fn check_database(path: &Path, connection: &Connection) -> Result<(), String> {
    let found = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match found.map_err(|error| database_fault(path, &error))?.as_str() {
        "ok" => Ok(()),
        damage => {
            // `SQLite` begins with a line that names the database, then lists one fault per line.
            let damage = damage.lines().filter(|line| !line.starts_with("***")).collect::<Vec<_>>().join("; ");
            Err(format!("{}: the database is damaged: {damage}; {RESTORE}", path.display()))
        }
    }
}

/// A fault of the journal of a round, with its place and remedy.
#[derive(Debug)]
pub(crate) enum JournalFault {
    /// The engine can continue with the legible records and the status files.
    Damaged(String),
    /// The engine would repeat ended jobs, or jobs that still run. Only a new round prevents this.
    Lost(String),
}

impl JournalFault {
    pub fn text(self) -> String {
        match self {
            Self::Damaged(text) | Self::Lost(text) => text,
        }
    }
}

/// Returns the fault of the journal of a round, if the journal is damaged, missing or older than the database.
///
/// # Errors
/// A message, if the database or the folder cannot be read.
pub(crate) fn journal_fault(folder: &Path, round: &Round, reader: &Reader) -> Result<Option<JournalFault>, String> {
    let in_database = |error: Error| database_fault(&folder.join(DATABASE), &error);
    let own = round_folder(folder, round.number);
    let path = own.join(FILE);
    let recover = "begin a new round with: makespan serve --recover (jobs that have started and not ended run again)";
    let (has_journal, status) = (has_journal(&own), first_status(&own));
    if !has_journal && status.is_none() {
        let started = reader.started_in(round).map_err(in_database)?;
        return Ok((started > 0).then(|| {
            JournalFault::Lost(format!(
                "{}: the journal is missing, although {} of this round (run of the engine) have started; without the \
                 journal, they would run again; copy the folder `round-{}` from a copy that is as new as the database, or \
                 {recover}",
                path.display(),
                counted(started, "job"),
                round.number
            ))
        }));
    }
    let (recorded, fault) = ended_tasks(&own).map_err(|error| for_service(&error.to_string()))?;
    let ended = reader.ended_in(round).map_err(in_database)?;
    let lost: BTreeSet<JobNumber> =
        ended.into_iter().filter(|(task, _)| !recorded.contains(task)).map(|(_, job)| job).collect();
    if !lost.is_empty() {
        return Ok(Some(JournalFault::Lost(format!(
            "{}: the journal is older than the database: it lacks the ends of {} that have ended; with this journal, they \
             would run again; {recover}",
            path.display(),
            counted(lost.len() as u64, "job")
        ))));
    }
    let error = match status {
        Some(ended) if !has_journal => {
            let job = ended.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Some(JournalError::Lost { path, folder: own, job })
        }
        _ => fault,
    };
    Ok(error.map(|error| JournalFault::Damaged(for_service(&error.to_string()))))
}

/// Returns true if the folder of a round has a journal that is not empty.
fn has_journal(round: &Path) -> bool {
    fs::metadata(round.join(FILE)).is_ok_and(|file| file.len() > 0)
}

/// Returns a complete status file of a round, if there is one. The name of a complete file ends with the number of the
/// attempt.
fn first_status(round: &Path) -> Option<PathBuf> {
    let is_complete = |path: &PathBuf| path.extension().is_some_and(|end| end.to_string_lossy().parse::<u32>().is_ok());
    fs::read_dir(round.join("status")).ok()?.filter_map(|entry| Some(entry.ok()?.path())).find(is_complete)
}

/// Returns a warning if output files of jobs that succeeded are missing, for example because the folder of a round was
/// deleted. Returns `None` if the database cannot be read.
pub(crate) fn missing_outputs(folder: &Path, reader: &Reader) -> Option<String> {
    let missing = reader.missing_outputs(folder).ok().filter(|&missing| missing > 0)?;
    Some(format!(
        "{}: the outputs of {} are missing; copy the folders `round-*` from a backup",
        folder.display(),
        counted(missing, "job")
    ))
}

/// Replaces advice for a run by advice for the service.
pub(crate) fn for_service(text: &str) -> String {
    text.replace("`--resume --recover`", "makespan serve --recover")
}
