//! A small separate program that can be the shim.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};

use super::ARGUMENT;

/// File name of the small program, in the folder of this program.
const NAME: &str = "makespan-job";

/// Argument that requests the version of a shim.
pub(super) const VERSION: &str = "version";

/// The answer of a shim of this version. The answer must change whenever arguments, claims or status files change.
pub(super) const PROTOCOL: &str = concat!("makespan-job ", env!("CARGO_PKG_VERSION"), ", protocol 10");

/// Returns the small program in the folder of this program, if it exists and has the same version. The small program
/// starts faster.
pub(crate) fn small() -> Option<File> {
    let path = std::env::current_exe().ok()?.with_file_name(NAME);
    let file = File::open(path).ok()?;
    let mut command = Command::new(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let output = command.args([ARGUMENT, VERSION]).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    (output.status.success() && output.stdout.trim_ascii_end() == PROTOCOL.as_bytes()).then_some(file)
}
