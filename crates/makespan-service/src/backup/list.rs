//! The file `backup.json` of a backup: the list of all other files.

use std::io;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use super::open::open;
use super::{BackupError, failed};
use crate::store::BACKUP;

/// Version of the layout of backups.
const FORMAT: u32 = 1;

/// The list of the files in a backup.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BackupList {
    /// Version of the layout.
    format: u32,
    /// The version of makespan that made the backup.
    pub version: String,
    /// The instant of the copy of the database, in seconds since 1970.
    pub made: f64,
    /// The number of jobs.
    pub jobs: u64,
    /// The files.
    pub files: Vec<ListedFile>,
}

/// A file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ListedFile {
    /// The path in the backup.
    pub path: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The SHA-256 hash in hexadecimal digits.
    sha256: String,
}

impl ListedFile {
    pub fn new(path: &str, bytes: u64, hash: &[u8]) -> Self {
        let sha256 = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { path: path.to_owned(), bytes, sha256 }
    }

    /// Returns the difference of `other` from this file, if there is one.
    pub fn difference(&self, other: &Self) -> Option<String> {
        if self.bytes != other.bytes {
            return Some(format!("the file has {} bytes instead of {}", other.bytes, self.bytes));
        }
        (self.sha256 != other.sha256).then(|| "the content of the file has changed".to_owned())
    }
}

impl BackupList {
    pub fn new(made: f64, jobs: u64, files: Vec<ListedFile>) -> Self {
        Self { format: FORMAT, version: env!("CARGO_PKG_VERSION").to_owned(), made, jobs, files }
    }

    /// Reads the list of a backup.
    ///
    /// # Errors
    /// [`BackupError`], for example if a later version of makespan made the backup.
    pub fn read(backup: &Path) -> Result<Self, BackupError> {
        /// The part of the list that all versions have.
        #[derive(Deserialize)]
        struct Head {
            format: u32,
            version: String,
        }
        let path = backup.join(BACKUP);
        let none = || BackupError::NoBackup { path: backup.to_owned() };
        let mut file = match open(BACKUP, backup) {
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Err(none()),
            file => file.map_err(failed(&path, "read"))?.ok_or_else(none)?,
        };
        let text = match io::read_to_string(&mut file) {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(BackupError::Damaged { path, reason: "the file is not text".to_owned() });
            }
            text => text.map_err(failed(&path, "read"))?,
        };
        let damaged = |reason: String| BackupError::Damaged { path: path.clone(), reason };
        let head: Head = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        if head.format > FORMAT {
            return Err(BackupError::Newer { path: backup.to_owned(), version: head.version });
        }
        let list: Self = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        let is_inside = |path: &str| {
            !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
        };
        match list.files.iter().find(|file| !is_inside(&file.path)) {
            Some(file) => Err(damaged(format!("`{}` is not in the backup", file.path.escape_debug()))),
            None => Ok(list),
        }
    }
}
