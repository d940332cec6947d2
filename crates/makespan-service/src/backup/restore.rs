//! Restores a backup into a new folder.

use std::path::{Path, PathBuf};

use super::copy::{NewFolder, copy, write};
use super::list::BackupList;
use super::{BackupError, failed, in_database, jobs};
use crate::store::{RESTORED, Store, newer_version};
use crate::tokens;
use crate::words::JobNumber;

/// The result of a restore.
#[derive(Clone, Debug, PartialEq)]
pub struct RestoreSummary {
    /// The folder of the new store.
    pub folder: PathBuf,
    /// The number of jobs.
    pub jobs: u64,
    /// Jobs that were running when the backup was made. They start again from their beginnings.
    pub reset: Vec<JobNumber>,
    /// The instant of the backup, in seconds since 1970.
    pub made: f64,
    /// The number of tokens, including tokens that were removed from the old store after the backup.
    pub tokens: usize,
}

impl RestoreSummary {
    /// Returns the jobs that start again as text, such as `jobs 3 and 4`, or `None` if there are none.
    pub fn again(&self) -> Option<String> {
        (!self.reset.is_empty()).then(|| jobs(&self.reset))
    }
}

/// Restores a backup into the new folder `target`. Jobs that had started and not ended wait again, with all of their
/// tasks.
///
/// # Errors
/// [`BackupError`], for example if the backup is damaged, or if `target` exists and is not an empty folder.
pub fn restore(backup: &Path, target: &Path) -> Result<RestoreSummary, BackupError> {
    let list = BackupList::read(backup)?;
    let backup = backup.canonicalize().map_err(failed(backup, "read"))?;
    let new = NewFolder::new(target)?;
    for file in &list.files {
        let damaged = |reason: String| BackupError::Damaged { path: backup.join(&file.path), reason };
        let copied = copy(&file.path, &backup, &new.path)?
            .ok_or_else(|| damaged("the file is missing, or is not a regular file".to_owned()))?;
        if let Some(difference) = file.difference(&copied) {
            return Err(damaged(difference));
        }
    }
    if let Some(version) = newer_version(&new.path).map_err(BackupError::Database)? {
        let version = format!("{}, with tables of version {version}", list.version);
        return Err(BackupError::Newer { path: backup, version });
    }
    let mut store = Store::open(&new.path).map_err(BackupError::Database)?;
    let database = in_database(target);
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method is not general enough in its lifetime")]
    let (reset, _) = store.change(|change| change.reset()).map_err(&database)?;
    store.checkpoint().map_err(&database)?;
    drop(store);
    let verb = if reset.len() == 1 { "starts" } else { "start" };
    let again = if reset.is_empty() { String::new() } else { format!("; {} {verb} again", jobs(&reset)) };
    let note = format!("the store was restored from the backup {}{again}", backup.display());
    write(&new.path.join(RESTORED), note.as_bytes())?;
    let tokens = tokens::list(&new.path).map_err(|error| BackupError::Database(error.to_string()))?.len();
    Ok(RestoreSummary { folder: new.finish()?, jobs: list.jobs, reset, made: list.made, tokens })
}
