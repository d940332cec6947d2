//! The folder of a run.

use std::fs;
use std::path::{Path, PathBuf};

use makespan_core::Instance;
use makespan_formats::schedule::ScheduleFile;
use miette::{Result, miette};

use super::Begun;
use crate::args::RunOptions;

/// The plan that the run began with.
pub const PLAN: &str = "plan.json";

/// The folder that the options name; otherwise `runs/NAME-k`, the latest one to resume or the next free one.
pub fn choose(options: &RunOptions) -> Result<PathBuf> {
    if let Some(folder) = &options.folder {
        return Ok(folder.clone());
    }
    let stem = options.instance.file_stem().map_or("run".into(), |stem| stem.to_string_lossy());
    let numbered = |number: u32| PathBuf::from("runs").join(format!("{stem}-{number}"));
    let next = (1..=u32::MAX).find(|&number| !numbered(number).exists()).unwrap_or(1);
    match (options.resume, next) {
        (true, 1) => Err(miette!("there is no run of {} to resume under runs/", options.instance.display())),
        (true, _) => Ok(numbered(next - 1)),
        (false, _) => Ok(numbered(next)),
    }
}

/// Makes the folder of a new run; one that holds a run already is refused before anything in it changes.
pub fn prepare(folder: &Path, resume: bool) -> Result<()> {
    let journal = folder.join("journal.jsonl");
    if !resume && journal.exists() {
        return Err(miette!("{} holds a run; continue it with --resume or name another --folder", folder.display()));
    }
    fs::create_dir_all(folder).map_err(|error| miette!("cannot make the folder {}: {error}", folder.display()))
}

/// The plan of an earlier session, where there is one for this instance.
pub fn planned(folder: &Path, instance: &Instance) -> Option<Begun> {
    let path = folder.join(PLAN);
    let bytes = fs::read(&path).ok()?;
    let file = ScheduleFile::read(&path.display().to_string(), &bytes, instance).ok()?;
    let ScheduleFile { algorithm, seed, schedule, bounds, remarks, .. } = file;
    Some(Begun { algorithm, seed: seed.unwrap_or(1), schedule, bounds, remarks })
}
