//! Files of somebody else in the folder of a run that is to begin.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use super::JournalError;
use crate::files::{Files, JOURNAL, STATUS};
use crate::storage::{Disk, Storage};

/// The content of a lock that a session made, by which the folder of a run is known.
pub(crate) const MARK: &str = "makespan run\n";

/// Checks whether a session of a run made this lock.
pub fn is_lock_of_a_run(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file()) && has_mark(path).unwrap_or(false)
}

/// Checks whether the content of a lock is what a session writes.
pub(crate) fn has_mark(path: &Path) -> io::Result<bool> {
    Ok(fs::metadata(path)?.len() == MARK.len() as u64 && fs::read(path)? == MARK.as_bytes())
}

/// Refuses a folder that holds a file under a name that a new run writes. A session that was killed before it wrote its journal may have
/// left its lock and `results`, but no output and no status.
///
/// # Errors
/// [`JournalError::Stranger`] names the file.
pub(crate) fn check(files: &Files, results: &[String], is_own: bool) -> Result<(), JournalError> {
    let folder = files.folder();
    let fail = |source| JournalError::Io { path: folder.to_owned(), source };
    let there: BTreeSet<String> = Disk.names(folder).map_err(fail)?.into_iter().collect();
    let is_there = |name: &str| there.contains(name) && !is_empty_folder(&folder.join(name));
    let refuse = |name: &str| Err(JournalError::stranger(&folder.join(name)));
    let mut own = results.iter().map(String::as_str).chain([JOURNAL]).filter(|_| !is_own);
    if let Some(name) = own.find(|name| is_there(name)) {
        return refuse(name);
    }
    if is_there(STATUS) {
        return refuse(STATUS);
    }
    let temporary = format!("{JOURNAL}.tmp");
    if is_there(&temporary) {
        return refuse(&temporary);
    }
    match files.outputs().find(|name| is_there(name)) {
        Some(name) => refuse(&name),
        None => Ok(()),
    }
}

/// Checks whether a path names a folder, which is no link, with nothing in it.
fn is_empty_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
        && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}
