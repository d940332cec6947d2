//! The machines on which `makespan serve` runs jobs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use makespan_core::{Platform, Resources};
use makespan_exec::engine::Engine;
use miette::{Result, miette};

use super::run::{Cluster, ClusterOfBatch, ClusterOfHosts, read_kept_platform};
use super::service::add_amounts;
use crate::args::{RunTarget, ServeOptions};
use crate::input::machine_of;
use crate::output::complain;

/// File in the folder of a round in which the service stores the platform of the round.
const PLATFORM: &str = "platform.json";

/// Prefix of the names of pilots.
const STEM: &str = "service";

/// Machines other than the machine of the service.
pub enum OtherMachines {
    Slurm(Cluster),
    Batch(ClusterOfBatch),
    Hosts(ClusterOfHosts),
}

impl OtherMachines {
    /// Returns the name of the machines.
    pub fn name(&self) -> String {
        match self {
            Self::Slurm(_) => "Slurm".into(),
            Self::Batch(batch) => batch.system().into(),
            Self::Hosts(hosts) => hosts.machines(),
        }
    }

    fn platform(&self) -> &Platform {
        match self {
            Self::Slurm(cluster) => &cluster.platform,
            Self::Batch(batch) => &batch.platform,
            Self::Hosts(hosts) => &hosts.platform,
        }
    }

    /// Creates the engine for a session in `folder`. If the machines have changed, the session may finish a round on the
    /// earlier machines, which the folder states.
    pub fn begin(&self, folder: &Path, grace: Duration) -> Result<Box<dyn Engine>> {
        let kept = read_kept_platform(folder, PLATFORM);
        let platform = kept.as_ref().unwrap_or_else(|| self.platform());
        Ok(match self {
            Self::Slurm(cluster) => Box::new(cluster.begin(platform, folder, STEM, grace)?),
            Self::Batch(batch) => Box::new(batch.begin(platform, folder, STEM, grace)?),
            Self::Hosts(hosts) => Box::new(hosts.begin(platform, folder, grace)?),
        })
    }
}

/// Returns the machines. The second value is `None` if jobs run on the machine of the service.
pub fn machines(options: &ServeOptions, store: &Path) -> Result<(Platform, Option<OtherMachines>)> {
    let round = last_round(store);
    let other = |machines: OtherMachines| Ok((machines.platform().clone(), Some(machines)));
    match &options.slurm.on {
        None => {
            let read = makespan_formats::ReadOptions { processors: options.processors, ..Default::default() };
            let machine = machine_of(&read)?.with_licences(licences(&options.licence)?);
            Ok((machine.map_err(|error| miette!("--licence: {error}"))?, None))
        }
        Some(RunTarget::Slurm) => {
            let cluster = Cluster::on(&options.slurm, round)?;
            cluster.remarks.iter().for_each(|remark| complain(&format!("note: {remark}")));
            other(OtherMachines::Slurm(cluster))
        }
        Some(RunTarget::SlurmJobs | RunTarget::SlurmClusters(_)) => Err(miette!(
            "a service starts its jobs in pilots, and keeps the pilots while jobs wait or run; write --on slurm"
        )),
        Some(RunTarget::Batch(description, cores)) => {
            let batch = ClusterOfBatch::of_service(&options.slurm, description, *cores, round.as_deref())?;
            other(OtherMachines::Batch(batch))
        }
        Some(RunTarget::Hosts(specs)) => {
            other(OtherMachines::Hosts(ClusterOfHosts::of_service(&options.slurm, specs, round.as_deref())?))
        }
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
