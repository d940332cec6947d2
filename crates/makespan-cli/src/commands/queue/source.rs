//! Where a queue comes from: a running Slurm, or outputs that were saved.

use std::path::Path;

use makespan_slurm::Commands;
#[cfg(feature = "service")]
use makespan_slurm::Program;
use makespan_slurm::queue::Queue;
use miette::{Result, miette};

use crate::output::complain;

/// The word for a running Slurm.
pub const SLURM: &str = "slurm";

/// The queue of `slurm` or of a folder, at an instant that is stated or found; `days` of ended jobs are asked for.
///
/// # Errors
/// What is missing or makes no sense, with what helps.
pub fn read(from: &str, at: Option<i64>, days: u32) -> Result<Queue> {
    if from == SLURM {
        let commands = Commands::new().with_teller(complain);
        let mut queue = Queue::read(&commands, days).map_err(|error| miette!("--from slurm: {error}"))?;
        queue.now = at.unwrap_or(queue.now);
        return Ok(queue);
    }
    let folder = Path::new(from);
    if !folder.is_dir() {
        return Err(miette!(
            "--from {from}: it is no folder; write slurm, or a folder with what Slurm's commands printed"
        ));
    }
    Queue::from_folder(folder, at).map_err(|error| miette!("--from {from}: {error}"))
}

#[cfg(feature = "service")]
/// Whether Slurm's commands are on this machine.
pub fn has_slurm() -> bool {
    makespan_exec::program(Program::Scontrol.name()).is_ok()
}
