//! This machine as a platform.

use makespan_core::{Platform, Resource, Resources};
use makespan_exec::{cores, gpus, memory};
use miette::{Result, miette};

/// Returns a platform of the cores that this process may use, with the memory and the GPUs that the system reports.
pub fn platform() -> Result<Platform> {
    let cores = cores().map_err(|error| miette!("{error}"))?;
    let memory = memory().map(|bytes| (Resource::MEMORY, bytes));
    let gpus = gpus().filter(|names| !names.is_empty()).map(|names| (Resource::GPUS, names.len() as u64));
    let resources = Resources::new(memory.into_iter().chain(gpus).map(|(name, amount)| (name.to_owned(), amount)));
    let machine = resources.ok().map(|resources| Platform::flat(cores.len() as u32)?.with_node_resources(&resources));
    match machine {
        Some(machine) => machine.map_err(|error| miette!("cannot describe this machine as a platform: {error}")),
        None => Platform::flat(cores.len() as u32)
            .map_err(|error| miette!("cannot describe this machine as a platform: {error}")),
    }
}
