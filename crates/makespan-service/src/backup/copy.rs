//! Copies files into a folder that appears under its final name only when it is complete.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg, OFlag};
use nix::unistd::syncfs;
use sha2::{Digest, Sha256};

use super::list::ListedFile;
use super::open::open;
use super::{BackupError, failed};

/// Size of the blocks in which files are copied, in bytes.
const BLOCK: usize = 1 << 16;

/// A folder under a temporary name. The folder is removed unless it is finished.
#[derive(Debug)]
pub(super) struct NewFolder {
    /// The folder under its temporary name.
    pub path: PathBuf,
    target: PathBuf,
    is_finished: bool,
    /// The lock of the folder, by which other processes know that the folder is in use.
    _lock: Flock<File>,
}

impl NewFolder {
    /// Creates the folder next to `target`.
    ///
    /// # Errors
    /// [`BackupError`], for example if `target` exists and is not an empty folder.
    pub fn new(target: &Path) -> Result<Self, BackupError> {
        let target = std::path::absolute(target).map_err(failed(target, "make the folder"))?;
        check_free(&target)?;
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let path = target.with_file_name(format!(".{name}.partial-{}", std::process::id()));
        remove_abandoned(&target, &format!(".{name}.partial-"));
        DirBuilder::new().mode(0o700).create(&path).map_err(failed(&target, "make the folder"))?;
        let lock = locked(&path).map_err(failed(&target, "make the folder"))?;
        Ok(Self { path, target, is_finished: false, _lock: lock })
    }

    /// Makes sure that all files are on disk, and gives the folder its final name. Returns the final path.
    ///
    /// # Errors
    /// [`BackupError`].
    pub fn finish(mut self) -> Result<PathBuf, BackupError> {
        let parent = self.target.parent().unwrap_or(Path::new("/"));
        let sync = |path: &Path| File::open(path).and_then(|file| Ok(syncfs(file)?));
        sync(&self.path).map_err(failed(&self.target, "write"))?;
        check_free(&self.target)?;
        fs::rename(&self.path, &self.target).map_err(failed(&self.target, "make the folder"))?;
        self.is_finished = true;
        File::open(parent).and_then(|folder| folder.sync_all()).map_err(failed(&self.target, "write"))?;
        Ok(self.target.clone())
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        if !self.is_finished {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Locks a folder. Returns an error if another process has locked the folder.
fn locked(folder: &Path) -> io::Result<Flock<File>> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlag::O_DIRECTORY.bits() | OFlag::O_NOFOLLOW.bits())
        .open(folder)?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| error.into())
}

/// Removes the folders that killed processes have left next to `target`.
fn remove_abandoned(target: &Path, start: &str) {
    let entries = target.parent().and_then(|parent| fs::read_dir(parent).ok());
    for entry in entries.into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(start));
        if number.is_some_and(|number| number.parse::<u32>().is_ok())
            && let Ok(_lock) = locked(&entry.path())
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Returns an error if the target exists and is not an empty folder.
fn check_free(target: &Path) -> Result<(), BackupError> {
    let occupied = || Err(BackupError::Occupied { path: target.to_owned() });
    match fs::read_dir(target) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                occupied()
            } else {
                Ok(())
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => occupied(),
        Err(error) => Err(failed(target, "read")(error)),
    }
}

/// Opens a new file that only its owner may read. Creates the folder of the file if it is missing.
fn create(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    OpenOptions::new().create_new(true).write(true).mode(0o600).open(path)
}

/// Copies the file `name` from one folder to another, and returns its size and hash. Returns `None` if there is no
/// regular file with this name.
///
/// # Errors
/// [`BackupError`].
pub(super) fn copy(name: &str, from: &Path, to: &Path) -> Result<Option<ListedFile>, BackupError> {
    let (source, target) = (from.join(name), to.join(name));
    let Some(mut file) = open(name, from).map_err(failed(&source, "read"))? else { return Ok(None) };
    let mut copied = create(&target).map_err(failed(&target, "write"))?;
    let mut write = |block: &[u8]| copied.write_all(block).map_err(failed(&target, "write"));
    read_all(name, &source, &mut file, &mut write).map(Some)
}

/// Returns the size and the hash of the file `name` in a folder.
///
/// # Errors
/// [`BackupError`].
pub(super) fn listed(name: &str, folder: &Path) -> Result<ListedFile, BackupError> {
    let path = folder.join(name);
    let mut file = File::open(&path).map_err(failed(&path, "read"))?;
    read_all(name, &path, &mut file, &mut |_| Ok(()))
}

/// Reads a file, passes each block to `act`, and returns the size and the hash of the file.
fn read_all(
    name: &str,
    path: &Path,
    file: &mut File,
    act: &mut dyn FnMut(&[u8]) -> Result<(), BackupError>,
) -> Result<ListedFile, BackupError> {
    let (mut hash, mut bytes, mut block) = (Sha256::new(), 0, vec![0; BLOCK]);
    loop {
        let read = file.read(&mut block).map_err(failed(path, "read"))?;
        if read == 0 {
            return Ok(ListedFile::new(name, bytes, &hash.finalize()));
        }
        act(&block[..read])?;
        hash.update(&block[..read]);
        bytes += read as u64;
    }
}

/// Writes a new file.
///
/// # Errors
/// [`BackupError`].
pub(super) fn write(path: &Path, content: &[u8]) -> Result<(), BackupError> {
    create(path).and_then(|mut file| file.write_all(content)).map_err(failed(path, "write"))
}
