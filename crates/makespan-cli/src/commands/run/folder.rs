//! The folder of a run.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use makespan_core::{Instance, validate};
use makespan_formats::schedule::ScheduleFile;
use miette::{Result, miette};

use super::BegunPlan;
pub use super::own::own;
use super::own::{COMMANDS, PRINTED, RECORD};
use super::record::RunRecord;
use crate::args::RunOptions;
use crate::output::{narrow, shown};

/// File of the plan with which the run began.
pub const PLAN: &str = "plan.json";

/// File of the instance with the learned run times. It exists only if run times were learned.
pub const INSTANCE: &str = "instance.json";

/// Files of a run other than its journal and the output of its jobs.
const RESULTS: [&str; 9] =
    [PLAN, INSTANCE, RECORD, COMMANDS, PRINTED, "jobs.csv", "gantt.svg", "report.html", "decisions.csv"];

/// Additional folders of a run on other machines.
const BOARDS: [&str; 3] = ["hosts", "jobs", "pilot"];

/// Returns the names of all files of a run other than its journal and the output of its jobs.
pub fn results(on_cluster: bool) -> Vec<String> {
    let boards = BOARDS.iter().filter(|_| on_cluster);
    RESULTS.iter().chain(boards).map(ToString::to_string).collect()
}

/// Returns the folder in `--folder`. Without this option, a resumed run gets the latest folder `runs/NAME-k`, and a
/// new run gets the next unused one.
pub fn choose(options: &RunOptions) -> Result<PathBuf> {
    if let Some(folder) = &options.folder {
        if folder.is_file() {
            return Err(miette!("{} is a file; name a folder for the run with --folder", folder.display()));
        }
        if options.failures.resume {
            check_begun(folder)?;
        }
        return Ok(folder.clone());
    }
    let stem = options.source.stem();
    let numbered = |number: u32| PathBuf::from("runs").join(format!("{stem}-{number}"));
    let numbers = numbers(&stem);
    if !options.failures.resume {
        return Ok(numbered(numbers.iter().max().unwrap_or(&0) + 1));
    }
    let likeness = |number: u32| RunRecord::likeness(&numbered(number), &options.source);
    let alike = numbers.into_iter().filter_map(|number| Some((likeness(number)?, number)));
    let latest = alike.max().map(|(_, number)| numbered(number));
    latest.ok_or_else(|| {
        miette!(
            "under runs/, there is no run of {} to resume; name the folder of the run, or remove --resume to begin a \
             new run",
            shown(&options.source.name())
        )
    })
}

/// Returns the options without `--resume` if there is no run to resume. So a script can use `--resume` from its first
/// run.
pub fn of_first_session(options: &RunOptions) -> Option<RunOptions> {
    let is_first = || match &options.folder {
        Some(folder) => !folder.try_exists().unwrap_or(true),
        None => choose(options).is_err(),
    };
    if !(options.failures.resume && is_first()) {
        return None;
    }
    let mut first = options.clone();
    (first.failures.resume, first.begins_anew) = (false, true);
    Some(first)
}

/// Returns a note that there is no run to resume.
pub fn first_note(options: &RunOptions) -> String {
    let place = match &options.folder {
        Some(folder) => format!("the folder {} does not exist", shown(&folder.display().to_string())),
        None => format!("no run of {} is under runs/", shown(&options.source.name())),
    };
    narrow("note: ", 6, &format!("{place}, so --resume begins a new run"))
}

/// Creates the folder that [`choose`] returns for a new run. Two sessions never create the same folder.
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

/// Returns true if a folder belongs to a run. If a run was killed before it wrote its journal, the folder contains
/// only a lock file and perhaps a plan.
fn is_of_a_run(folder: &Path) -> bool {
    let is_there = |name: &str| folder.join(name).symlink_metadata().is_ok();
    is_there(makespan_exec::journal::FILE) || makespan_exec::is_lock_of_a_run(&folder.join("lock"))
}

/// Returns true if a folder is empty. A session that is killed just after it has created the folder leaves an empty
/// folder.
pub fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

/// Returns an error if a folder does not belong to a run. Such a folder is not empty, and contains neither a journal
/// nor a lock file.
fn check_begun(folder: &Path) -> Result<()> {
    if is_empty(folder) || is_of_a_run(folder) || folder.join("status").symlink_metadata().is_ok() {
        return Ok(());
    }
    Err(miette!(
        "{} contains no run to resume; name the folder of the run, or remove --resume to begin a new run",
        shown(&folder.display().to_string())
    ))
}

/// Returns the numbers of the existing runs with this name. Numbers of removed runs are missing.
fn numbers(stem: &str) -> Vec<u32> {
    let entries = fs::read_dir("runs").into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let numbers = names.filter_map(|name| name.strip_prefix(stem)?.strip_prefix('-')?.parse().ok());
    numbers.filter(|&number| number < u32::MAX).collect()
}

/// Returns the plan of an earlier session. Returns `None` if there is no plan or if it is invalid for this instance.
pub fn planned(folder: &Path, instance: &Instance) -> Option<BegunPlan> {
    let path = folder.join(PLAN);
    let bytes = fs::read(&path).ok()?;
    let file = ScheduleFile::read(&path.display().to_string(), &bytes, instance).ok()?;
    let ScheduleFile { algorithm, seed, schedule, bounds, remarks, .. } = file;
    // The list may have been edited since the plan was made. The plan is then invalid if a job has the name of a
    // planned job but other properties.
    validate(instance, &schedule).ok()?;
    Some(BegunPlan { algorithm, seed: seed.unwrap_or(1), schedule, bounds, remarks })
}
