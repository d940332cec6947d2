//! The machines of a Slurm cluster.

use makespan_slurm::{Commands, MachinesError, PlanMachines};
use miette::{Result, miette};

use crate::output::complain;

/// The environment variables with the number of the current job. The second one is for older versions of Slurm.
const JOB_NUMBERS: [&str; 2] = ["SLURM_JOB_ID", "SLURM_JOBID"];

/// Returns the number of the Slurm job in which this program runs, if any.
pub fn own_job() -> Result<Option<u64>> {
    let Some(number) = JOB_NUMBERS.iter().find_map(std::env::var_os).filter(|number| !number.is_empty()) else {
        return Ok(None);
    };
    let number = number.to_string_lossy().into_owned();
    number.parse().map(Some).map_err(|_| miette!("{}", MachinesError::JobNumber(number)))
}

/// Returns the machines that `--from` names: `slurm` or `slurm:PARTITION`.
pub fn machines(from: &str) -> Result<PlanMachines> {
    let partition = match from.split_once(':') {
        None if from == "slurm" => None,
        Some(("slurm", name)) if !name.is_empty() => Some(name),
        _ => return Err(miette!("--from {from}: write slurm, or slurm:PARTITION such as slurm:batch")),
    };
    let commands = Commands::new().with_teller(complain);
    let machines = match (partition, own_job()?) {
        (None, Some(job)) => commands.allocation(job).map(|allocated| allocated.machines),
        (partition, _) => commands.machines(partition),
    };
    machines.map_err(|error| miette!("--from {from}: {error}"))
}
