//! A run or a service on pilots of a batch system other than Slurm: the machines of the plan and the pilots.

use std::path::{Path, PathBuf};
use std::time::Duration;

use makespan_core::{Instance, Node, Platform, Resource, Resources, Schedule};
use makespan_slurm::batch::{BatchDescription, BatchSystem, JobSize};
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
    /// The machines of the plan: the nodes of the pilots.
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
        Self::on(&options.slurm, description, cores, platform::of_resumed(options, PLATFORM))
    }

    /// Returns the pilots of a service. `round` is the folder of its latest round.
    #[cfg(feature = "service")]
    pub fn of_service(
        options: &SlurmOptions,
        description: &BatchDescription,
        cores: u32,
        round: Option<&Path>,
    ) -> Result<Self> {
        Self::on(options, description, cores, round.and_then(|folder| platform::read(folder, PLATFORM)))
    }

    fn on(slurm: &SlurmOptions, description: &BatchDescription, cores: u32, earlier: Option<Platform>) -> Result<Self> {
        if description.is_untested {
            complain(&format!("note: --on: the description of {} is untested on a real system", description.name));
        }
        let commands = Commands::new().with_teller(complain);
        let batch = BatchSystem::new(description.clone(), commands).map_err(|error| miette!("--on: {error}"))?;
        let mut own =
            batch.options(slurm.account.as_deref(), slurm.partition.as_deref()).map_err(|error| miette!("{error}"))?;
        own.extend(slurm.slurm.iter().cloned());
        let requests = requests(slurm)?;
        let limit = requests.iter().filter_map(PilotRequest::seconds).min();
        let memory = slurm.node_memory;
        let pilot = |PilotRequest { nodes, time }| {
            let checked = batch.check_size(JobSize { nodes, cores, memory }).map_err(|error| miette!("{error}"));
            checked.map(|()| PilotSize { nodes, cores, memory, time, placed: PlacedRequest::default() })
        };
        let pilots = requests.into_iter().map(pilot).collect::<Result<Vec<PilotSize>>>()?;
        // A resumed run keeps its platform, because its running jobs occupy processors of this platform.
        let platform = match earlier {
            Some(earlier) => earlier,
            None => {
                let platform = Platform::new(nodes(&pilots)?).map_err(|error| miette!("--on: {error}"))?;
                within_nodes(platform.requiring_compact())
            }
        };
        let asked = count(&pilots);
        if platform.node_count() != asked {
            return Err(miette!(
                "the run began with {} nodes, but the options request {asked}; resume with the --nodes or --pilots of the \
                 first session",
                platform.node_count()
            ));
        }
        Ok(Self { platform, batch, pilots, options: own, limit })
    }

    /// Returns the name of the batch system.
    pub fn system(&self) -> &str {
        self.batch.name()
    }

    /// Returns an error if the plan and the pilots have different numbers of nodes, or if a task of the plan takes
    /// longer than the shortest pilot. For a task with a guessed run time, prints a note instead.
    pub fn check_plan(&self, instance: &Instance, schedule: &Schedule) -> Result<()> {
        let (planned, asked) = (instance.platform().node_count(), count(&self.pilots));
        if planned != asked {
            return Err(miette!(
                "the plan has {planned} nodes, but the pilots have {asked}; remove the machines from the file and the options"
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

/// Returns the number of nodes of all pilots.
fn count(pilots: &[PilotSize]) -> usize {
    pilots.iter().map(|pilot| pilot.nodes).sum()
}

/// Returns the nodes of all pilots as nodes of a platform.
fn nodes(pilots: &[PilotSize]) -> Result<Vec<Node>> {
    let mut nodes = Vec::new();
    for (number, pilot) in (1..).zip(pilots) {
        for own in 1..=pilot.nodes {
            let part = if pilot.nodes > 1 { format!(".{own}") } else { String::new() };
            let memory = pilot.memory.map(|memory| (Resource::MEMORY, memory));
            let resources = Resources::new(memory).map_err(|error| miette!("--node-memory: {error}"))?;
            nodes.push(Node { resources, ..Node::new(format!("pilot{number}{part}"), pilot.cores) });
        }
    }
    Ok(nodes)
}

/// Returns the pilots that the options request.
fn requests(slurm: &SlurmOptions) -> Result<Vec<PilotRequest>> {
    if let Some(text) = &slurm.pilots {
        return sizes(text);
    }
    let time = slurm.time.as_ref().map(|time| {
        slurm_time(time).ok_or_else(|| miette!("--time {time}: write a time such as 90m, 2h or 1-12:00:00"))
    });
    let time = time.transpose()?;
    Ok(vec![PilotRequest { nodes: 1, time }; slurm.nodes.unwrap_or(1) as usize])
}
