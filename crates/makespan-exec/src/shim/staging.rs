//! The separate folder of an attempt on its node. The input files are copied to this folder before the job starts. The
//! output files are copied back before the job is reported as done. Each file is copied completely or not at all.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use nix::libc::ENOSPC;
use nix::unistd::getpid;

use crate::engine::Staging;
use crate::machine::host;
use crate::process::{Identity, start_of};

/// Number of bytes that are copied between two checks for signals.
const CHUNK: u64 = 4 << 20;

/// The reason why files were not copied.
#[derive(Debug)]
pub(super) enum StagingFailure {
    /// The job was asked to end.
    Stopped,
    /// A description of the problem.
    Wrong(String),
}

/// Checks that a file name of a job refers to a file within the working folder.
///
/// # Errors
/// A description of the problem.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let within = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let names_one = Path::new(name).file_name().is_some();
    if !name.contains('\0') && names_one && Path::new(name).components().all(within) {
        return Ok(());
    }
    Err(format!(
        "the file `{name}` is not in the working folder; write a path that begins at the working folder and has no `..`"
    ))
}

/// Checks the pattern of a scratch folder.
///
/// # Errors
/// A description of the problem.
pub(crate) fn check_pattern(pattern: &str) -> Result<(), String> {
    expanded(pattern, &|_| Some(String::new()))?;
    if pattern.starts_with('/') {
        return Ok(());
    }
    Err(format!("{pattern}: write an absolute path, such as /tmp, because each node has its own folder"))
}

/// Replaces `%N` by the name of the node, `%j` by the number of the Slurm job, and `%%` by a per cent sign.
fn expanded(pattern: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let (mut text, mut rest) = (String::new(), pattern.chars());
    while let Some(c) = rest.next() {
        match (c == '%').then(|| rest.next()) {
            None => text.push(c),
            Some(Some('%')) => text.push('%'),
            Some(Some('N')) => text += &variable("SLURMD_NODENAME").unwrap_or_else(host),
            Some(Some('j')) => match variable("SLURM_JOB_ID") {
                Some(job) => text += &job,
                None => return Err(format!("{pattern}: %j is the number of a Slurm job, but this is not a Slurm job")),
            },
            Some(_) => {
                return Err(format!(
                    "{pattern}: after %, only N (node), j (number of the Slurm job) and % are allowed"
                ));
            }
        }
    }
    Ok(text)
}

/// Returns the folder of a run on this node, which contains a folder for each attempt.
pub(crate) fn folder_of_run(staging: &Staging) -> Result<PathBuf, String> {
    let pattern = expanded(&staging.scratch, &|name| std::env::var(name).ok())?;
    Ok(Path::new(&pattern).join(format!("makespan-{}-{}", user(), staging.run)))
}

/// Returns the user id of this process.
fn user() -> u32 {
    fs::metadata("/proc/self").map_or(u32::MAX, |metadata| metadata.uid())
}

/// Removes the files that dead processes left in the folder of a run on this node. Removes the folder if it is then
/// empty.
pub(crate) fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // The name of such a file ends with the host, the process id and the start time of the process.
        let mut parts = name.rsplitn(4, '~');
        let start = parts.next().and_then(|part| part.parse().ok());
        let pid = parts.next().and_then(|part| part.parse().ok());
        let (Some(start), Some(pid), Some(on)) = (start, pid, parts.next()) else { continue };
        if on == host() && !(Identity { pid, start }).is_alive() {
            // Another process may remove the files at the same time.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let _ = fs::remove_dir(folder);
}

/// The folder of an attempt on its node. The folder is removed when this value is dropped.
pub(super) struct Scratch<'a> {
    staging: &'a Staging,
    above: PathBuf,
    folder: PathBuf,
}

impl<'a> Scratch<'a> {
    /// Creates the folder and copies the input files into it. Stops when `goes_on` returns false. `goes_on` is called
    /// repeatedly.
    pub fn fill(staging: &'a Staging, goes_on: &mut dyn FnMut() -> bool) -> Result<Self, StagingFailure> {
        let above = folder_of_run(staging).map_err(StagingFailure::Wrong)?;
        let fail = |error: io::Error| {
            StagingFailure::Wrong(format!(
                "cannot make a folder in {}: {}; choose another folder with --scratch",
                staging.scratch,
                said(&error)
            ))
        };
        let pid = getpid().as_raw();
        let start = start_of(pid).map_err(fail)?;
        let folder = above.join(format!("{}.{}~{}~{pid}~{start}", staging.name, staging.attempt, host()));
        let above_all = above.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(above_all).map_err(fail)?;
        sweep(&above);
        let make = || own_folder(&above).and_then(|()| DirBuilder::new().mode(0o700).create(&folder));
        // Another task may remove the empty folder of the run between the two steps.
        let swept = |made: &io::Result<()>| matches!(made, Err(error) if error.kind() == ErrorKind::NotFound);
        let made = (0..100).map(|_| make()).find(|made| !swept(made)).unwrap_or_else(make);
        made.map_err(fail)?;
        let scratch = Self { staging, above, folder };
        for name in &staging.reads {
            scratch.take_in(name, goes_on)?;
        }
        for name in &staging.writes {
            check_name(name).map_err(StagingFailure::Wrong)?;
            let inside = scratch.folder.join(name);
            inside.parent().map_or(Ok(()), fs::create_dir_all).map_err(|error| scratch.full(name, &error))?;
        }
        Ok(scratch)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn take_in(&self, name: &str, goes_on: &mut dyn FnMut() -> bool) -> Result<(), StagingFailure> {
        check_name(name).map_err(StagingFailure::Wrong)?;
        let (from, to) = (Path::new(&self.staging.home).join(name), self.folder.join(name));
        let home = &self.staging.home;
        match from.metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(StagingFailure::Wrong(format!("the input file `{name}` of the task is not in {home}")));
            }
            Err(error) => {
                return Err(StagingFailure::Wrong(format!("cannot read `{name}` in {home}: {}", said(&error))));
            }
            Ok(metadata) if !metadata.is_file() => {
                return Err(StagingFailure::Wrong(format!(
                    "`{name}` in {home} is not a regular file; the inputs of a task must be regular files"
                )));
            }
            Ok(_) => {}
        }
        to.parent().map_or(Ok(()), fs::create_dir_all).map_err(|error| self.full(name, &error))?;
        match copied(&from, &to, goes_on) {
            Ok(true) => Ok(()),
            Ok(false) => Err(StagingFailure::Stopped),
            Err(error) => Err(self.full(name, &error)),
        }
    }

    fn full(&self, name: &str, error: &io::Error) -> StagingFailure {
        let remedy = if error.raw_os_error() == Some(ENOSPC) { "; choose a larger folder with --scratch" } else { "" };
        StagingFailure::Wrong(format!("cannot copy `{name}` to {}: {}{remedy}", self.staging.scratch, said(error)))
    }

    /// Copies the output files to the folder that all nodes share. Each file appears under its name only when it is
    /// complete.
    pub fn give_out(&self, goes_on: &mut dyn FnMut() -> bool) -> Result<(), StagingFailure> {
        let mut copies = Vec::new();
        let given = self.copy_out(goes_on, &mut copies).and_then(|()| {
            let renamed = copies.iter().try_for_each(|(temporary, to)| fs::rename(temporary, to));
            renamed.map_err(|error| self.not_back(&error))
        });
        if given.is_err() {
            copies.iter().for_each(|(temporary, _)| drop(fs::remove_file(temporary)));
        }
        given
    }

    fn copy_out(
        &self,
        goes_on: &mut dyn FnMut() -> bool,
        copies: &mut Vec<(PathBuf, PathBuf)>,
    ) -> Result<(), StagingFailure> {
        let wrong = |text: String| Err(StagingFailure::Wrong(text));
        let inside = self.folder.canonicalize().map_err(|error| self.not_back(&error))?;
        for name in &self.staging.writes {
            match self.folder.join(name).canonicalize() {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    return wrong(format!(
                        "the task ended without writing the file `{name}`, which the workflow lists as an output of the task"
                    ));
                }
                Err(error) => {
                    return wrong(format!("cannot read the output file `{name}` of the task: {}", said(&error)));
                }
                Ok(path) if !path.starts_with(&inside) => {
                    return wrong(format!("the task wrote `{name}`, which is a link to a file outside its folder"));
                }
                Ok(path) if !path.is_file() => {
                    return wrong(format!("the task wrote `{name}`, which is not a regular file"));
                }
                Ok(_) => {}
            }
        }
        for name in &self.staging.writes {
            let to = Path::new(&self.staging.home).join(name);
            let folder = to.parent().unwrap_or(Path::new("/"));
            fs::create_dir_all(folder).map_err(|error| self.not_back(&error))?;
            // Removes temporary files of earlier attempts that were killed. If an earlier attempt is still running on
            // another node, the removal prevents this attempt from finishing its copies.
            for earlier in 1..self.staging.attempt {
                drop(fs::remove_file(folder.join(self.temporary(name, earlier))));
            }
            let temporary = folder.join(self.temporary(name, self.staging.attempt));
            drop(fs::remove_file(&temporary));
            copies.push((temporary.clone(), to));
            match copied(&self.folder.join(name), &temporary, goes_on) {
                Ok(true) => {}
                Ok(false) => return Err(StagingFailure::Stopped),
                Err(error) => return Err(self.not_back(&error)),
            }
        }
        let lasting = |(temporary, _): &(PathBuf, PathBuf)| File::open(temporary)?.sync_data();
        copies.iter().try_for_each(lasting).map_err(|error| self.not_back(&error))
    }

    fn not_back(&self, error: &io::Error) -> StagingFailure {
        StagingFailure::Wrong(format!(
            "cannot copy the output files of the task to {}: {}",
            self.staging.home,
            said(error)
        ))
    }

    /// Returns the temporary name of a file while it is copied. The temporary name does not contain the name of the
    /// file, which may already have the maximum length.
    fn temporary(&self, name: &str, attempt: u32) -> String {
        let words = [self.staging.run.as_str(), &self.staging.name, &attempt.to_string(), name].join("\0");
        format!(".makespan-{:016x}", Staging::hash(words.as_bytes()))
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
        let _ = fs::remove_dir(&self.above);
    }
}

/// Creates the folder of a run. Other users must not be able to read it, and must not have created it before.
fn own_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        made => return made,
    }
    let metadata = folder.symlink_metadata()?;
    if metadata.is_dir() && metadata.uid() == user() {
        return Ok(());
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, format!("{} belongs to another user", folder.display())))
}

/// Copies a file with its permissions. Returns false if the copy was stopped.
fn copied(from: &Path, to: &Path, goes_on: &mut dyn FnMut() -> bool) -> io::Result<bool> {
    let source = File::open(from)?;
    let mode = source.metadata()?.permissions().mode() & 0o777;
    let mut target = OpenOptions::new().write(true).create_new(true).mode(mode | 0o200).open(to)?;
    loop {
        if !goes_on() {
            return Ok(false);
        }
        if io::copy(&mut (&source).take(CHUNK), &mut target)? < CHUNK {
            break;
        }
    }
    target.set_permissions(Permissions::from_mode(mode))?;
    Ok(true)
}

/// Formats a system error without its number.
fn said(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests;
