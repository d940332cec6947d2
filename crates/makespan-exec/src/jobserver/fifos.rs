//! The FIFOs through which one job takes and returns tokens.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::libc::{O_NOFOLLOW, O_NONBLOCK};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use rustix::io::ioctl_fionread;

use super::JobserverStyle;
use super::bank::TokenChannel;

/// The byte that stands for a token.
const TOKEN: u8 = b'+';

/// Maximum number of tokens that are moved at once. A pipe accepts this number of bytes completely or not at all.
const BATCH: u32 = 4096;

/// Name of the folder of the FIFOs in the folder of the run.
const FOLDER: &str = "jobserver";

/// Endings of the files of one attempt: the FIFO with offered tokens, the FIFO with returned tokens, and the number of
/// granted tokens.
const ENDINGS: [&str; 3] = ["tokens", "returned", "granted"];

/// The FIFOs of one attempt at a task. They are open for reading and writing, so a job never finds a closed FIFO, even
/// after this program has ended.
#[derive(Debug)]
pub(super) struct Fifos {
    tokens: Arc<File>,
    /// The FIFO with returned tokens. `None` if the job returns tokens into the FIFO with offered tokens.
    returned: Option<Arc<File>>,
    granted: File,
    paths: [PathBuf; 3],
}

impl Fifos {
    /// Creates the FIFOs with this name in the folder of a run.
    ///
    /// # Errors
    /// The path that could not be created, and the cause.
    pub fn create(folder: &Path, name: &str, style: JobserverStyle) -> Result<Self, (PathBuf, io::Error)> {
        let paths = paths(folder, name);
        let within = folder.join(FOLDER);
        fs::create_dir_all(&within).map_err(|error| (within, error))?;
        let [tokens, returned, granted] = &paths;
        let make = |path: &PathBuf| made(path).map_err(|error| (path.clone(), error));
        let (tokens, returned) = match style {
            JobserverStyle::Fifo => (make(tokens)?, None),
            JobserverStyle::Pipe => (make(tokens)?, Some(make(returned)?)),
        };
        let counted = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(granted);
        // A job that is granted no token in this session can receive tokens from a later session.
        let counted = counted.and_then(|file| write_number(&file, 0).map(|()| file));
        let granted = counted.map_err(|error| (granted.clone(), error))?;
        Ok(Self { tokens: Arc::new(tokens), returned: returned.map(Arc::new), granted, paths })
    }

    /// Opens the FIFOs of an attempt of an earlier session. Returns the FIFOs and the number of tokens that the earlier
    /// session granted, or `None` if the attempt has no FIFOs.
    pub fn earlier(folder: &Path, name: &str) -> Option<(Self, u32)> {
        let paths = paths(folder, name);
        let tokens = opened(&paths[0]).ok()?;
        let returned = opened(&paths[1]).ok();
        let mut granted = OpenOptions::new().read(true).write(true).custom_flags(O_NOFOLLOW).open(&paths[2]).ok()?;
        let mut text = String::new();
        granted.read_to_string(&mut text).ok()?;
        let number = text.trim().parse().ok()?;
        Some((Self { tokens: Arc::new(tokens), returned: returned.map(Arc::new), granted, paths }, number))
    }

    /// Returns the paths of the FIFOs from which the job reads and to which it writes, relative to the folder of the
    /// run.
    pub fn names(name: &str, style: JobserverStyle) -> Vec<String> {
        let count = if style == JobserverStyle::Pipe { 2 } else { 1 };
        ENDINGS[..count].iter().map(|ending| format!("{FOLDER}/{name}.{ending}")).collect()
    }

    /// Returns the FIFO that becomes readable when the job returns a token. `is_claimed` is true if a start waits for
    /// tokens. Otherwise, the FIFO of the style `fifo` may contain tokens that the job has not taken.
    pub fn watched(&self, is_claimed: bool) -> Option<Arc<File>> {
        self.returned.clone().or_else(|| is_claimed.then(|| self.tokens.clone()))
    }

    /// Removes the files.
    pub fn remove(self) {
        for path in &self.paths {
            // Another program may have removed the file.
            let _ = fs::remove_file(path);
        }
    }
}

impl TokenChannel for Fifos {
    fn unread(&self) -> u32 {
        ioctl_fionread(&*self.tokens).map_or(0, |bytes| u32::try_from(bytes).unwrap_or(u32::MAX))
    }

    fn offer(&mut self, count: u32) -> u32 {
        let count = count.min(BATCH);
        // The FIFO is full if the job wrote thousands of tokens that it never took.
        (&*self.tokens).write(&vec![TOKEN; count as usize]).map_or(0, |written| written as u32)
    }

    fn withdraw(&mut self, count: u32) -> u32 {
        taken(&self.tokens, count)
    }

    fn collect(&mut self) -> u32 {
        self.returned.as_ref().map_or(0, |returned| taken(returned, BATCH))
    }

    fn store(&mut self, granted: u32) {
        // The file has a fixed length, so only its first write can fail because the disk is full.
        let _ = write_number(&self.granted, granted);
    }
}

/// Writes the number of granted tokens.
fn write_number(file: &File, granted: u32) -> io::Result<()> {
    file.write_all_at(format!("{granted:10}\n").as_bytes(), 0)
}

/// Reads up to `count` tokens without waiting.
fn taken(mut fifo: &File, count: u32) -> u32 {
    fifo.read(&mut vec![0; count.min(BATCH) as usize]).map_or(0, |read| read as u32)
}

fn paths(folder: &Path, name: &str) -> [PathBuf; 3] {
    ENDINGS.map(|ending| folder.join(FOLDER).join(format!("{name}.{ending}")))
}

/// Creates a FIFO and opens it. Replaces a FIFO of an earlier session, but no other file.
fn made(path: &Path) -> io::Result<File> {
    if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo()) {
        fs::remove_file(path)?;
    }
    mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR)?;
    opened(path)
}

/// Opens a FIFO for reading and writing, so that neither end is ever closed.
fn opened(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).custom_flags(O_NONBLOCK | O_NOFOLLOW).open(path)?;
    if file.metadata()?.file_type().is_fifo() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Checks that FIFOs can be created in the folder of a run.
///
/// # Errors
/// The path that could not be created, and the cause.
pub(super) fn probe(folder: &Path) -> Result<(), (PathBuf, io::Error)> {
    Fifos::create(folder, "probe", JobserverStyle::Pipe).map(Fifos::remove)
}

/// Removes the folder of the FIFOs, with the files of attempts that ended while no session ran. If the folder contains
/// other files, the folder remains.
pub(super) fn remove_folder(folder: &Path) {
    let within = folder.join(FOLDER);
    for entry in fs::read_dir(&within).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_own) {
            let _ = fs::remove_file(entry.path());
        }
    }
    let _ = fs::remove_dir(within);
}

/// Returns whether a file has the name of a file of an attempt: the task, the attempt and an ending.
fn is_own(name: &str) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    matches!(parts[..], [task, attempt, ending]
        if task.parse::<u64>().is_ok() && attempt.parse::<u32>().is_ok() && ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_session_finds_the_fifos_of_a_job_without_tokens() {
        let folder = tempfile::tempdir().unwrap();
        let mut fifos = Fifos::create(folder.path(), "0.1", JobserverStyle::Pipe).unwrap();
        assert_eq!(Fifos::earlier(folder.path(), "0.1").unwrap().1, 0);
        fifos.store(12);
        assert_eq!(Fifos::earlier(folder.path(), "0.1").unwrap().1, 12);
    }
}
