//! Makes a backup of a store.

use std::fs;
use std::path::{Path, PathBuf};

use makespan::formats::write_atomic;
use makespan_core::counted;

use super::copy::{NewFolder, copy, listed, write};
use super::journaled::add_ends;
use super::list::BackupList;
use super::{BackupError, failed, in_database};
use crate::clock::wall;
use crate::store::{BACKED_UP, BACKUP, DATABASE, Reader, Store, is_store, round_folder, snapshot};

/// The content of a new backup.
#[derive(Clone, Debug, PartialEq)]
pub struct BackupSummary {
    /// The folder of the backup.
    pub folder: PathBuf,
    /// The number of jobs.
    pub jobs: u64,
    /// The number of held, waiting and running jobs among them.
    pub unfinished: u64,
    /// The number of output files.
    pub outputs: u64,
    /// The size of all files, in bytes.
    pub bytes: u64,
}

/// Copies the store in `folder` to the new folder `target`. A service may use the store meanwhile, and is not delayed.
///
/// # Errors
/// [`BackupError`], for example if `target` exists and is not an empty folder.
pub fn back_up(folder: &Path, target: &Path) -> Result<BackupSummary, BackupError> {
    if !is_store(folder) {
        return Err(BackupError::NoStore { path: folder.to_owned() });
    }
    let folder = folder.canonicalize().map_err(failed(folder, "read"))?;
    let new = NewFolder::new(target)?;
    let made = wall();
    snapshot(&folder, &new.path).map_err(BackupError::Database)?;
    // The copy has a hidden name, and disappears after an error. The message names the store.
    let of_store =
        |error: String| BackupError::Database(error.replace(&*new.path.to_string_lossy(), &folder.to_string_lossy()));
    let mut store = Store::open(&new.path).map_err(of_store)?;
    add_ends(&folder, &mut store)?;
    let database = in_database(target);
    let (counts, outputs) = {
        let readers = store.readers();
        readers.read(|reader| Ok((reader.counts()?, Reader::outputs(reader)?))).map_err(&database)?
    };
    store.checkpoint().map_err(&database)?;
    drop(store);
    fs::remove_file(new.path.join("lock")).map_err(failed(target, "write"))?;
    let mut files = vec![listed(DATABASE, &new.path)?];
    files.extend(copy("tokens.json", &folder, &new.path)?);
    let before = files.len();
    for (round, name) in outputs.iter().filter(|(_, name)| !name.contains('/')) {
        let round = round_folder(Path::new(""), *round);
        for ending in ["out", "err"] {
            files.extend(copy(&format!("{}/{name}.{ending}", round.display()), &folder, &new.path)?);
        }
    }
    let summary = BackupSummary {
        folder: target.to_owned(),
        jobs: counts.values().sum(),
        unfinished: counts.iter().filter(|(state, _)| !state.is_final()).map(|(_, count)| count).sum(),
        outputs: (files.len() - before) as u64,
        bytes: files.iter().map(|file| file.bytes).sum(),
    };
    let list = BackupList::new(made, summary.jobs, files);
    let text = serde_json::to_vec(&list).map_err(|error| BackupError::Database(error.to_string()))?;
    write(&new.path.join(BACKUP), &text)?;
    let summary = BackupSummary { folder: new.finish()?, ..summary };
    // The running service writes this note to its log. The backup is complete even if the note cannot be written.
    let note = format!("a backup of {} was made", counted(summary.jobs, "job"));
    let _ = write_atomic(&folder.join(BACKED_UP), |out| out.write_all(note.as_bytes()));
    Ok(summary)
}
