//! Starts the command of a job.

use std::collections::BTreeMap;
use std::ffi::{CString, OsString};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use nix::errno::Errno;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::Pid;

use super::ShimOrder;

/// Starts a command with empty input, no blocked signals and a separate process group. The shell runs a script without
/// `#!`. If the command has its own folder, environment variables state its path.
pub(super) fn spawn(order: &ShimOrder, outputs: &[File; 2], folder: Option<&Path>) -> Result<Pid, Errno> {
    let words = order.command.iter().map(|word| CString::new(word.as_bytes())).collect::<Result<Vec<_>, _>>();
    let words = words.map_err(|_| Errno::EINVAL)?;
    let program = words.first().ok_or(Errno::ENOENT)?;
    let environment = environment(order, folder);
    match start(program, &words, &environment, outputs) {
        Err(Errno::ENOEXEC) => {
            let shell = CString::from(c"/bin/sh");
            let script: Vec<CString> = std::iter::once(shell.clone()).chain(words.iter().cloned()).collect();
            start(&shell, &script, &environment, outputs)
        }
        started => started,
    }
}

/// Returns the complete environment of the command.
fn environment(order: &ShimOrder, folder: Option<&Path>) -> Vec<CString> {
    let entry = |(name, value): (OsString, OsString)| {
        let bytes = [name.into_vec(), b"=".to_vec(), value.into_vec()].concat();
        CString::new(bytes).ok()
    };
    let mut all: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    all.extend(order.environment.iter().map(|(name, value)| (name.into(), value.into())));
    if let Some(folder) = folder {
        all.extend(["PWD", "MAKESPAN_SCRATCH"].map(|name| (name.into(), folder.into())));
    }
    all.into_iter().filter_map(entry).collect()
}

fn start(program: &CString, words: &[CString], environment: &[CString], outputs: &[File; 2]) -> Result<Pid, Errno> {
    let mut files = PosixSpawnFileActions::init()?;
    let nothing = File::open("/dev/null").map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(0)))?;
    files.add_dup2(nothing.as_raw_fd(), 0)?;
    files.add_dup2(outputs[0].as_raw_fd(), 1)?;
    files.add_dup2(outputs[1].as_raw_fd(), 2)?;
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
