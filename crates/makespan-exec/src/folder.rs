//! A handle to a folder that remains valid when the folder is renamed.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::libc::{O_DIRECTORY, O_PATH};

/// A folder that is held open. If the folder cannot be opened, it is known only by its path. A job may rename the
/// folder of its run while shims of other jobs are starting. These shims could not find the folder by its path.
#[derive(Debug)]
pub(crate) struct Folder {
    held: Option<File>,
    name: PathBuf,
}

impl Folder {
    /// Opens the folder with this path.
    pub fn named(name: &Path) -> Self {
        Self::held(name, name)
    }

    /// Opens the folder at `path`. If there is no such folder, refers to the folder by the path `name`.
    pub fn held(path: &Path, name: &Path) -> Self {
        Self { held: open(path).ok(), name: name.to_owned() }
    }

    /// Returns the path that the folder had when it was opened.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Returns a path for this process that leads to the open folder even after a rename of the folder.
    pub fn path(&self) -> PathBuf {
        self.path_of("self")
    }

    /// Returns a path to the open folder for other processes of this user.
    pub fn path_for_others(&self) -> PathBuf {
        self.path_of(&std::process::id().to_string())
    }

    fn path_of(&self, process: &str) -> PathBuf {
        match &self.held {
            Some(held) => PathBuf::from(format!("/proc/{process}/fd/{}", held.as_raw_fd())),
            None => self.name.clone(),
        }
    }
}

/// Opens an existing folder.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(O_PATH | O_DIRECTORY).open(path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_is_found_wherever_it_is_moved() {
        let above = tempfile::tempdir().unwrap();
        let (here, there) = (above.path().join("here"), above.path().join("there"));
        fs::create_dir(&here).unwrap();
        let held = Folder::named(&here);
        fs::rename(&here, &there).unwrap();
        fs::write(held.path().join("a"), "1").unwrap();
        let other = Folder::held(&held.path_for_others(), &here);
        assert_eq!((held.name(), other.name()), (here.as_path(), here.as_path()));
        drop(held);
        fs::rename(other.path().join("a"), other.path().join("b")).unwrap();
        assert_eq!(fs::read(there.join("b")).unwrap(), b"1");
        assert!(open(&there.join("b")).is_err(), "a file is no folder");
        assert_eq!(Folder::held(&here, &there).path(), there, "what is not there is known by its name");
    }
}
