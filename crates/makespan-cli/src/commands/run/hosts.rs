//! A run or a service on hosts with OpenSSH: the machines of the plan.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use makespan_core::{Node, Platform, Resource, Resources, counted};
use makespan_exec::hosts::{HostOptions, HostSpec, Hosts, ProbedHost, ProbedHosts, probe};
use miette::{Result, miette};

use super::platform;
use super::source::within_nodes;
use crate::args::{RunOptions, SlurmOptions};
use crate::output::{complain_text, narrow};

/// File in the folder of a run that stores the platform with which the run began.
const PLATFORM: &str = "hosts/platform.json";

/// The hosts on which a run is executed.
pub struct ClusterOfHosts {
    /// The machines of the plan, unless the options state others.
    pub platform: Platform,
    specs: Vec<HostSpec>,
    /// The hosts with their connections, until the first session begins.
    probed: Mutex<Option<ProbedHosts>>,
    /// True if tasks run in their own folders (`--scratch`).
    is_scratch: bool,
}

impl ClusterOfHosts {
    /// Connects to the hosts. Hosts that cannot be used are reported and left out.
    pub fn of(options: &RunOptions, specs: &[HostSpec]) -> Result<Self> {
        let earlier = platform::of_resumed(options, PLATFORM);
        Self::on(&options.slurm, specs, earlier, options.scratch.is_some())
    }

    /// Connects to the hosts of a service. `round` is the folder of its latest round, which keeps its platform if the
    /// hosts and their stated cores are unchanged.
    #[cfg(feature = "service")]
    pub fn of_service(options: &SlurmOptions, specs: &[HostSpec], round: Option<&Path>) -> Result<Self> {
        let earlier = round.and_then(|folder| platform::read(folder, PLATFORM));
        Self::on(options, specs, earlier.filter(|earlier| is_of(earlier, specs)), false)
    }

    fn on(options: &SlurmOptions, specs: &[HostSpec], earlier: Option<Platform>, is_scratch: bool) -> Result<Self> {
        if let Some(option) = options.of_slurm() {
            return Err(miette!(
                "{option} applies only to pilots of a batch system; remove it, or state the cores of a host: HOST*8"
            ));
        }
        let probed = connect(specs, earlier.is_some())?;
        // A resumed run keeps its platform, because its running jobs occupy processors of this platform.
        let platform = match earlier {
            Some(earlier) => earlier,
            None => platform(&probed.hosts)?,
        };
        Ok(Self { platform, specs: specs.to_vec(), probed: Mutex::new(Some(probed)), is_scratch })
    }

    /// Returns the names of the machines for the report.
    pub fn machines(&self) -> String {
        counted(self.platform.node_count(), "host")
    }

    /// Creates the engine. `platform` is the platform of the plan. A service calls this function for each session, and
    /// each later session connects to the hosts again.
    pub fn begin(&self, platform: &Platform, folder: &Path, grace: Duration) -> Result<Hosts> {
        let probed = self.probed.lock().unwrap_or_else(PoisonError::into_inner).take();
        let probed = probed.map_or_else(|| connect(&self.specs, true), Ok)?;
        let here = std::env::current_dir().map_err(|error| miette!("cannot find the current folder: {error}"))?;
        let options = HostOptions { folder: folder.to_owned(), here, is_scratch: self.is_scratch, grace };
        platform::write(platform, folder, PLATFORM)?;
        Hosts::begin(platform, probed, options).map_err(|error| miette!("--on: {error}"))
    }
}

/// Connects to the hosts, and reports those that cannot be used now. If `keeps_all` is true, keeps them as well.
fn connect(specs: &[HostSpec], keeps_all: bool) -> Result<ProbedHosts> {
    let probed = probe(specs.to_vec(), keeps_all, &mut |text| complain_text(&narrow("note: ", 6, text)));
    probed.map_err(|error| miette!("--on: {error}"))
}

/// Returns true if a platform consists of these hosts, with their stated cores and tags.
#[cfg(feature = "service")]
fn is_of(platform: &Platform, specs: &[HostSpec]) -> bool {
    let is_there = |spec: &HostSpec| {
        let node = platform.nodes().iter().find(|node| node.name == spec.name);
        node.is_some_and(|node| {
            spec.cores.is_none_or(|cores| cores == node.processors)
                && spec.tags.iter().all(|tag| node.resources.amount(tag) > 0)
        })
    };
    platform.node_count() == specs.len() && specs.iter().all(is_there)
}

/// Returns the hosts with stated or reported cores as a platform.
fn platform(hosts: &[ProbedHost]) -> Result<Platform> {
    let mut nodes = Vec::with_capacity(hosts.len());
    for host in hosts {
        let (name, cores) = (&host.spec.name, host.cores().unwrap_or(1));
        let (memory, gpus) = host.resources();
        let own = [(Resource::MEMORY, memory), (Resource::GPUS, gpus.filter(|&gpus| gpus > 0))];
        let own = own.into_iter().filter_map(|(name, amount)| Some((name, amount?)));
        // A task that needs a tag needs one of it, and has at least one core. So the amount never limits tasks.
        let tags = host.spec.tags.iter().map(|tag| (tag.as_str(), u64::from(cores)));
        let resources = Resources::new(own.chain(tags)).map_err(|error| miette!("host {name}: {error}"))?;
        nodes.push(Node { resources, ..Node::new(name, cores) });
    }
    let platform = Platform::new(nodes).map_err(|error| miette!("--on: {error}"))?;
    Ok(within_nodes(platform.requiring_compact()))
}
