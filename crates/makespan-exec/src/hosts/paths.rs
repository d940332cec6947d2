//! Files of agents on their hosts.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::message::Opening;
use crate::machine::host;

/// Name of the socket on which an agent listens.
pub(super) const SOCKET: &str = "socket";

/// Name of the file that the running agent locks.
pub(super) const LOCK: &str = "lock";

/// Name of the file with the messages of an agent.
pub(super) const LOG: &str = "log";

/// Environment variable that marks the processes of an agent. Its value is the folder of the agent.
pub(super) const MARK: &str = "MAKESPAN_AGENT";

/// Name of a file in the folder of the run. If an agent reads the id of the run in this file, it shares the folder.
pub(super) const TOKEN: &str = "hosts/run";

/// Returns the folder of the agent for a run on this host. Hosts may share a home folder, so the name of the folder
/// depends on the host.
pub(super) fn agent_folder(opening: &Opening) -> Result<PathBuf, String> {
    let name = hex(&[&opening.run, &opening.host, &host()].map(String::as_bytes).join(&0));
    Ok(cache()?.join("agents").join(name))
}

/// Returns 16 hexadecimal digits of the SHA-256 digest.
pub(super) fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the folder with the files of agents and with copied programs.
fn cache() -> Result<PathBuf, String> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let above = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    Ok(above.ok_or("the variable HOME is not set")?.join("makespan"))
}

/// Creates a folder that only this user can read.
pub(super) fn make_private(folder: &Path) -> Result<(), String> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let private = made.and_then(|()| fs::set_permissions(folder, fs::Permissions::from_mode(0o700)));
    private.map_err(|error: io::Error| {
        format!(
            "cannot create {}: {error}; free space there, or set XDG_CACHE_HOME to another folder",
            folder.display()
        )
    })
}
