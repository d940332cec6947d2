//! The journal of a campaign. It stores the finished runs, so that an interrupted campaign can continue.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::AnyRun;
use crate::LabError;

/// Name of the journal in the output folder.
const NAME: &str = "journal.jsonl";

/// Returns the path of the journal of a campaign.
pub(super) fn path(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

/// The reaction if another process has locked the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockedAction {
    /// Return an error.
    Refuse,
    /// Wait until the other process unlocks the journal.
    Wait,
}

/// An open journal. Each line is a JSON object. The file is locked while it is open.
pub(super) struct Journal {
    file: File,
    path: PathBuf,
    version: String,
}

#[derive(Serialize, Deserialize)]
struct Entry<R> {
    /// The program version and the options of the campaign, as text. A run is reused only if this text is equal to the
    /// text of the current campaign.
    options: String,
    run: R,
}

impl Journal {
    /// Opens a journal, or creates it, and reads the runs with this version. Removes an incomplete last line, which a
    /// killed process may have left.
    pub(super) fn open<R: AnyRun + DeserializeOwned>(
        path: &Path,
        version: &str,
        lock: LockedAction,
    ) -> Result<(Self, BTreeMap<R::Key, R>), LabError> {
        let path = path.to_owned();
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(LabError::file(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) if lock == LockedAction::Wait => {
                file.lock().map_err(LabError::file(&path))?
            }
            Err(TryLockError::WouldBlock) => {
                return Err(LabError::Busy(path.parent().unwrap_or(&path).to_owned()));
            }
            Err(TryLockError::Error(error)) => return Err(LabError::file(&path)(error)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(LabError::file(&path))?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        file.set_len(whole as u64).map_err(LabError::file(&path))?;
        file.seek(SeekFrom::Start(whole as u64)).map_err(LabError::file(&path))?;
        let runs = runs_of(&path, &bytes[..whole], version)?;
        Ok((Self { file, path, version: version.to_owned() }, runs))
    }

    /// Adds a finished run with a single write. So if the process is killed, at most one line is incomplete.
    pub(super) fn add<R: Serialize>(&mut self, run: &R) -> Result<(), LabError> {
        let entry = Entry { options: self.version.clone(), run };
        let mut line = serde_json::to_vec(&entry).map_err(|error| LabError::file(&self.path)(error.into()))?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(LabError::file(&self.path))
    }
}

/// Reads the runs with this version from a journal. Another process may be writing to the journal at the same time.
/// Returns no runs if the file does not exist.
pub(super) fn finished<R: AnyRun + DeserializeOwned>(
    path: &Path,
    version: &str,
) -> Result<BTreeMap<R::Key, R>, LabError> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
        read => read.map_err(LabError::file(path))?,
    };
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    runs_of(path, &bytes[..whole], version)
}

/// Parses complete lines, and returns the runs with this version.
fn runs_of<R: AnyRun + DeserializeOwned>(
    path: &Path,
    lines: &[u8],
    version: &str,
) -> Result<BTreeMap<R::Key, R>, LabError> {
    let mut runs = BTreeMap::new();
    for (index, line) in lines.split(|&byte| byte == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        let entry: Entry<R> = serde_json::from_slice(line).map_err(|error| LabError::Journal {
            path: path.to_owned(),
            line: index + 1,
            reason: error.to_string(),
        })?;
        if entry.options == version {
            runs.insert(entry.run.key(), entry.run);
        }
    }
    Ok(runs)
}
