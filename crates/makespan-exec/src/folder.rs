//! A folder that stays the same when it is renamed.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::libc::{O_DIRECTORY, O_PATH};

/// A folder that is held open. A job may move the folder of its run while the shims of others are only starting: by its name
/// they would not find it.
#[derive(Debug)]
pub(crate) struct Folder(File);

impl Folder {
    /// Opens a folder that is there.
    pub fn open(path: &Path) -> io::Result<Self> {
        OpenOptions::new().read(true).custom_flags(O_PATH | O_DIRECTORY).open(path).map(Self)
    }

    /// A path for this process that leads to it as long as it is held, whatever its name.
    pub fn path(&self) -> PathBuf {
        self.path_of("self")
    }

    /// The same for other processes of this user.
    pub fn path_for_others(&self) -> PathBuf {
        self.path_of(&std::process::id().to_string())
    }

    fn path_of(&self, process: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{process}/fd/{}", self.0.as_raw_fd()))
    }
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
        let held = Folder::open(&here).unwrap();
        fs::rename(&here, &there).unwrap();
        fs::write(held.path().join("a"), "1").unwrap();
        let other = Folder::open(&held.path_for_others()).unwrap();
        drop(held);
        fs::rename(other.path().join("a"), other.path().join("b")).unwrap();
        assert_eq!(fs::read(there.join("b")).unwrap(), b"1");
        assert!(Folder::open(&there.join("b")).is_err(), "a file is no folder");
    }
}
