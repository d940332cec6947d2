//! Opens the files of a backup.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::OFlag;

/// Opens a regular file in a folder. Returns `None` if there is no such file. A symbolic link is not followed, neither as
/// the file nor as a folder on the path `name`, so that a damaged backup cannot contain files of other folders.
pub(super) fn open(name: &str, folder: &Path) -> io::Result<Option<File>> {
    let mut path = folder.to_owned();
    let mut parts = Path::new(name).components().peekable();
    while let Some(part) = parts.next() {
        path.push(part);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
            Ok(found) if parts.peek().is_some() && found.is_dir() => {}
            Ok(found) if parts.peek().is_none() && found.is_file() => {}
            Ok(_) => return Ok(None),
        }
    }
    OpenOptions::new().read(true).custom_flags(OFlag::O_NOFOLLOW.bits()).open(path).map(Some)
}
