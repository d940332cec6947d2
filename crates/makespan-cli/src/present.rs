//! Reads the queue of a cluster as an instance.

use std::path::Path;

use makespan_slurm::queue::{Present, Queue, SlurmReservation};
use miette::{Result, miette};

use crate::args::{MachineOptions, QUEUE};
use crate::commands::queue::source::{self, SLURM};
use crate::loaded::LoadedInstance;

/// Age limit, in days, of the ended jobs from which run times are learned.
const DAYS: u32 = 7;

/// Returns the cluster if the options select its queue. The options select a queue by `--from` without a file, by a
/// folder instead of a file, or by the word `slurm` if no file has this name.
///
/// # Errors
/// The options select a queue, but also state machines.
pub fn meant(path: &Path, machines: &MachineOptions) -> Result<Option<String>> {
    let from = match (path.to_str(), &machines.from) {
        (Some(QUEUE), Some(from)) => from.clone(),
        _ if is_saved(path) => path.display().to_string(),
        (Some(SLURM), _) if !path.exists() => SLURM.to_owned(),
        _ => return Ok(None),
    };
    if from.starts_with("slurm:") {
        return Err(miette!(
            "--from {from} selects machines for the jobs of a file, but no file is given; for the queue of the whole cluster, write --from slurm"
        ));
    }
    let stated = machines.processors.is_some() || machines.platform.is_some() || machines.bandwidth.is_some();
    if stated || machines.stage_in.is_some() || (path.as_os_str() != QUEUE && machines.from.is_some()) {
        return Err(miette!(
            "{from} is the queue of a cluster, which has its own machines; remove --processors, --platform, --from, \
             --bandwidth and --stage-in"
        ));
    }
    Ok(Some(from))
}

/// Returns true if `path` is a folder with saved output of Slurm's commands.
fn is_saved(path: &Path) -> bool {
    let Ok(folder) = path.read_dir() else { return false };
    let is_of_slurm = |name: &str| ["scontrol.", "squeue.", "sinfo."].iter().any(|start| name.starts_with(start));
    folder.flatten().any(|entry| is_of_slurm(&entry.file_name().to_string_lossy()))
}

/// Reads the queue, and converts it to an instance.
pub fn read(from: &str) -> Result<(Queue, Present)> {
    let queue = source::read(from, None, DAYS)?;
    let present = queue.present().map_err(|error| miette!("{from}: {error}"))?;
    Ok((queue, present))
}

/// Returns a note that lists the reservations for users and accounts. In the instance, such a reservation is a closed
/// period of its nodes, without its users and accounts.
fn closes(queue: &Queue) -> Option<String> {
    let one = |kept: &SlurmReservation| {
        let named = |what: &str, names: &[String]| {
            (!names.is_empty())
                .then(|| format!("{what}{} {}", if names.len() == 1 { "" } else { "s" }, names.join(", ")))
        };
        let whom: Vec<String> =
            [named("user", &kept.users), named("account", &kept.accounts)].into_iter().flatten().collect();
        if whom.is_empty() { kept.name.clone() } else { format!("{} (for {})", kept.name, whom.join(" and ")) }
    };
    let all: Vec<String> = queue.closed_by().map(one).collect();
    (!all.is_empty()).then(|| {
        format!(
            "no pending job names the reservations {}: the nodes of these reservations are unavailable during their \
             periods, and their users are ignored",
            all.join(", ")
        )
    })
}

/// Returns the pending jobs as an instance. Running jobs hold their processors until their time limits.
pub fn waiting(from: &str) -> Result<LoadedInstance> {
    let (queue, present) = read(from)?;
    let running = present.running.len();
    let queue_closes = closes(&queue);
    let (instance, left_out) = present.waiting().map_err(|error| miette!("{from}: {error}"))?;
    let mut remarks = [queue.remarks, present.remarks, left_out].concat();
    let runs = match running {
        0 => String::new(),
        1 => "1 job runs and keeps its processors until its time limit; ".to_owned(),
        _ => format!("{running} jobs run and keep their processors until their time limits; "),
    };
    remarks.push(format!(
        "{runs}a plan respects nodes, memory, GPUs and licences, but ignores partitions, features, deadlines and limits of users"
    ));
    remarks.extend(queue_closes);
    remarks.extend(instance.notes().iter().map(|note| note.describe(&instance)));
    Ok(LoadedInstance { instance, remarks, has_made_up_names: false })
}
