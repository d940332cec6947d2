//! Starts the command of a job.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use nix::errno::Errno;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::Pid;

use super::{JobFiles, ShimOrder};
use crate::jobserver::jobserver_environment;

/// Starts a command with empty input, no blocked signals and a separate process group. The shell runs a script without
/// `#!`. If the command has its own folder, environment variables state its path.
pub(super) fn spawn(order: &ShimOrder, files: &JobFiles, folder: Option<&Path>) -> Result<Pid, Errno> {
    let words = order.command.iter().map(|word| CString::new(word.as_bytes())).collect::<Result<Vec<_>, _>>();
    let words = words.map_err(|_| Errno::EINVAL)?;
    let program = words.first().ok_or(Errno::ENOENT)?;
    let inherits = order.jobserver.as_ref().is_some_and(|jobserver| jobserver.is_inherited);
    let tokens = if inherits { files.tokens.as_slice() } else { &[] };
    let environment = environment(order, tokens, folder);
    match start(program, &words, &environment, &files.outputs, tokens) {
        Err(Errno::ENOEXEC) => {
            let shell = CString::from(c"/bin/sh");
            let script: Vec<CString> = std::iter::once(shell.clone()).chain(words.iter().cloned()).collect();
            start(&shell, &script, &environment, &files.outputs, tokens)
        }
        started => started,
    }
}

/// Returns the complete environment of the command.
fn environment(order: &ShimOrder, tokens: &[File], folder: Option<&Path>) -> Vec<CString> {
    let entry = |(name, value): (OsString, OsString)| {
        let bytes = [name.into_vec(), b"=".to_vec(), value.into_vec()].concat();
        CString::new(bytes).ok()
    };
    let mut all: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    all.extend(order.environment.iter().map(|(name, value)| (name.into(), value.into())));
    if let Some(jobserver) = &order.jobserver {
        let descriptors: Vec<String> = tokens.iter().map(|file| file.as_raw_fd().to_string()).collect();
        let existing = all.get(OsStr::new("MAKEFLAGS")).cloned();
        let variables = jobserver_environment(existing.as_deref(), jobserver, &descriptors.join(","));
        all.extend(variables.map(|(name, value)| (name.into(), value.into())));
    }
    if let Some(folder) = folder {
        all.extend(["PWD", "MAKESPAN_SCRATCH"].map(|name| (name.into(), folder.into())));
    }
    all.into_iter().filter_map(entry).collect()
}

/// `tokens` are files that the command inherits.
fn start(
    program: &CString,
    words: &[CString],
    environment: &[CString],
    outputs: &[File; 2],
    tokens: &[File],
) -> Result<Pid, Errno> {
    let mut files = PosixSpawnFileActions::init()?;
    let nothing = File::open("/dev/null").map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(0)))?;
    files.add_dup2(nothing.as_raw_fd(), 0)?;
    files.add_dup2(outputs[0].as_raw_fd(), 1)?;
    files.add_dup2(outputs[1].as_raw_fd(), 2)?;
    for file in tokens {
        // A copy to the same number stays open in the command.
        files.add_dup2(file.as_raw_fd(), file.as_raw_fd())?;
    }
    let mut attributes = PosixSpawnAttr::init()?;
    attributes.set_flags(
        PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK
            | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF
            | PosixSpawnFlags::POSIX_SPAWN_SETPGROUP,
    )?;
    attributes.set_sigmask(&SigSet::empty())?;
    // Rust programs such as this one ignore SIGPIPE. The default is restored, because other programs rely on the
    // default.
    attributes.set_sigdefault(&SigSet::from(Signal::SIGPIPE))?;
    attributes.set_pgroup(Pid::from_raw(0))?;
    posix_spawn(program.as_c_str(), &files, &attributes, words, environment)
}
