//! Finished runs, kept so that an interrupted campaign goes on where it stopped.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::LabError;

/// Name in the output folder.
const NAME: &str = "journal.jsonl";

/// An open journal: one JSON object a line. The file stays locked while it is open.
pub(super) struct Journal {
    file: File,
    path: PathBuf,
    version: String,
}

#[derive(Serialize, Deserialize)]
struct Entry<R> {
    /// What the run depends on besides its key.
    options: String,
    run: R,
}

impl Journal {
    /// Opens the journal of a folder, made when missing, and reads the runs of this version. A last line that a killed
    /// process left unfinished is cut off.
    pub(super) fn open<K: Ord, R: DeserializeOwned>(
        folder: &Path,
        version: &str,
        key: fn(&R) -> K,
    ) -> Result<(Self, BTreeMap<K, R>), LabError> {
        let path = folder.join(NAME);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(LabError::file(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LabError::Busy(folder.to_owned())),
            Err(TryLockError::Error(error)) => return Err(LabError::file(&path)(error)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(LabError::file(&path))?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        file.set_len(whole as u64).map_err(LabError::file(&path))?;
        file.seek(SeekFrom::Start(whole as u64)).map_err(LabError::file(&path))?;
        let mut runs = BTreeMap::new();
        for (index, line) in bytes[..whole].split(|&byte| byte == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            let entry: Entry<R> = serde_json::from_slice(line).map_err(|error| LabError::Journal {
                path: path.clone(),
                line: index + 1,
                reason: error.to_string(),
            })?;
            if entry.options == version {
                runs.insert(key(&entry.run), entry.run);
            }
        }
        Ok((Self { file, path, version: version.to_owned() }, runs))
    }

    /// Adds a finished run, in one write so that a kill leaves at most one torn line.
    pub(super) fn add<R: Serialize>(&mut self, run: &R) -> Result<(), LabError> {
        let entry = Entry { options: self.version.clone(), run };
        let mut line = serde_json::to_vec(&entry).map_err(|error| LabError::file(&self.path)(error.into()))?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(LabError::file(&self.path))
    }
}
