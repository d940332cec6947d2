//! The file operations of a run. Tests replace these operations by a simulated disk with faults.

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::libc::{ELOOP, O_NOFOLLOW};

/// File system operations for the journal and the status files. No operation follows a symbolic link in the folder of
/// a run.
pub(crate) trait Storage {
    /// Returns the content of a file, or `None` if there is no such file.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;
    /// Returns the names in a folder, sorted. The list is empty if there is no such folder.
    fn names(&self, folder: &Path) -> io::Result<Vec<String>>;
    /// Creates a folder in an existing folder. An existing folder is not an error.
    fn make_folder(&self, path: &Path) -> io::Result<()>;
    /// Opens a file for writing, and creates it if it is missing.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Handle>>;
    /// Renames `from` to `to` within one folder, and replaces an existing file `to`.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Creates a hard link to a file.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Syncs the names in a folder to disk.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// A file that is open for writing.
pub(crate) trait Handle: Debug {
    /// Writes at an offset. After an error, a part of the bytes may have been written.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Shortens or extends the file.
    fn set_len(&mut self, length: u64) -> io::Result<()>;
    /// Syncs the content to disk.
    fn sync(&mut self) -> io::Result<()>;
    /// Returns whether the open file is still at this path.
    fn place(&self, _path: &Path) -> io::Result<FileLocation> {
        Ok(FileLocation::Here)
    }
}

/// The location of an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileLocation {
    /// The file is at its path.
    Here,
    /// The file or a folder above it was renamed.
    Elsewhere,
    /// The file was deleted.
    Nowhere,
}

/// The file system of this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Disk;

impl Storage for Disk {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        let opened = OpenOptions::new().read(true).custom_flags(O_NOFOLLOW).open(path);
        match opened.and_then(|mut file| io::Read::read_to_end(&mut file, &mut bytes)) {
            Ok(_) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(named(error)),
        }
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<String>> {
        if fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_symlink()) {
            return Err(named(io::Error::from_raw_os_error(ELOOP)));
        }
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut names = entries
            .filter_map(|entry| entry.map(|entry| entry.file_name().into_string().ok()).transpose())
            .collect::<io::Result<Vec<String>>>()?;
        names.sort_unstable();
        Ok(names)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        match fs::create_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made,
        }
        match fs::symlink_metadata(path)? {
            metadata if metadata.is_symlink() => Err(named(io::Error::from_raw_os_error(ELOOP))),
            metadata if metadata.is_dir() => Ok(()),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Handle>> {
        Ok(Box::new(writable(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }
}

impl Handle for File {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }

    fn set_len(&mut self, length: u64) -> io::Result<()> {
        File::set_len(self, length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn place(&self, path: &Path) -> io::Result<FileLocation> {
        let own = self.metadata()?;
        let identity = |metadata: &fs::Metadata| (metadata.dev(), metadata.ino());
        match fs::symlink_metadata(path) {
            _ if own.nlink() == 0 => Ok(FileLocation::Nowhere),
            Ok(there) if identity(&there) == identity(&own) => Ok(FileLocation::Here),
            Err(error) if is_passing(&error) => Err(error),
            _ => Ok(FileLocation::Elsewhere),
        }
    }
}

/// Opens a regular file for writing, and creates it if it is missing. Does not truncate the file.
///
/// # Errors
/// An error of the system. A symbolic link is an error.
pub(crate) fn writable(path: &Path) -> io::Result<File> {
    // A pipe is rejected, because opening it would wait for a reader.
    if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_symlink()) {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "the path exists and is not a regular file"));
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).custom_flags(O_NOFOLLOW).open(path).map_err(named)
}

/// Creates a new file.
///
/// # Errors
///
/// An error of the system, or an existing file or link with this name.
pub(crate) fn created(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Opens an empty output of a task. A file with other hard links is replaced by a new file, so that the content at the
/// other links is unchanged.
///
/// # Errors
/// An error of the system, or a path that is a link. If the output is `new`, an existing file with content is an error
/// as well.
pub(crate) fn emptied(path: &Path, new: bool) -> io::Result<File> {
    match created(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made,
    }
    let file = writable(path)?;
    let metadata = file.metadata()?;
    if new && (metadata.len() > 0 || metadata.nlink() > 1) {
        let problem = "another program wrote this file after the run began; move the file away, and run the job again \
                       with --retry-failed";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, problem));
    }
    if metadata.nlink() > 1 {
        fs::remove_file(path)?;
        return created(path);
    }
    file.set_len(0)?;
    Ok(file)
}

/// Replaces the system's error for a symbolic link by a clear message.
fn named(error: io::Error) -> io::Error {
    if error.raw_os_error() == Some(ELOOP) {
        return io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path is a symbolic link, which is not followed; remove the link",
        );
    }
    error
}

/// Returns whether an error may be temporary: too many files or processes, no memory, or a full disk.
pub(crate) fn is_passing(error: &io::Error) -> bool {
    use nix::libc::{EAGAIN, EDQUOT, EINTR, EMFILE, ENFILE, ENOMEM, ENOSPC, ETXTBSY};
    let passing = [EAGAIN, EDQUOT, EINTR, EMFILE, ENFILE, ENOMEM, ENOSPC, ETXTBSY];
    error.raw_os_error().is_some_and(|code| passing.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_pipes_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, "kept").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(Disk.open(&link).unwrap_err().to_string().contains("symbolic link"));
        assert!(Disk.read(&link).unwrap_err().to_string().contains("symbolic link"));
        assert!(Disk.make_folder(&link).unwrap_err().to_string().contains("symbolic link"));
        assert!(Disk.names(&link).unwrap_err().to_string().contains("symbolic link"));
        assert!(Disk.make_folder(&target).is_err());
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(Disk.open(&pipe).is_err());
        assert_eq!(fs::read(&target).unwrap(), b"kept");
        assert_eq!(Disk.read(&folder.path().join("none")).unwrap(), None);
        assert!(is_passing(&io::Error::from_raw_os_error(nix::libc::EMFILE)));
        assert!(!is_passing(&io::Error::from_raw_os_error(nix::libc::EACCES)));
    }
}
