//! Reads and writes files that only their owner may read.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};

use super::{TokenError, TokenRecord};

/// Maximum number of bytes that are read from a private file.
const MAX_BYTES: u64 = 16 << 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    tokens: Vec<TokenRecord>,
}

/// Metadata of a file that change whenever the file changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

fn failed(path: &Path, doing: &'static str) -> impl FnOnce(std::io::Error) -> TokenError {
    let path = path.display().to_string();
    move |source| TokenError::File { path, doing, source }
}

/// Returns the metadata of the token list of a store, or `None` if there is no list.
pub fn stamp(store: &Path) -> Option<Stamp> {
    let metadata = store.join("tokens.json").metadata().ok()?;
    Some(Stamp { inode: metadata.ino(), size: metadata.size(), changed: (metadata.ctime(), metadata.ctime_nsec()) })
}

/// Reads the tokens of a store. Returns no tokens if there is no list.
pub fn read(store: &Path) -> Result<Vec<TokenRecord>, TokenError> {
    let path = store.join("tokens.json");
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = read_private(&path)?;
    let content: Content = serde_json::from_str(&text)
        .map_err(|error| TokenError::Content { path: path.display().to_string(), message: error.to_string() })?;
    Ok(content.tokens)
}

/// Replaces the token list of a store.
pub fn write(store: &Path, tokens: &[TokenRecord]) -> Result<(), TokenError> {
    let path = store.join("tokens.json");
    let text = serde_json::to_vec_pretty(&Content { tokens: tokens.to_vec() })
        .map_err(|error| TokenError::Content { path: path.display().to_string(), message: error.to_string() })?;
    write_private(&path, &text)
}

/// Waits for the lock of the token list of a store, and returns the lock. Creates the folder of the store if it is
/// missing.
pub fn locked(store: &Path) -> Result<Flock<File>, TokenError> {
    DirBuilder::new().recursive(true).mode(0o700).create(store).map_err(failed(store, "make the folder"))?;
    let path = store.join("tokens.lock");
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(failed(&path, "open"))?;
    Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, error)| failed(&path, "lock")(error.into()))
}

/// Reads a file that only its owner may read.
///
/// # Errors
/// [`TokenError`], for example if other users may read the file.
pub fn read_private(path: &Path) -> Result<String, TokenError> {
    let file = File::open(path).map_err(failed(path, "open"))?;
    let metadata = file.metadata().map_err(failed(path, "read"))?;
    let mode = metadata.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(TokenError::Open { path: path.display().to_string(), mode });
    }
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text).map_err(failed(path, "read"))?;
    Ok(text)
}

/// Replaces a file atomically with a file that only its owner may read. When this function returns `Ok`, the new file
/// is on disk.
///
/// # Errors
/// [`TokenError`], if the file cannot be written.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), TokenError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let other = folder.join(format!(".{name}.{}", std::process::id()));
    let written = (|| {
        // An earlier process with the same process id may have left a temporary file with this name.
        let _ = std::fs::remove_file(&other);
        let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&other)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&other, path)?;
        File::open(folder)?.sync_all()
    })();
    written.map_err(|error| {
        let _ = std::fs::remove_file(&other);
        failed(path, "write")(error)
    })
}
