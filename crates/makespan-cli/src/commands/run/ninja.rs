//! Builds of ninja: the option `-C`, and builds that only ninja can run.

use std::fs::File;
use std::path::{Path, PathBuf};

use miette::{Report, Result, miette};

use crate::args::{RunOptions, TemplateOptions};
use crate::machine;
use crate::ninja::{OnlyNinja, claim, folder_of, is_ninja, run};
use crate::output::complain;

/// Returns the options with `DIR/build.ninja` as the source if they contain `-C DIR`, as for ninja. With a file or with
/// arguments, `-C` separates columns, and the result is `None`.
pub fn in_folder(options: &RunOptions) -> Result<Option<RunOptions>> {
    let source = &options.source;
    let TemplateOptions { words, arguments } = &source.template;
    let has_arguments = words.iter().any(|word| word.starts_with(":::")) || !arguments.args_from.is_empty();
    let Some(folder) = arguments.colsep.as_ref().filter(|_| source.instance.is_none() && !has_arguments) else {
        return Ok(None);
    };
    let manifest = Path::new(folder).join("build.ninja");
    if !manifest.is_file() {
        return Err(miette!(
            "-C {folder}: there is no file {}; name a folder with a build of ninja, or arguments that -C splits into columns",
            manifest.display()
        ));
    }
    let mut options = options.clone();
    options.source.instance = Some(manifest);
    options.source.template.arguments.colsep = None;
    Ok(Some(options))
}

/// Returns the manifest of ninja that the options name.
pub fn manifest(options: &RunOptions) -> Option<&Path> {
    let source = &options.source;
    source.instance.as_deref().filter(|path| source.format.is_none() && is_ninja(path))
}

/// Returns the folder in which ninja would run the commands, if the options name a build of ninja.
pub fn folder(options: &RunOptions) -> Result<Option<PathBuf>> {
    let Some(path) = manifest(options) else { return Ok(None) };
    let folder = folder_of(path).canonicalize();
    folder.map(Some).map_err(|error| miette!("{}: cannot open: {error}", path.display()))
}

/// Claims the build of ninja that the options name, if they name one and jobs will run. Returns a file that is locked while
/// the session runs.
///
/// # Errors
/// Returns an error if jobs of another session run.
pub fn claimed(options: &RunOptions) -> Result<Option<File>> {
    manifest(options).filter(|_| !options.dry_run).map(claim).transpose()
}

/// Returns an error if the source is a build of ninja and its jobs would run on a cluster.
pub fn refuse_cluster(options: &RunOptions, is_here: bool) -> Result<()> {
    match manifest(options).filter(|_| !is_here) {
        None => Ok(()),
        Some(path) => {
            Err(miette!("{}: the jobs of a build of ninja run only on this machine; remove --on", path.display()))
        }
    }
}

/// Handles an error that occurred while the source of a run was read. If only ninja can run the build that the options name, replaces this process by
/// ninja, except with `--dry-run`. Otherwise, returns the error.
pub fn run_by_ninja(options: &RunOptions, error: Report) -> Report {
    let source = &options.source;
    let (Some(path), Some(OnlyNinja(reason)), false) = (manifest(options), error.downcast_ref(), options.dry_run)
    else {
        return error;
    };
    let processors = match (source.machines.processors, machine::platform()) {
        (Some(processors), _) => processors,
        (None, Ok(platform)) => platform.processors(),
        (None, Err(error)) => return error,
    };
    complain(&format!(
        "{reason}, so only ninja can run this build; starting ninja, without the options about jobs except --jobs and --processors"
    ));
    let jobs = source.jobs.map_or(processors, |jobs| jobs.of(processors, u64::from(u32::MAX)));
    run(path, &source.template.words, jobs)
}
