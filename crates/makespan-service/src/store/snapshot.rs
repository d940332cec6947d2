//! Copies of the database, and the reset of jobs after a restore.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::Path;

use makespan_history::tables::{self, DatabaseKind};
use rusqlite::{Error, ErrorCode};

use super::change::StoreChange;
use super::fault::{check_database, database_fault, round_folder};
use super::read::Reader;
use super::row::number;
use super::schema::{APPLICATION, STEPS};
use super::{DATABASE, open, private};
use crate::words::{HappeningKind, JobNumber, State};

/// Returns true if a folder contains the database of a store.
pub fn is_store(folder: &Path) -> bool {
    fs::metadata(folder.join(DATABASE)).is_ok_and(|file| file.is_file() && file.len() > 0)
}

/// Returns true if a service uses the store in a folder.
pub fn is_served(folder: &Path) -> bool {
    File::open(folder.join("lock")).is_ok_and(|file| file.try_lock_shared().is_err())
}

/// Copies the database of a store to another folder. The copy is the state of one instant, and contains the changes
/// in the write-ahead log. A service may change the database meanwhile.
///
/// # Errors
/// A message with the path.
pub fn snapshot(folder: &Path, to: &Path) -> Result<(), String> {
    let (from, to) = (folder.join(DATABASE), to.join(DATABASE));
    check_version(folder)?;
    private(&to).map_err(|error| format!("{}: {error}", to.display()))?;
    let connection = open(&from, false).map_err(|error| database_fault(&from, &error))?;
    // The copy contains only pages that the copying reads, so damage in other pages would remain unnoticed.
    check_database(&from, &connection)?;
    let copied = connection.execute("VACUUM INTO ?1", [to.display().to_string()]).map(drop);
    copied.map_err(|error| {
        if matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)) {
            return database_fault(&from, &error);
        }
        let remedy = "check both disks and free space, or name another folder";
        format!("{}: cannot copy this database to {}: {error}; {remedy}", from.display(), to.display())
    })
}

/// Returns an error if this version of makespan cannot use the database of a store.
///
/// # Errors
/// A message with the path.
pub(super) fn check_version(folder: &Path) -> Result<(), String> {
    let path = folder.join(DATABASE);
    match kind(folder)? {
        DatabaseKind::Foreign => {
            Err(format!("{}: this is the database of another program; choose another folder", path.display()))
        }
        DatabaseKind::Ours(version) if version > STEPS.len() as i64 => Err(format!(
            "{}: a later version of makespan made this database (its tables have version {version}; this program \
             supports versions up to {}); use that version",
            path.display(),
            STEPS.len()
        )),
        DatabaseKind::Ours(_) => Ok(()),
    }
}

/// Returns the version of the tables of a store.
///
/// # Errors
/// A message with the path.
pub(super) fn version(folder: &Path) -> Result<i64, String> {
    Ok(match kind(folder)? {
        DatabaseKind::Ours(version) => version,
        DatabaseKind::Foreign => 0,
    })
}

/// Returns the version of the tables of a store if it is later than the versions that this program supports.
///
/// # Errors
/// A message with the path.
pub fn newer_version(folder: &Path) -> Result<Option<i64>, String> {
    version(folder).map(|version| Some(version).filter(|&version| version > STEPS.len() as i64))
}

fn kind(folder: &Path) -> Result<DatabaseKind, String> {
    let path = folder.join(DATABASE);
    let found = open(&path, false).and_then(|connection| tables::kind(&connection, APPLICATION));
    found.map_err(|error| database_fault(&path, &error))
}

impl Reader {
    /// Returns the round and the name of the output files of each ended task.
    ///
    /// # Errors
    /// The error of the database.
    pub fn outputs(&self) -> Result<Vec<(u64, String)>, Error> {
        self.outputs_of("state NOT IN ('waiting', 'running')", |(_, round, name)| (round, name))
    }

    /// Returns the number of jobs with a succeeded task without an output file, in the store in `folder`.
    ///
    /// # Errors
    /// The error of the database.
    pub fn missing_outputs(&self, folder: &Path) -> Result<u64, Error> {
        let mut found: BTreeMap<u64, BTreeSet<OsString>> = BTreeMap::new();
        let mut missing: BTreeSet<u64> = BTreeSet::new();
        for (job, round, name) in self.outputs_of("state = 'succeeded'", |output| output)? {
            let names = found.entry(round).or_insert_with(|| {
                let entries = fs::read_dir(round_folder(folder, round)).into_iter().flatten().flatten();
                entries.map(|entry| entry.file_name()).collect()
            });
            if !name.contains('/') && !names.contains(&OsString::from(format!("{name}.out"))) {
                missing.insert(job);
            }
        }
        Ok(missing.len() as u64)
    }

    /// Returns the job, the round and the name of the output files of each task that fulfils a condition.
    fn outputs_of<T>(&self, condition: &str, act: impl Fn((u64, u64, String)) -> T) -> Result<Vec<T>, Error> {
        let sql = format!(
            "SELECT (SELECT round FROM handed WHERE handed.job = tasks.job ORDER BY position DESC LIMIT 1), output, job \
             FROM tasks WHERE output IS NOT NULL AND {condition} ORDER BY job, task"
        );
        let mut select = self.0.prepare_cached(&sql)?;
        let read = |row: &rusqlite::Row<'_>| {
            let round = row.get::<_, Option<i64>>(0)?.unwrap_or(1) as u64;
            Ok(act((number(row, 2)?, round, row.get(1)?)))
        };
        select.query_map([], read)?.collect()
    }
}

impl StoreChange<'_> {
    /// Returns all jobs that have started and not ended to the waiting state, with all of their tasks, and begins a
    /// new round. Ends the unfinished jobs that were cancelled. Returns the jobs that wait again.
    ///
    /// # Errors
    /// The error of the database.
    pub fn reset(&mut self) -> Result<Vec<JobNumber>, Error> {
        let numbers = |change: &Self, sql: &str| -> Result<Vec<JobNumber>, Error> {
            let mut select = change.connection().prepare(sql)?;
            select.query_map([], |row| row.get::<_, i64>(0).map(|number| JobNumber(number as u64)))?.collect()
        };
        let open = "state IN ('held', 'waiting', 'running')";
        let started = format!(
            "SELECT number FROM jobs WHERE {open} AND cancelled = 0 \
             AND (state = 'running' OR EXISTS (SELECT 1 FROM tasks WHERE tasks.job = jobs.number)) ORDER BY number"
        );
        let started = numbers(self, &started)?;
        for &job in &started {
            self.connection().prepare_cached("DELETE FROM tasks WHERE job = ?1")?.execute([job.0 as i64])?;
            let sql = "UPDATE jobs SET state = 'waiting', started = NULL, reason = NULL, running = 0, succeeded = 0, failed = 0, \
                       timed_out = 0, not_started = 0 WHERE number = ?1 RETURNING user";
            let user: String = self.connection().prepare_cached(sql)?.query_row([job.0 as i64], |row| row.get(0))?;
            self.happened(job, &user, None, (HappeningKind::Retried, State::Waiting))?;
        }
        for job in numbers(self, &format!("SELECT number FROM jobs WHERE {open} AND cancelled = 1 ORDER BY number"))? {
            let sql = "UPDATE tasks SET state = 'cancelled', ended = coalesce(ended, started) WHERE job = ?1 AND state IN ('waiting', 'running')";
            self.connection().prepare_cached(sql)?.execute([job.0 as i64])?;
            self.end_cancelled(job)?;
        }
        // The journal of the earlier round does not exist any more. The service replaces a round without a platform.
        self.begin_round("")?;
        Ok(started)
    }
}
