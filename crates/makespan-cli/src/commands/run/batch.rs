//! A run on pilots of a batch system other than Slurm: the machines of the plan and the pilots.

use std::path::{Path, PathBuf};
use std::time::Duration;

use makespan_core::{Instance, Node, Platform, Schedule};
use makespan_slurm::batch::{BatchDescription, BatchSystem};
use makespan_slurm::engine::{Allocation, PilotOptions, PilotSize, Pilots, this_program};
use makespan_slurm::{Commands, PlacedRequest};
use miette::{Result, miette};

use super::cluster::{PLATFORM, PilotRequest, check_limit, name_of, sizes, slurm_time};
use super::platform;
use super::source::within_nodes;
use crate::args::{RunOptions, SlurmOptions};
use crate::output::complain;

/// The batch system on which a run is executed.
pub struct ClusterOfBatch {
    /// The machines of the plan: one node for each pilot.
    pub platform: Platform,
    batch: BatchSystem,
    pilots: Vec<PilotSize>,
    /// Arguments for the submission of each pilot.
    options: Vec<String>,
    /// Time limit of the shortest pilot in seconds, if one is stated.
    limit: Option<u64>,
}

impl ClusterOfBatch {
    /// Returns the pilots that the options select. Does not submit them.
    pub fn of(options: &RunOptions, description: &BatchDescription, cores: u32) -> Result<Self> {
        if description.is_untested {
            complain(&format!("note: --on: the description of {} is untested on a real system", description.name));
        }
        let commands = Commands::new().with_teller(complain);
        let batch = BatchSystem::new(description.clone(), commands).map_err(|error| miette!("--on: {error}"))?;
        let slurm = &options.slurm;
        let mut own =
            batch.options(slurm.account.as_deref(), slurm.partition.as_deref()).map_err(|error| miette!("{error}"))?;
        own.extend(slurm.slurm.iter().cloned());
        let requests = requests(slurm)?;
        let limit = requests.iter().filter_map(PilotRequest::seconds).min();
        let pilot =
            |request: PilotRequest| PilotSize { nodes: 1, cores, time: request.time, placed: PlacedRequest::default() };
        let pilots: Vec<PilotSize> = requests.into_iter().map(pilot).collect();
        // A resumed run keeps its platform, because its running jobs occupy processors of this platform.
        let platform = match platform::of_resumed(options, PLATFORM) {
            Some(earlier) => earlier,
            None => {
                let nodes = (1..=pilots.len()).map(|number| Node::new(format!("pilot{number}"), cores)).collect();
                let platform = Platform::new(nodes).map_err(|error| miette!("--on: {error}"))?;
                within_nodes(platform.requiring_compact())
            }
        };
        if platform.node_count() != pilots.len() {
            return Err(miette!(
                "the run began with {} pilots, but the options request {}; resume with the --nodes or --pilots of the \
                 first session",
                platform.node_count(),
                pilots.len()
            ));
        }
        Ok(Self { platform, batch, pilots, options: own, limit })
    }

    /// Returns the name of the batch system.
    pub fn system(&self) -> &str {
        self.batch.name()
    }

    /// Returns an error if the number of nodes in the plan differs from the number of pilots, or if a task of the plan takes
    /// longer than the shortest pilot. For a task with a guessed run time, prints a note instead.
    pub fn check_plan(&self, instance: &Instance, schedule: &Schedule) -> Result<()> {
        if instance.platform().node_count() != self.pilots.len() {
            return Err(miette!(
                "the plan has {} nodes, but the run has {} pilots; remove the machines from the file and the options",
                instance.platform().node_count(),
                self.pilots.len()
            ));
        }
        check_limit(self.limit, instance, schedule)
    }

    /// Creates the engine, which submits the pilots. `platform` is the platform of the plan.
    pub fn begin(&self, platform: &Platform, folder: &Path, stem: &str, grace: Duration) -> Result<Pilots> {
        platform::write(platform, folder, PLATFORM)?;
        let program: PathBuf = this_program().map_err(|error| miette!("{error}"))?;
        let (pilots, options) = (self.pilots.clone(), self.options.clone());
        let allocation = Allocation::Asked { pilots, options, name: name_of(folder, stem) };
        let options = PilotOptions { folder: folder.to_owned(), allocation, batch: self.batch.clone(), program, grace };
        Pilots::begin(platform, options).map_err(|error| miette!("{error}"))
    }
}

/// Returns the pilots that the options request. Each pilot has one node.
fn requests(slurm: &SlurmOptions) -> Result<Vec<PilotRequest>> {
    if let Some(text) = &slurm.pilots {
        let all = sizes(text)?;
        if all.iter().any(|size| size.nodes != 1) {
            return Err(miette!(
                "--pilots {text}: pilots with several nodes need --on slurm; write pilots of one node, such as \
                 4x1node,1h"
            ));
        }
        return Ok(all);
    }
    let time = slurm.time.as_ref().map(|time| {
        slurm_time(time).ok_or_else(|| miette!("--time {time}: write a time such as 90m, 2h or 1-12:00:00"))
    });
    let time = time.transpose()?;
    Ok(vec![PilotRequest { nodes: 1, time }; slurm.nodes.unwrap_or(1) as usize])
}
