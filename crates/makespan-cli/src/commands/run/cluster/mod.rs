//! A run on pilots of Slurm: the machines of the plan and the pilots.

mod auto;
mod size;

use std::path::{Path, PathBuf};
use std::time::Duration;

use makespan_core::{Estimate, Instance, Placement, Platform, Schedule, Time};
use makespan_exec::engine::Staging;
use makespan_slurm::batch::BatchSystem;
use makespan_slurm::engine::{Allocation, PilotOptions, PilotSize, Pilots, this_program};
use makespan_slurm::{Allocated, Commands, MachinesError, OptionalLimit, Pool, duration, fit};
use miette::{Result, miette};

use super::folder;
use super::platform;
use crate::args::{RunOptions, SlurmOptions};
use crate::cluster::own_job;
use crate::output::{complain, write_file};
pub use size::slurm_time;
use size::{PilotLimits, written};
pub(super) use size::{PilotRequest, sizes};

/// File in the folder of a run that stores the platform with which the run began.
pub(super) const PLATFORM: &str = "pilot/platform.json";

/// The cluster on which a run is executed.
pub struct Cluster {
    /// The machines of the plan, unless the options state others.
    pub platform: Platform,
    /// Notes for the user about the machines.
    pub remarks: Vec<String>,
    site: Site,
    /// Time limit of the shortest pilot, or remaining time of the existing allocation, in seconds. `None` if this time
    /// is unlimited or unknown.
    limit: Option<u64>,
    commands: Commands,
}

/// The allocations in which the pilots run.
enum Site {
    /// The existing allocation in which this program runs.
    Here(Box<Allocated>),
    /// New Slurm jobs, and the options of `sbatch` for these jobs.
    Asked { pool: Box<Pool>, sizes: Vec<PilotRequest>, auto: Option<PilotLimits>, options: Vec<String> },
}

impl Cluster {
    /// Returns the cluster that the options select.
    pub fn of(options: &RunOptions) -> Result<Self> {
        let earlier = folder::choose(options).ok().filter(|_| options.failures.resume);
        Self::on(&options.slurm, earlier)
    }

    /// Returns the cluster for these options. `earlier` is the folder of a resumed run, or `None` for a new run.
    pub fn on(slurm: &SlurmOptions, earlier: Option<PathBuf>) -> Result<Self> {
        slurm.check_for_slurm()?;
        let commands = Commands::new().with_teller(complain);
        // A resumed run keeps its pilots and its platform, because its running jobs occupy nodes of this platform.
        let chosen = earlier.as_ref().and_then(|folder| auto::earlier(folder));
        let earlier = earlier.and_then(|folder| platform::read(&folder, PLATFORM));
        let asks = slurm.nodes.is_some() || slurm.pilots.is_some();
        match own_job()?.filter(|_| !asks) {
            Some(job) => Self::here(job, slurm, earlier, commands),
            None => Self::asked(slurm, earlier, chosen.as_deref(), commands),
        }
    }

    /// Returns the cluster with the nodes of the existing allocation `id`. Returns an error if the options describe
    /// new pilots.
    fn here(id: u64, slurm: &SlurmOptions, earlier: Option<Platform>, commands: Commands) -> Result<Self> {
        let idle = [("time", &slurm.time), ("account", &slurm.account), ("partition", &slurm.partition)];
        let idle = idle.iter().find(|(_, value)| value.is_some()).map(|(name, _)| *name);
        if let Some(name) = idle.or((!slurm.slurm.is_empty()).then_some("slurm")) {
            return Err(miette!(
                "--{name} applies only to new pilots, but this run uses the nodes of the existing allocation {id}; \
                 remove the option, or request other nodes with --nodes or --pilots"
            ));
        }
        let allocated = commands.allocation(id).map_err(|error| wrong(&error))?;
        let job = &allocated.job;
        let run = job.record.get("RunTime").and_then(duration).and_then(OptionalLimit::value).unwrap_or(0);
        let limit = job.time_limit.and_then(OptionalLimit::value).map(|limit| limit.saturating_sub(run));
        let platform = earlier.unwrap_or_else(|| allocated.machines.platform.clone());
        let (remarks, site) = (allocated.machines.remarks.clone(), Site::Here(Box::new(allocated)));
        Ok(Self { platform, remarks, site, limit, commands })
    }

    /// Returns the cluster with the nodes of new pilots in a partition. Does not submit the pilots.
    fn asked(
        slurm: &SlurmOptions,
        earlier: Option<Platform>,
        chosen: Option<&[PilotRequest]>,
        commands: Commands,
    ) -> Result<Self> {
        let option = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("--{name}={value}"));
        let options = option("account", &slurm.account).into_iter().chain(option("partition", &slurm.partition));
        let options: Vec<String> = options.chain(slurm.slurm.iter().cloned()).collect();
        let pool = commands.pool(slurm.partition.as_deref(), &options).map_err(|error| wrong(&error))?;
        let auto = slurm.pilots.as_deref().and_then(PilotLimits::parse).transpose()?;
        let mut sizes = match (&auto, &slurm.pilots) {
            (Some(auto), _) => chosen.map_or_else(
                || auto::shapes(auto::most(auto, &pool), auto.time.as_ref(), false),
                <[PilotRequest]>::to_vec,
            ),
            (None, Some(text)) => sizes(text)?,
            (None, None) => vec![PilotRequest { nodes: slurm.nodes.unwrap_or(1) as usize, time: None }],
        };
        if let Some(time) = &slurm.time {
            let time =
                slurm_time(time).ok_or_else(|| miette!("--time {time}: write a time such as 90m, 2h or 1-12:00:00"))?;
            sizes.iter_mut().for_each(|size| size.time = Some(time.clone()));
        }
        let partition = &pool.partition;
        let default = partition.default_time.unwrap_or(partition.max_time).value();
        let limit = sizes.iter().filter_map(|size| size.seconds().or(default)).min();
        let longest = sizes.iter().filter_map(PilotRequest::seconds).max();
        if let Some((most, asked)) = partition.max_time.value().zip(longest).filter(|(most, asked)| asked > most) {
            return Err(miette!(
                "a pilot requests {asked} s, but the partition `{}` allows at most {most} s; request a shorter time, \
                 or name another partition",
                partition.name
            ));
        }
        let counts: Vec<usize> = sizes.iter().map(|size| size.nodes).collect();
        let (platform, remarks) = match earlier {
            Some(platform) => (platform, Vec::new()),
            None => {
                let machines = pool.choose(&counts).map_err(|error| wrong(&error))?;
                (machines.platform, machines.remarks)
            }
        };
        // A resumed run keeps the pilots that an earlier session chose.
        let auto = auto.filter(|_| chosen.is_none());
        let site = Site::Asked { pool: Box::new(pool), sizes, auto, options };
        Ok(Self { platform, remarks, site, limit, commands })
    }

    /// Returns an error if a task of the plan takes longer than the shortest pilot, or if the plan uses machines that
    /// the cluster does not have. If the run time of a too long task is a guess, prints a note instead of the error.
    pub fn check_plan(&self, instance: &Instance, schedule: &Schedule) -> Result<()> {
        self.allocation(instance.platform(), "")?;
        check_limit(self.limit, instance, schedule)
    }

    /// Returns the allocation for the nodes of a plan: the existing allocation, or the pilots to submit.
    fn allocation(&self, platform: &Platform, name: &str) -> Result<Allocation> {
        match &self.site {
            Site::Here(allocated) => {
                let (job, present) = (&allocated.job, &allocated.machines.platform);
                let nodes = fit(platform, present, &job.nodes, job.id).map_err(|error| wrong(&error))?;
                let is_up = |name: &&String| present.nodes().iter().any(|node| node.name == **name);
                let up = nodes.iter().filter(is_up).cloned().collect();
                Ok(Allocation::Here { job: job.id, nodes, up })
            }
            Site::Asked { pool, sizes, options, .. } => {
                let counts: Vec<usize> = sizes.iter().map(|size| size.nodes).collect();
                let placed = pool.place(platform, &counts).map_err(|error| wrong(&error))?;
                let pilot = |(size, placed): (&PilotRequest, _)| PilotSize {
                    nodes: size.nodes,
                    cores: 1,
                    memory: None,
                    time: size.time.clone(),
                    placed,
                };
                let pilots = sizes.iter().zip(placed).map(pilot).collect();
                Ok(Allocation::Asked { pilots, options: options.clone(), name: name.to_owned() })
            }
        }
    }

    /// Creates the engine. The engine submits new pilots or uses the existing allocation. `platform` is the platform
    /// of the plan.
    pub fn begin(&self, platform: &Platform, folder: &Path, stem: &str, grace: Duration) -> Result<Pilots> {
        let allocation = self.allocation(platform, &name_of(folder, stem))?;
        platform::write(platform, folder, PLATFORM)?;
        if let Site::Asked { sizes, auto: Some(_), .. } = &self.site {
            write_file(&folder.join(auto::SIZES), |out| writeln!(out, "{}", written(sizes)))?;
        }
        let program: PathBuf = this_program().map_err(|error| miette!("{error}"))?;
        let folder = folder.to_owned();
        let batch = BatchSystem::slurm(self.commands.clone()).map_err(|error| miette!("{error}"))?;
        let options = PilotOptions { folder, allocation, batch, program, grace };
        Pilots::begin(platform, options).map_err(|error| miette!("{error}"))
    }
}

/// Returns an error if a task of the plan takes longer than `limit`, the time limit of a pilot in seconds. If the run
/// time of such a task is a guess, prints a note instead.
pub(super) fn check_limit(limit: Option<u64>, instance: &Instance, schedule: &Schedule) -> Result<()> {
    let Some(limit) = limit else { return Ok(()) };
    let most = i64::MAX / 1_000_000_000;
    let limit = Time::from_seconds(i64::try_from(limit).unwrap_or(most).min(most));
    let is_guess = |at: &&Placement| instance.task(at.task).estimate == Estimate::Guessed;
    let late = || schedule.placements().iter().filter(|at| at.end - at.start > limit);
    if let Some(at) = late().filter(|at| !is_guess(at)).max_by_key(|at| at.end - at.start) {
        return Err(miette!(
            "job `{}` takes {} s, but a pilot has its nodes for only {limit} s; request a longer --time",
            instance.name(at.task),
            at.end - at.start
        ));
    }
    if let Some(at) = late().next() {
        complain(&format!(
            "note: job `{}` has a guessed run time of {} s, but a pilot has its nodes for only {limit} s; the job \
             starts anyway, and starts again in another pilot if its pilot ends first",
            instance.name(at.task),
            at.end - at.start
        ));
    }
    Ok(())
}

fn wrong(error: &MachinesError) -> miette::Report {
    miette!("--on slurm: {error}")
}

/// Returns the name of the pilots in the queue of the batch system. Runs in different folders have different names.
pub(super) fn name_of(folder: &Path, stem: &str) -> String {
    let hash = Staging::hash(folder.as_os_str().as_encoded_bytes());
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '_' };
    let stem: String = stem.chars().take(40).map(plain).collect();
    format!("makespan-{stem}-{hash:016x}")
}
