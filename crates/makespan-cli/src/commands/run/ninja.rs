//! Builds of ninja: the option `-C`, and builds that only ninja can run.

use std::fs::File;
use std::path::Path;

use miette::{Result, miette};

use crate::args::{RunOptions, TemplateOptions};
use crate::machine;
use crate::ninja::{claim, is_ninja, left, run};
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
fn manifest(options: &RunOptions) -> Option<&Path> {
    let source = &options.source;
    source.instance.as_deref().filter(|path| source.format.is_none() && is_ninja(path))
}

/// Claims the build of ninja that the options name, if they name one and jobs will run. Returns a file that is locked while
/// the session runs.
///
/// # Errors
/// Returns an error if jobs of another session run.
pub fn claimed(options: &RunOptions) -> Result<Option<File>> {
    manifest(options).filter(|_| !options.dry_run).map(claim).transpose()
}

/// Runs ninja if only ninja can run the build that the options name. Returns the exit status of ninja, or `None` if
/// Makespan can run the build or the source is no build of ninja. With `--dry-run`, ninja does not run.
///
/// # Errors
/// Returns an error if the jobs would run on a cluster, if the manifest cannot be read, or if ninja fails to start.
pub fn run_by_ninja(options: &RunOptions, is_here: bool) -> Result<Option<u8>> {
    let source = &options.source;
    let Some(path) = manifest(options) else { return Ok(None) };
    if !is_here {
        return Err(miette!("{}: the jobs of a build of ninja run only on this machine; remove --on", path.display()));
    }
    let Some(reason) = left(path)?.filter(|_| !options.dry_run) else { return Ok(None) };
    complain(&format!(
        "{reason}, so only ninja can run this build; starting ninja, without the options about jobs except --jobs and --processors"
    ));
    let processors =
        source.machines.processors.map_or_else(|| Ok(machine::platform()?.processors()), Ok::<_, miette::Report>)?;
    let jobs = source.jobs.map_or(processors, |jobs| jobs.of(processors, u64::from(u32::MAX)));
    Err(run(path, &source.template.words, jobs))
}
