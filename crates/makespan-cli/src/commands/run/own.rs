//! Files of a run other than its journal and the output of its jobs.

use std::path::{Path, PathBuf};

use miette::{Result, miette};

/// File of the command line that began the run.
pub const RECORD: &str = "run.json";

/// File of the commands of the jobs.
pub const COMMANDS: &str = "commands.jsonl";

/// File that records which outputs were printed.
pub const PRINTED: &str = "printed";

/// Returns the path of a file of the run. Returns an error for a symbolic link, because a job may have created it.
pub fn own(folder: &Path, name: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    if path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
        return Err(miette!(
            "{}: cannot write: the path is a symbolic link, which is not followed; remove the link",
            path.display()
        ));
    }
    Ok(path)
}
