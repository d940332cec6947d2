//! A small program beside this one that can be the shim.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};

use super::ARGUMENT;

/// What it is called, in the folder of this program.
const NAME: &str = "makespan-job";

/// The argument that asks a shim for its version.
pub(super) const VERSION: &str = "version";

/// What a shim of this version says: it changes with arguments, claims and status files.
pub(super) const PROTOCOL: &str = concat!("makespan-job ", env!("CARGO_PKG_VERSION"), ", protocol 8");

/// The program beside this one that starts faster and is of the same version, if there is one.
pub(crate) fn small() -> Option<File> {
    let path = std::env::current_exe().ok()?.with_file_name(NAME);
    let file = File::open(path).ok()?;
    let mut command = Command::new(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let output = command.args([ARGUMENT, VERSION]).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    (output.status.success() && output.stdout.trim_ascii_end() == PROTOCOL.as_bytes()).then_some(file)
}
