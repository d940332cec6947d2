//! Files of a run, except its journal and the output of its jobs.

use std::path::{Path, PathBuf};

use miette::{Result, miette};

/// The command line that began the run.
pub const RECORD: &str = "run.json";

/// The commands of the jobs.
pub const COMMANDS: &str = "commands.jsonl";

/// The outputs that were printed.
pub const PRINTED: &str = "printed";

/// A file of the run. A link in its folder is not followed: a job may have put it there.
pub fn own(folder: &Path, name: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    if path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
        return Err(miette!(
            "{}: cannot write: it is a symbolic link, which is not followed; remove it",
            path.display()
        ));
    }
    Ok(path)
}
