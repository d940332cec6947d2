//! The platform of a run on other machines. A resumed run keeps this platform, because its running jobs occupy processors
//! of the platform.

use std::path::Path;

use makespan_core::{Instance, Platform};
use makespan_formats::{Language, read_platform, write_instance};
use miette::{Result, miette};

use super::folder;
use super::source::within_nodes;
use crate::args::RunOptions;
use crate::output::write_file;

/// Reads the platform of the resumed run from a file in its folder. Returns `None` for a new run.
pub fn of_resumed(options: &RunOptions, file: &str) -> Option<Platform> {
    let folder = options.failures.resume.then(|| folder::choose(options).ok()).flatten()?;
    read(&folder, file)
}

/// Reads a platform that [`write`] wrote. Returns `None` if there is none.
pub fn read(folder: &Path, file: &str) -> Option<Platform> {
    let read = read_platform(&folder.join(file)).ok()?;
    Some(within_nodes(read.platform().clone()))
}

/// Writes a platform to a file in the folder of the run.
pub fn write(platform: &Platform, folder: &Path, file: &str) -> Result<()> {
    let kept = Instance::new(platform.clone(), vec![], vec![]).map_err(|error| miette!("{error}"))?;
    let path = folder.join(file);
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.map_err(|error| miette!("{}: {error}", path.display()))?;
    write_file(&path, |out| write_instance(&kept, Language::Json, out))
}
