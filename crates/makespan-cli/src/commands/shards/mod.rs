//! Splits work into shards. Each shard is a process of this program and one job of a run. A shard computes a part of
//! the work and writes the results into the folder of the work. Then the command that split the work collects all
//! results.
//!
//! The caller of [`shard`] provides the function that computes a part of the work.

mod build;
mod plan;
mod shard;

pub use build::build;
pub use plan::ShardPlan;
pub use shard::{SHARDS, Shard};

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use makespan_exec::cores;
use makespan_formats::list::quoted;
use makespan_slurm::engine::this_program;
use miette::{Report, Result, miette};

use super::run;
use crate::args::{Arguments, Command, RunOptions, ShardCommand, ShardOptions};
use crate::output::{complain, shown, write_file};

/// Default number of shards for each processor. Several shards for each processor balance the load, so that a slow
/// shard delays the work only a little.
const SHARDS_A_PROCESSOR: usize = 4;

/// Name of the list with the commands of all shards, in the folder of the shards.
const COMMANDS: &str = "commands.txt";

/// Name of the folder of the run, within the folder of the work.
const RUN: &str = "run";

/// Work that can be split into shards.
pub struct ShardWork<'a> {
    /// Folder for the results.
    pub folder: &'a Path,
    /// All inputs that determine the results, as a text.
    pub identity: String,
    /// Number of parts of the work, which is the maximum number of shards.
    pub parts: usize,
    /// Number of threads that a shard uses.
    pub processors: usize,
    /// The option that names the folder.
    pub option: &'static str,
}

/// Returns an error if a folder contains shards of other work.
pub fn refuse_other(work: &ShardWork<'_>) -> Result<()> {
    ShardPlan::read(work.folder)?.map_or(Ok(()), |plan| plan.checked(work, None).map(drop))
}

/// Runs all shards that have no results yet. Returns false if the user stopped the run.
pub fn carry_out(work: &ShardWork<'_>, options: &ShardOptions) -> Result<bool> {
    let run = |words: &[String]| run_options(words, options);
    // If Slurm does not accept the options, the error occurs before a file is written.
    let there = run::processors(&run(&["-".into()])?)?;
    let available = match there {
        Some(processors) => processors as usize,
        None => cores().map_err(|error| miette!("{error}"))?.len(),
    };
    let folder = made(work.folder)?;
    let _lock = locked(work, &folder)?;
    let processors = work.processors.clamp(1, available.max(1));
    let plan = match ShardPlan::read(&folder)? {
        Some(plan) => plan.checked(work, options.shards)?,
        None => {
            let usual = (SHARDS_A_PROCESSOR * available / processors).max(1);
            let shards = options.shards.map_or(usual, |shards| shards as usize).min(work.parts.max(1));
            ShardPlan::new(work, shards)?.write(&folder)?
        }
    };
    let commands = folder.join(SHARDS).join(COMMANDS);
    let list = list(&plan, &folder, processors)?;
    write_file(&commands, |out| out.write_all(list.as_bytes()))?;
    let runs = folder.join(RUN);
    let mut words = vec![text(&commands)?, "--folder".into(), text(&runs)?];
    if fs::read_dir(&runs).is_ok_and(|mut entries| entries.next().is_some()) {
        words.extend(["--resume".into(), "--retry-failed".into()]);
    }
    let ended = run::carry_out(&run(&words)?)?;
    if ended.status == 0 {
        return Ok(true);
    }
    let kept = format!(
        "finished shards are kept in {}; to continue, repeat the same command",
        shown(&folder.display().to_string())
    );
    if let Some((name, reason)) = ended.failures.first() {
        let log = runs.join(format!("{name}.err"));
        let more = match ended.failures.len() - 1 {
            0 => String::new(),
            count => format!(", as did {count} others"),
        };
        return Err(miette!(
            "{name} failed{more}: {reason}{}; its log is {}; {kept}",
            last_line(&log),
            shown(&log.display().to_string())
        ));
    }
    if ended.stopped {
        complain(&format!("interrupted; {kept}"));
        return Ok(false);
    }
    Err(miette!("not all shards are done; {kept}"))
}

/// Returns the options of the run that computes the shards.
fn run_options(words: &[String], options: &ShardOptions) -> Result<RunOptions> {
    let front = ["makespan".to_owned(), "run".to_owned()];
    let all = front.iter().chain(words).map(String::as_str).chain(["--no-history"]);
    match Arguments::try_parse_from(all).map(|arguments| arguments.command) {
        Ok(Command::Run(mut run)) => {
            run.slurm = options.slurm.clone();
            run.is_part = true;
            Ok(*run)
        }
        Ok(_) => Err(miette!("the command of the shards is not `run`; this is a defect of Makespan")),
        Err(error) => Err(miette!("the run of the shards: {error}")),
    }
}

/// Returns the list with one command for each shard.
fn list(plan: &ShardPlan, folder: &Path, processors: usize) -> Result<String> {
    let program = this_program().map_err(|error| miette!("{error}"))?;
    let (program, folder) = (quoted(&text(&program)?), quoted(&text(folder)?));
    let command =
        |index: usize| format!("{program} shard {folder} {index} #: name=shard-{index:04} cores={processors}\n");
    Ok((0..plan.shards).map(command).collect())
}

/// Creates the folder if it is missing. Returns its absolute path.
fn made(folder: &Path) -> Result<PathBuf> {
    let fail = |error: std::io::Error| {
        miette!("{}: cannot make the folder: {error}; name another folder", shown(&folder.display().to_string()))
    };
    fs::create_dir_all(folder.join(SHARDS)).map_err(fail)?;
    folder.canonicalize().map_err(fail)
}

/// Locks the work. The lock is held while the returned file is open.
fn locked(work: &ShardWork<'_>, folder: &Path) -> Result<File> {
    let path = folder.join(SHARDS).join("lock");
    let fail = |error: std::io::Error| miette!("{}: {error}", shown(&path.display().to_string()));
    let file = File::options().write(true).create(true).truncate(false).open(&path).map_err(fail)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(miette!(
            "the shards in {} are being computed for another command; wait until that command ends, or choose another \
             folder with {}",
            shown(&folder.display().to_string()),
            work.option
        )),
        Err(TryLockError::Error(error)) => Err(fail(error)),
    }
}

fn text(path: &Path) -> Result<String> {
    let name = path.to_str().map(str::to_owned);
    name.ok_or_else(|| miette!("{}: its name is not UTF-8; name another folder", path.display()))
}

/// Returns the last line of a log.
fn last_line(log: &Path) -> String {
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty());
    last.map_or_else(String::new, |line| format!(" (`{}`)", shown(line)))
}

/// Computes one shard: changes to the folder in which the user started the command, and calls `compute`.
pub fn shard(options: &ShardCommand, compute: impl FnOnce(&ShardPlan, Shard) -> Result<()>) -> Result<ExitCode> {
    let (folder, index) = (&options.folder, options.index);
    let name = folder.display();
    let plan = ShardPlan::read(folder)?
        .ok_or_else(|| miette!("{name} contains no shards; shards are made by a command with --on or --shards"))?;
    if index >= plan.shards {
        return Err(miette!("{name} has shards 0 to {}, but no shard {index}", plan.shards - 1));
    }
    let directory = &plan.directory;
    std::env::set_current_dir(directory).map_err(|error| {
        miette!("{}: {error}; start the command in a folder that all nodes share", directory.display())
    })?;
    compute(&plan, Shard { index, count: plan.shards })?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the error for a recorded command that this program cannot split into shards.
pub fn not_split(folder: &Path) -> Report {
    miette!("{}: the recorded command cannot be split into shards; remove {SHARDS} from this folder", folder.display())
}
