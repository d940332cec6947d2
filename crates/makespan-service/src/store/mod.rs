//! The store of a service: an `SQLite` database with a write-ahead log. Every commit is on disk before the service reports it.

mod change;
mod check;
mod fault;
mod finish;
mod forget;
mod hand;
mod handed;
mod read;
mod reservations;
mod row;
mod schema;
mod snapshot;
mod spans;
#[cfg(test)]
mod tests;

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

pub use change::{CommitEffects, JobEvent, LogEvent, StoreChange};
pub use check::{StoreState, examine};
pub(crate) use fault::{JournalFault, database_fault, for_service, journal_fault, missing_outputs, round_folder};
pub use finish::TaskEnd;
pub use hand::Round;
pub use handed::HandedJob;
pub use read::{PendingRow, Reader, TaskRow};
pub use row::JobRow;
pub use snapshot::{is_served, is_store, newer_version, snapshot};

/// File name of the database.
pub const DATABASE: &str = "store.sqlite";
/// File name of the list of files of a backup.
pub const BACKUP: &str = "backup.json";
/// File name of a note about the last backup, which the running service writes to its log.
pub const BACKED_UP: &str = "backed-up";
/// File name of a note about a restore, which the next service writes to its log.
pub const RESTORED: &str = "restored";
/// Maximum wait of a connection for another connection that holds the database lock.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum wait for the lock of the store.
const LOCKED: Duration = Duration::from_secs(1);
/// Maximum number of idle read connections that are kept open.
const READERS: usize = 4;
/// Maximum size of a database that is checked for damage when the service starts, in bytes. The check of such a database
/// takes about a tenth of a second.
const CHECKED: u64 = 64 << 20;
/// Number of prepared statements in the cache of a connection.
const READY: usize = 128;

/// The open folder of a service. A lock keeps other services out of the folder.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    writer: Connection,
    /// The number of the latest event.
    latest: u64,
    /// Number of processors of the platform.
    processors: u32,
    /// Notes about the opening: an unclean end of the previous service, and a conversion of the tables.
    remarks: Vec<String>,
    _lock: File,
}

/// A pool of connections that read the database.
#[derive(Debug)]
pub struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Reader>>,
}

fn open(path: &Path, writes: bool) -> Result<Connection, rusqlite::Error> {
    let access = if writes { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(READY);
    if writes {
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
    }
    Ok(connection)
}

impl Store {
    /// Opens the store in a folder, and creates the folder if it is missing. Only the owner can read a new folder.
    ///
    /// # Errors
    /// A message with the path, if another service uses the store, if the database belongs to another program, or if the store
    /// cannot be read or written.
    pub fn open(folder: &Path) -> Result<Self, String> {
        Self::with_steps(folder, &schema::STEPS)
    }

    fn with_steps(folder: &Path, steps: &[&str]) -> Result<Self, String> {
        let at = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| {
            format!("{}: cannot create this folder: {error}; name another folder with --store", folder.display())
        })?;
        let folder = folder.canonicalize().map_err(|error| at(folder, &error))?;
        refuse(&folder)?;
        let lock = locked(&folder.join("lock")).map_err(|error| at(&folder, &error))?;
        let path = folder.join(DATABASE);
        private(&path).map_err(|error| at(&path, &error))?;
        // A service that ends cleanly empties the write-ahead log.
        let was_killed = fs::metadata(folder.join(format!("{DATABASE}-wal"))).is_ok_and(|log| log.len() > 0);
        let mut remarks = Vec::new();
        if was_killed {
            remarks.push("the previous service on this store did not stop cleanly".to_owned());
        }
        let restored = folder.join(RESTORED);
        if let Ok(note) = fs::read_to_string(&restored) {
            remarks.push(note);
            fs::remove_file(&restored).map_err(|error| at(&restored, &error))?;
        }
        let in_database = |error: rusqlite::Error| database_fault(&path, &error);
        let mut writer = open(&path, true).map_err(in_database)?;
        let found = schema::migrate(&mut writer, &path, steps)?;
        if (1..steps.len() as i64).contains(&found) {
            remarks.push(format!("the store was converted from version {found} to version {}", steps.len()));
        }
        // The journal mode is set only after the checks, because setting it changes the file, which may belong to
        // another program.
        writer.pragma_update(None, "journal_mode", "WAL").map_err(in_database)?;
        if database_size(&folder) <= CHECKED {
            fault::check_database(&path, &writer)?;
        }
        compare(&folder, &writer)?;
        let latest = "SELECT coalesce(max(sequence), 0) FROM happenings";
        let latest: i64 = writer.query_row(latest, [], |row| row.get(0)).map_err(in_database)?;
        Ok(Self { folder, writer, latest: latest as u64, processors: 1, remarks, _lock: lock })
    }

    /// Returns this store for a platform with the given number of processors.
    #[must_use]
    pub fn on(self, processors: u32) -> Self {
        Self { processors, ..self }
    }

    /// Returns the folder of the store as an absolute path.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns notes about the opening of the store, for the log.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Returns the number of the latest event.
    pub fn latest(&self) -> u64 {
        self.latest
    }

    /// Executes several changes in one transaction. When this function returns `Ok`, the changes are on disk.
    ///
    /// # Errors
    /// The error of the database. After an error, nothing has changed.
    pub fn change<T>(
        &mut self,
        act: impl FnOnce(&mut StoreChange<'_>) -> Result<T, rusqlite::Error>,
    ) -> Result<(T, CommitEffects), rusqlite::Error> {
        let transaction: Transaction<'_> = self.writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut change = StoreChange::new(transaction, self.latest, self.processors);
        let done = act(&mut change)?;
        let taken = change.commit()?;
        self.latest = taken.latest;
        Ok((done, taken))
    }

    /// Moves all changes from the write-ahead log to the database file, which is then a complete copy of the store.
    ///
    /// # Errors
    ///
    /// The error of the database.
    pub fn checkpoint(&self) -> Result<(), rusqlite::Error> {
        self.writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    }

    /// Returns a pool of connections that read this store.
    pub fn readers(&self) -> Readers {
        Readers { path: self.folder.join(DATABASE), idle: Mutex::new(Vec::new()) }
    }
}

impl Readers {
    /// Reads a consistent state of the database, without waiting for writers.
    ///
    /// # Errors
    ///
    /// The error of the database.
    pub fn read<T>(&self, act: impl FnOnce(&Reader) -> Result<T, rusqlite::Error>) -> Result<T, rusqlite::Error> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let reader = idle.map_or_else(|| open(&self.path, false).map(Reader), Ok)?;
        let instant = reader.0.unchecked_transaction()?;
        let done = act(&reader)?;
        instant.finish()?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < READERS {
            idle.push(reader);
        }
        Ok(done)
    }

    /// Like [`Readers::read`], but returns errors as messages with place and remedy.
    ///
    /// # Errors
    /// A message about the error of the database.
    pub fn explained<T>(&self, act: impl FnOnce(&Reader) -> Result<T, rusqlite::Error>) -> Result<T, String> {
        self.read(act).map_err(|error| database_fault(&self.path, &error))
    }
}

/// Returns an error if a service must not use a folder: all users may write to it, it is a backup, or its database is
/// missing.
fn refuse(folder: &Path) -> Result<(), String> {
    let mode = fs::metadata(folder).map_err(|error| format!("{}: {error}", folder.display()))?.mode();
    // Other users may have read permission for the folder, because only the owner can read the files and folders
    // in it. The group may have write permission, because many users have their own group.
    if mode & 0o002 != 0 {
        let why = "all users may write to this folder, which contains commands and tokens";
        return Err(format!("{}: {why} (mode {:o}); run chmod 700 on this folder", folder.display(), mode & 0o777));
    }
    if folder.join(BACKUP).exists() {
        let remedy = "restore the backup into a new folder: makespan service restore";
        return Err(format!("{}: this folder is a backup; {remedy} {0} FOLDER", folder.display()));
    }
    if !is_store(folder)
        && let Some(round) = a_round_of(folder)
    {
        let message = "the database is missing or empty, but its jobs have run in";
        let remedy = "restore the database from a copy, or name another folder";
        return Err(format!("{}: {message} {round}; {remedy}", folder.join(DATABASE).display()));
    }
    Ok(())
}

/// Returns the size of the database in the folder of a store, with its write-ahead log, in bytes.
pub fn database_size(folder: &Path) -> u64 {
    let size = |name: String| fs::metadata(folder.join(name)).map_or(0, |file| file.len());
    size(DATABASE.to_owned()) + size(format!("{DATABASE}-wal"))
}

/// Returns the name of a round's folder in `folder`, if there is such a folder.
fn a_round_of(folder: &Path) -> Option<String> {
    let names = fs::read_dir(folder).ok()?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let is_round = |name: &String| name.strip_prefix("round-").is_some_and(|number| number.parse::<u64>().is_ok());
    names.filter(is_round).min()
}

/// Returns an error if the database is older than the folders `round-N` in the same folder. Such a database would reuse
/// the numbers of old jobs, although the output files of these jobs still exist.
fn compare(folder: &Path, database: &Connection) -> Result<(), String> {
    let path = folder.join(DATABASE);
    let number = |sql: &str| {
        let found = database.query_row(sql, [], |row| row.get::<_, i64>(0));
        found.map_err(|error| database_fault(&path, &error))
    };
    let last_round = number("SELECT coalesce(max(round), 0) FROM rounds")? as u64;
    let last_job = number("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'jobs'), 0)")? as u64;
    let older = |what: String| {
        Err(format!(
            "{}: the database is older than the folders of its rounds: the database does not contain {what}. The last \
             changes of a database are in {DATABASE}-wal; restore both files, or choose another folder",
            path.display()
        ))
    };
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let names = |folder: &Path| entries(folder).filter_map(|entry| entry.file_name().into_string().ok());
    let rounds = names(folder).filter_map(|name| name.strip_prefix("round-")?.parse::<u64>().ok());
    if let Some(round) = rounds.filter(|&round| round > last_round).min() {
        return older(format!("round {round}"));
    }
    // The name of an output file begins with the number of the job.
    let job_of = |name: String| {
        let stem = name.strip_suffix(".out")?;
        stem.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u64>().ok()
    };
    let jobs = names(&folder.join(format!("round-{last_round}"))).filter_map(job_of);
    match jobs.filter(|&job| job > last_job).min() {
        Some(job) => older(format!("job {job}, which has output in round-{last_round}")),
        None => Ok(()),
    }
}

/// Creates a file that only its owner can read, unless the file exists.
fn private(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => fs::metadata(path).map(drop),
        made => made.map(drop),
    }
}

fn locked(path: &Path) -> Result<File, String> {
    private(path).map_err(|error| error.to_string())?;
    let file = OpenOptions::new().write(true).open(path).map_err(|error| error.to_string())?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            // If a service is killed between fork and exec of a child, the child holds the lock until it calls exec.
            Err(TryLockError::WouldBlock) if begun.elapsed() < LOCKED => thread::sleep(LOCKED / 50),
            Err(TryLockError::WouldBlock) => {
                return Err("another service uses this store; stop that service, or name another --store".into());
            }
            Err(TryLockError::Error(error)) => return Err(error.to_string()),
        }
    }
}
