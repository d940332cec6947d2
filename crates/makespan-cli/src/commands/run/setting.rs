//! The options of a run for the working folder, the niceness, the delay of starts and the source of memory.

use makespan_exec::{ExecuteOptions, JobSetting};
use miette::{Result, miette};

use super::ninja;
use super::place::RunPlace;
use super::source;
use crate::args::RunOptions;
use crate::input::StatedMachines;
use crate::machine;
use crate::past::MemoryRoom;

/// Adds the options to the execution options. If the jobs run on a cluster, returns an error for an option that has no
/// effect there.
pub fn apply(options: &RunOptions, execution: &mut ExecuteOptions, is_here: bool) -> Result<()> {
    if let Some(option) = options.setting.of_this_machine().filter(|_| !is_here) {
        return Err(miette!(
            "{option} applies only to processes on this machine, but with --on, the jobs run on a cluster; remove \
             {option}, or set it in the command"
        ));
    }
    if options.setting.wd.is_some() && source::is_asked(&options.source) {
        return Err(miette!(
            "--wd: make, ninja and Snakemake use the files in their own folder to decide which jobs run; remove --wd"
        ));
    }
    options.setting.apply(execution, machine::platform()?.processors())?;
    if let Some(folder) = ninja::folder(options)? {
        execution.setting.folder = Some(folder);
    }
    Ok(())
}

/// Creates the working folder of the jobs.
pub fn make_folder(setting: &JobSetting) -> Result<()> {
    let Some(folder) = &setting.folder else { return Ok(()) };
    std::fs::create_dir_all(folder)
        .map_err(|error| miette!("--wd {}: cannot make the folder: {error}", folder.display()))
}

/// Returns the machines for which memory is learned.
pub fn memory_room(options: &RunOptions, place: &dyn RunPlace) -> Result<MemoryRoom> {
    let machines = StatedMachines::of(&options.source.machines, options.source.strict)?;
    let machines = machines.or(place.platform()).machine()?;
    Ok(MemoryRoom::of(machines, place.is_here(), options.failures.limit_memory))
}
