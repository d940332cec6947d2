//! A run on hosts with OpenSSH: the machines of the plan.

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use makespan_core::{Node, Platform, Resource, Resources, counted};
use makespan_exec::hosts::{HostOptions, HostSpec, Hosts, ProbedHost, ProbedHosts, probe};
use miette::{Result, miette};

use super::platform;
use super::source::within_nodes;
use crate::args::RunOptions;
use crate::output::{complain_text, narrow};

/// File in the folder of a run that stores the platform with which the run began.
const PLATFORM: &str = "hosts/platform.json";

/// The hosts on which a run is executed.
pub struct ClusterOfHosts {
    /// The machines of the plan, unless the options state others.
    pub platform: Platform,
    /// The hosts with their connections, until the run begins.
    probed: RefCell<Option<ProbedHosts>>,
    /// True if tasks run in their own folders (`--scratch`).
    is_scratch: bool,
}

impl ClusterOfHosts {
    /// Connects to the hosts. Hosts that cannot be used are reported and left out.
    pub fn of(options: &RunOptions, specs: &[HostSpec]) -> Result<Self> {
        if let Some(option) = options.slurm.of_slurm() {
            return Err(miette!(
                "{option} applies only to --on slurm; remove it, or state the cores of a host: HOST*8"
            ));
        }
        let earlier = platform::of_resumed(options, PLATFORM);
        let probed = probe(specs.to_vec(), earlier.is_some(), &mut |text| complain_text(&narrow("note: ", 6, text)));
        let probed = probed.map_err(|error| miette!("--on: {error}"))?;
        // A resumed run keeps its platform, because its running jobs occupy processors of this platform.
        let platform = match earlier {
            Some(earlier) => earlier,
            None => platform(&probed.hosts)?,
        };
        Ok(Self { platform, probed: RefCell::new(Some(probed)), is_scratch: options.scratch.is_some() })
    }

    /// Returns the names of the machines for the report.
    pub fn machines(&self) -> String {
        counted(self.platform.node_count(), "host")
    }

    /// Creates the engine. `platform` is the platform of the plan.
    pub fn begin(&self, platform: &Platform, folder: &Path, grace: Duration) -> Result<Hosts> {
        let Some(probed) = self.probed.take() else { return Err(miette!("the run on these hosts has already begun")) };
        let here = std::env::current_dir().map_err(|error| miette!("cannot find the current folder: {error}"))?;
        let options = HostOptions { folder: folder.to_owned(), here, is_scratch: self.is_scratch, grace };
        platform::write(platform, folder, PLATFORM)?;
        Hosts::begin(platform, probed, options).map_err(|error| miette!("--on: {error}"))
    }
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
