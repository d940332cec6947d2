//! The machines on which `makespan serve` runs jobs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use makespan_core::{Platform, Resources};
use miette::{Result, miette};

use super::run::Cluster;
use super::service::add_amounts;
use crate::args::{RunTarget, ServeOptions};
use crate::input::machine_of;
use crate::output::complain;

/// Returns the machines, and the cluster if the service uses one.
pub fn machines(options: &ServeOptions, store: &Path) -> Result<(Platform, Option<Cluster>)> {
    match &options.slurm.on {
        None => {
            let read = makespan_formats::ReadOptions { processors: options.processors, ..Default::default() };
            let machine = machine_of(&read)?.with_licences(licences(&options.licence)?);
            Ok((machine.map_err(|error| miette!("--licence: {error}"))?, None))
        }
        Some(RunTarget::Slurm) => {
            let cluster = Cluster::on(&options.slurm, last_round(store))?;
            cluster.remarks.iter().for_each(|remark| complain(&format!("note: {remark}")));
            Ok((cluster.platform.clone(), Some(cluster)))
        }
        Some(RunTarget::SlurmJobs | RunTarget::SlurmClusters(_)) => Err(miette!(
            "a service starts its jobs in pilots, and keeps the pilots while jobs wait or run; write --on slurm"
        )),
        Some(RunTarget::Batch(..) | RunTarget::Hosts(_)) => Err(miette!(
            "a service runs jobs on this machine or in pilots of Slurm; write --on slurm, or use `makespan run --on` for other machines"
        )),
    }
}

fn licences(stated: &[String]) -> Result<Resources> {
    let mut all = BTreeMap::new();
    add_amounts("--licence", stated, &mut all)?;
    let all = Resources::new(all.iter().map(|(name, &amount)| (name.as_str(), amount)));
    all.map_err(|error| miette!("--licence: {error}"))
}

/// Returns the folder of the latest run on pilots (`round-NUMBER`), if there is one. Its pilots may still run.
fn last_round(store: &Path) -> Option<PathBuf> {
    let number = |name: &str| name.strip_prefix("round-").and_then(|number| number.parse::<u64>().ok());
    let entries = std::fs::read_dir(store).ok()?.flatten();
    let rounds = entries.filter_map(|entry| Some((number(entry.file_name().to_str()?)?, entry.path())));
    rounds.max_by_key(|(number, _)| *number).map(|(_, path)| path)
}
