//! Stores the files of attempts on hosts that do not share the folder of the run.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::Hosts;
use crate::engine::{Staging, TaskFiles};
use crate::hosts::frame::FilePart;
use crate::storage::emptied;

/// Number of files in front of the output files of the workflow: standard output, standard error and status.
const OWN: usize = 3;

/// Returns the path of a file that an attempt has written: its path until the attempt is recorded, and its final path.
/// `None` if there is no such file. The host does not choose any path.
fn paths(run: &Path, files: &TaskFiles, at: usize) -> Option<(PathBuf, PathBuf)> {
    let hidden = |path: PathBuf, of: &Staging| {
        let text = format!("{}\0{}\0{}", of.run, of.attempt, path.display());
        (path.with_file_name(format!(".makespan-{:016x}", Staging::hash(text.as_bytes()))), path)
    };
    match at {
        0 | 1 => Some((run.join(&files.outputs[at]), run.join(&files.outputs[at]))),
        2 => Some((run.join(format!("{}.part", files.status)), run.join(&files.status))),
        _ => {
            let staging = files.staging.as_ref()?;
            Some(hidden(Path::new(&staging.home).join(staging.writes.get(at - OWN)?), staging))
        }
    }
}

fn store(run: &Path, files: &TaskFiles, part: &FilePart) -> io::Result<()> {
    let Some((path, _)) = paths(run, files, part.file) else { return Ok(()) };
    let mut file = match part.mode {
        Some(_) if part.file < 2 => emptied(&path, files.is_new)?,
        Some(mode) => {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            let _ = fs::remove_file(&path);
            OpenOptions::new().write(true).create_new(true).mode(mode | 0o600).open(&path)?
        }
        None => OpenOptions::new().append(true).custom_flags(nix::libc::O_NOFOLLOW).open(&path)?,
    };
    file.write_all(&part.bytes)
}

impl Hosts {
    /// Stores a part of a file of an attempt.
    pub(super) fn store(&mut self, slot: usize, part: &FilePart) {
        let held = self.by_id.get(&part.id).and_then(|task| self.tasks.get_mut(task));
        let Some(held) = held.filter(|held| held.slot == slot && held.end.is_none()) else {
            self.all[slot].has_missed_files |= !self.is_settled;
            return;
        };
        if part.file == 0 && part.mode.is_some() {
            held.problem = None;
        }
        if let Err(error) = store(&self.options.folder, &held.files, part) {
            held.problem.get_or_insert_with(|| error.to_string());
        }
    }
}

/// Gives the files of an ended attempt their names. The status comes last, because it states that the attempt ended.
///
/// # Errors
/// A file could not be stored.
pub(super) fn name_files(run: &Path, files: &TaskFiles) -> Result<(), String> {
    let writes = files.staging.as_ref().map_or(0, |staging| staging.writes.len());
    for at in (OWN..OWN + writes).chain([2]) {
        let Some((from, to)) = paths(run, files, at) else { continue };
        match fs::rename(&from, &to) {
            // An attempt that failed sends no output files of the workflow.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(format!("{}: {error}", to.display())),
            _ => {}
        }
    }
    Ok(())
}
