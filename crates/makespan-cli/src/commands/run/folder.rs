//! The folder of a run.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use makespan_core::{Instance, validate};
use makespan_formats::schedule::ScheduleFile;
use miette::{Result, miette};

use super::Begun;
use crate::args::RunOptions;
use crate::output::shown;

/// The plan that the run began with.
pub const PLAN: &str = "plan.json";

/// The instance with the times that were learned, where any were.
pub const INSTANCE: &str = "instance.json";

/// Files of a run, except its journal and the output of its jobs.
const RESULTS: [&str; 6] = [PLAN, INSTANCE, "jobs.csv", "gantt.svg", "report.html", "decisions.csv"];

/// Additional folders of a run on Slurm.
const BOARDS: [&str; 2] = ["jobs", "pilot"];

/// Returns the names of all files that a run writes, except its journal and the output of its jobs.
pub fn results(on_cluster: bool) -> Vec<String> {
    let boards = BOARDS.iter().filter(|_| on_cluster);
    RESULTS.iter().chain(boards).map(ToString::to_string).collect()
}

/// The folder that the options name; otherwise `runs/NAME-k`, the latest one to resume or the next free one.
pub fn choose(options: &RunOptions) -> Result<PathBuf> {
    if let Some(folder) = &options.folder {
        if folder.is_file() {
            return Err(miette!("{} is a file; name a folder for the run with --folder", folder.display()));
        }
        if options.failures.resume && !folder.try_exists().unwrap_or(true) {
            return Err(miette!(
                "there is no folder {} with a run to resume; name the folder of the run, or leave --resume out to begin one",
                shown(&folder.display().to_string())
            ));
        }
        if options.failures.resume {
            check_begun(folder)?;
        }
        return Ok(folder.clone());
    }
    let stem = options.source.stem();
    let numbered = |number: u32| PathBuf::from("runs").join(format!("{stem}-{number}"));
    match (options.failures.resume, latest(&stem)) {
        (true, None) => Err(miette!("there is no run of {} to resume under runs/", options.source.name())),
        (true, Some(latest)) => Ok(numbered(latest)),
        (false, latest) => Ok(numbered(latest.unwrap_or(0) + 1)),
    }
}

/// Makes the folder that [`choose`] names for a new run, which nobody else has then.
pub fn claim(options: &RunOptions) -> Result<PathBuf> {
    loop {
        let folder = choose(options)?;
        let fail = |error| miette!("{}: cannot make the folder: {error}", shown(&folder.display().to_string()));
        if let Some(above) = folder.parent() {
            fs::create_dir_all(above).map_err(fail)?;
        }
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return made.map_err(fail).map(|()| folder),
        }
    }
}

/// Returns whether a folder belongs to a run. A run that was killed before it wrote its journal leaves its lock file,
/// and perhaps its plan.
fn is_of_a_run(folder: &Path) -> bool {
    let is_there = |name: &str| folder.join(name).symlink_metadata().is_ok();
    is_there(makespan_exec::journal::FILE) || makespan_exec::is_lock_of_a_run(&folder.join("lock"))
}

/// Whether nothing is in a folder, as a session leaves it that was killed as soon as it had made it.
pub fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

/// Refuses to resume in a folder that holds something, but neither a journal nor the lock of a session that ended before it wrote
/// one: it is of somebody else.
fn check_begun(folder: &Path) -> Result<()> {
    if is_empty(folder) || is_of_a_run(folder) || folder.join("status").symlink_metadata().is_ok() {
        return Ok(());
    }
    Err(miette!(
        "{} holds no run to resume; name the folder of the run, or leave --resume out to begin one",
        shown(&folder.display().to_string())
    ))
}

/// The largest number of a run of this name; runs in between may have been removed.
fn latest(stem: &str) -> Option<u32> {
    let entries = fs::read_dir("runs").ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let numbers = names.filter_map(|name| name.strip_prefix(stem)?.strip_prefix('-')?.parse().ok());
    numbers.filter(|&number| number < u32::MAX).max()
}

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

/// The plan of an earlier session, where there is one for this instance.
pub fn planned(folder: &Path, instance: &Instance) -> Option<Begun> {
    let path = folder.join(PLAN);
    let bytes = fs::read(&path).ok()?;
    let file = ScheduleFile::read(&path.display().to_string(), &bytes, instance).ok()?;
    let ScheduleFile { algorithm, seed, schedule, bounds, remarks, .. } = file;
    // An edited instance may have jobs of these names that the plan no longer fits.
    validate(instance, &schedule).ok()?;
    Some(Begun { algorithm, seed: seed.unwrap_or(1), schedule, bounds, remarks })
}
