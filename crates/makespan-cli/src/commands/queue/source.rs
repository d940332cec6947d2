//! Reads a queue from a running Slurm or from saved output.

use std::path::Path;

use makespan_slurm::Commands;
#[cfg(feature = "service")]
use makespan_slurm::Program;
use makespan_slurm::queue::Queue;
use miette::{Result, miette};

use crate::output::complain;

/// The word that selects the queue of a running Slurm.
pub const SLURM: &str = "slurm";

/// Reads the queue of the running Slurm (`slurm`) or from a folder with saved output.
///
/// `at` is the instant of the queue. If `at` is `None`, the instant is now, or the instant that the saved output
/// states. Ended jobs are read from the accounting data of the last `days` days.
///
/// # Errors
/// Some output is missing or invalid. The message states a remedy.
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
            "--from {from}: this is not a folder; write slurm, or a folder with saved output of Slurm's commands"
        ));
    }
    Queue::from_folder(folder, at).map_err(|error| miette!("--from {from}: {error}"))
}

#[cfg(feature = "service")]
/// Returns true if Slurm's commands are installed on this machine.
pub fn has_slurm() -> bool {
    makespan_exec::program(Program::Scontrol.name()).is_ok()
}
