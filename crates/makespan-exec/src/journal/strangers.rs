//! Checks a folder for files of other programs before a run starts there.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use super::JournalError;
use crate::files::{Files, JOURNAL, STATUS, is_output};
use crate::storage::{Disk, Storage};

/// Content of the lock file of a session, which marks the folder of a run.
pub(crate) const MARK: &str = "makespan run\n";

/// Returns whether a session of a run created this lock file.
pub fn is_lock_of_a_run(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file()) && has_mark(path).unwrap_or(false)
}

/// Returns whether a lock file has the content that a session writes.
pub(crate) fn has_mark(path: &Path) -> io::Result<bool> {
    Ok(fs::metadata(path)?.len() == MARK.len() as u64 && fs::read(path)? == MARK.as_bytes())
}

/// Returns an error if a new run would overwrite a file in the folder. If a session was killed before it wrote its
/// journal, its lock file and the files in `results` may exist, but output files and status files may not.
///
/// # Errors
/// [`JournalError::Stranger`] with the path of the file.
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
    // Collects the names of all outputs only if some name in the folder looks like an output.
    let mut outputs = there.iter().any(|name| is_output(name)).then(|| files.outputs()).into_iter().flatten();
    match outputs.find(|name| is_there(name)) {
        Some(name) => refuse(&name),
        None => Ok(()),
    }
}

/// Returns whether a path is an empty folder and not a link.
fn is_empty_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
        && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}
