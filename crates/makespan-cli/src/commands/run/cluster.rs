//! A run on Slurm: which machines it is planned for, and which pilots it has.

use std::path::{Path, PathBuf};
use std::time::Duration;

use makespan_core::{Instance, Node, Platform, Resource, Resources, Schedule, Time};
use makespan_formats::{Language, read_platform, write_instance};
use makespan_slurm::engine::{Allocation, PilotOptions, PilotSize, Pilots, this_program};
use makespan_slurm::{Commands, Limit, duration};
use miette::{Result, miette};

use super::folder;
use crate::args::RunOptions;
use crate::output::write_file;

/// Where the platform is kept that a run was begun with, in the folder of the pilots.
const PLATFORM: &str = "pilot/platform.json";

/// The cluster that a run is carried out on.
pub struct Cluster {
    pub platform: Platform,
    allocation: Allocation,
    /// The time of the shortest pilot, in seconds, where it is known.
    limit: Option<u64>,
    commands: Commands,
}

impl Cluster {
    /// The one that the options ask for, if they do.
    pub fn of(options: &RunOptions) -> Result<Option<Self>> {
        if options.slurm.on.is_none() {
            return Ok(None);
        }
        let commands = Commands::new();
        let here = options.slurm.nodes.is_none() && options.slurm.pilots.is_none();
        let job = std::env::var("SLURM_JOB_ID").ok().and_then(|job| job.parse().ok()).filter(|_| here);
        let mut cluster = match job {
            Some(job) => Self::here(job, commands)?,
            None => Self::asked(options, commands)?,
        };
        if options.failures.resume
            && let Ok(folder) = folder::choose(options)
            && let Ok(earlier) = read_platform(&folder.join(PLATFORM))
        {
            // Jobs that still run are where the plan had them.
            cluster.platform = earlier.platform().clone();
        }
        Ok(Some(cluster))
    }

    /// An allocation that is there.
    fn here(id: u64, commands: Commands) -> Result<Self> {
        let job = commands.job(id).map_err(|error| miette!("{error}"))?;
        let job = job.ok_or_else(|| {
            miette!("SLURM_JOB_ID is {id}, which Slurm does not know; leave it out of the environment")
        })?;
        if !job.state.holds_nodes() {
            return Err(miette!(
                "the allocation {id} holds no nodes; wait until it has begun, or leave SLURM_JOB_ID out"
            ));
        }
        let all = commands.nodes().map_err(|error| miette!("{error}"))?.items;
        let share = |name: &String| {
            let cpus = job.shares.iter().find(|share| share.nodes.contains(name)).map(|share| share.cpus.len());
            let known = all.iter().find(|node| node.name == *name).map(|node| node.usable_cpus);
            Node::new(name.clone(), cpus.filter(|&cpus| cpus > 0).or(known).unwrap_or(1))
        };
        let nodes: Vec<Node> = job.nodes.iter().map(share).collect();
        let allocation = Allocation::Here { job: id, nodes: nodes.len() };
        let platform = Platform::new(nodes).map_err(|error| miette!("the allocation {id}: {error}"))?;
        let limit = job.time_limit.and_then(Limit::value);
        Ok(Self { platform, allocation, limit, commands })
    }

    /// Pilots that are asked for, on any nodes of a partition: each of the least that any of them has.
    fn asked(options: &RunOptions, commands: Commands) -> Result<Self> {
        let slurm = &options.slurm;
        let partitions = commands.partitions().map_err(|error| miette!("{error}"))?.items;
        let wanted = |partition: &&makespan_slurm::Partition| match &slurm.partition {
            Some(name) => partition.name == *name,
            None => partition.is_default,
        };
        let partition = partitions.iter().find(wanted);
        let known = || partitions.iter().map(|partition| partition.name.as_str()).collect::<Vec<_>>().join(", ");
        if let (Some(name), None) = (&slurm.partition, partition) {
            return Err(miette!("there is no partition `{name}`; those of this cluster are {}", known()));
        }
        let mut pilots = match &slurm.pilots {
            Some(text) => sizes(text)?,
            None => vec![PilotSize { nodes: slurm.nodes.unwrap_or(1) as usize, time: None }],
        };
        if let Some(time) = &slurm.time {
            let time =
                slurm_time(time).ok_or_else(|| miette!("--time {time}: write a time such as 90m, 2h or 1-12:00:00"))?;
            pilots.iter_mut().for_each(|pilot| pilot.time = Some(time.clone()));
        }
        let default = partition.and_then(|partition| partition.default_time.unwrap_or(partition.max_time).value());
        let limit_of = |pilot: &PilotSize| match &pilot.time {
            Some(time) => duration(time).and_then(Limit::value),
            None => default,
        };
        let limit = pilots.iter().filter_map(limit_of).min();
        if let Some(most) = partition.and_then(|partition| partition.max_time.value())
            && let Some(limit) = limit.filter(|&limit| limit > most)
        {
            return Err(miette!(
                "a pilot is asked for {limit} s, and the partition `{}` gives at most {most} s; ask for less, or name another \
                 partition",
                partition.map_or("", |partition| &partition.name)
            ));
        }
        let most = pilots.iter().map(|pilot| pilot.nodes).max().unwrap_or(1);
        let nodes = commands.nodes().map_err(|error| miette!("{error}"))?.items;
        // One that is down may be up when the pilot's turn comes; the queue says so meanwhile.
        let inside =
            |node: &&makespan_slurm::Node| partition.is_none_or(|partition| node.partitions.contains(&partition.name));
        let usable: Vec<_> = nodes.iter().filter(inside).collect();
        if usable.len() < most {
            return Err(miette!(
                "a pilot is to have {most} nodes, and there are {}{}; ask for fewer nodes",
                usable.len(),
                partition.map_or_else(String::new, |partition| format!(" in the partition `{}`", partition.name))
            ));
        }
        let cpus = usable.iter().map(|node| node.usable_cpus).min().unwrap_or(1);
        let total: usize = pilots.iter().map(|pilot| pilot.nodes).sum();
        let memory = usable.iter().filter_map(|node| Some(node.memory?.saturating_sub(node.kept_memory))).min();
        let gpus = |node: &&makespan_slurm::Node| {
            node.gres.iter().filter(|gres| gres.name == "gpu").map(|gres| gres.count).sum::<u64>()
        };
        let gpus = usable.iter().map(gpus).min().filter(|&gpus| gpus > 0);
        let memory = memory.filter(|&bytes| bytes > 0).map(|bytes| (Resource::MEMORY.to_owned(), bytes));
        let gpus = gpus.map(|gpus| (Resource::GPUS.to_owned(), gpus));
        let wrong = |error: &dyn std::fmt::Display| miette!("the cluster as a platform: {error}");
        let resources = Resources::new(memory.into_iter().chain(gpus)).map_err(|error| wrong(&error))?;
        let platform =
            Platform::cluster(total as u32, cpus).and_then(|platform| platform.with_node_resources(&resources));
        let platform = platform.map_err(|error| wrong(&error))?;
        let option = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("--{name}={value}"));
        let options_of = option("account", &slurm.account).into_iter().chain(option("partition", &slurm.partition));
        let sbatch = options_of.chain(slurm.slurm.iter().cloned()).collect();
        let allocation = Allocation::Asked { pilots, options: sbatch, name: String::new() };
        Ok(Self { platform, allocation, limit, commands })
    }

    /// Refuses a plan that no pilot is long enough for.
    pub fn check(&self, instance: &Instance, schedule: &Schedule) -> Result<()> {
        let Some(limit) = self.limit else { return Ok(()) };
        let limit =
            Time::from_seconds(i64::try_from(limit).unwrap_or(i64::MAX / 1_000_000_000).min(i64::MAX / 1_000_000_000));
        let longest = schedule.placements().iter().max_by_key(|at| at.end - at.start);
        match longest.filter(|at| at.end - at.start > limit) {
            Some(at) => Err(miette!(
                "job `{}` takes {} s and a pilot has its nodes for {limit} s; ask for a longer --time",
                instance.name(at.task),
                at.end - at.start
            )),
            None => Ok(()),
        }
    }

    /// The engine, with its pilots asked for. The platform is that of the plan.
    pub fn begin(&self, platform: &Platform, folder: &Path, stem: &str, grace: Duration) -> Result<Pilots> {
        let kept = Instance::new(platform.clone(), vec![], vec![]).map_err(|error| miette!("{error}"))?;
        let path = folder.join(PLATFORM);
        std::fs::create_dir_all(folder.join("pilot")).map_err(|error| miette!("{}: {error}", path.display()))?;
        write_file(&path, |out| write_instance(&kept, Language::Json, out))?;
        let mut allocation = self.allocation.clone();
        if let Allocation::Asked { name, .. } = &mut allocation {
            // Two runs in different folders have different names.
            let hash =
                folder.as_os_str().as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
                    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
                });
            let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '_' };
            let stem: String = stem.chars().take(40).map(plain).collect();
            *name = format!("makespan-{stem}-{hash:016x}");
        }
        let program: PathBuf = this_program().map_err(|error| miette!("{error}"))?;
        let folder = folder.to_owned();
        let options = PilotOptions { folder, allocation, commands: self.commands.clone(), program, grace };
        Pilots::begin(platform, options).map_err(|error| miette!("{error}"))
    }
}

/// `2x4nodes,1h`, several with `+` between them.
fn sizes(text: &str) -> Result<Vec<PilotSize>> {
    let wrong =
        || miette!("--pilots {text}: write how many pilots, of how many nodes, and for how long, such as 2x4nodes,1h");
    let mut all = Vec::new();
    for part in text.split('+') {
        let (shape, time) = part.split_once(',').map_or((part, None), |(shape, time)| (shape, Some(time)));
        let (count, nodes) = shape.trim().split_once('x').unwrap_or(("1", shape.trim()));
        let nodes = nodes.trim_end_matches("nodes").trim_end_matches("node");
        let (count, nodes) = count.parse::<usize>().ok().zip(nodes.parse::<usize>().ok()).ok_or_else(wrong)?;
        if count == 0 || nodes == 0 || count > 1000 {
            return Err(wrong());
        }
        let time = time.map(|time| slurm_time(time).ok_or_else(wrong)).transpose()?;
        all.extend(std::iter::repeat_n(PilotSize { nodes, time }, count));
    }
    Ok(all)
}

/// A time as Slurm takes it: `1-12:00:00` as it is, `90m` or `2h` in minutes and seconds.
pub fn slurm_time(text: &str) -> Option<String> {
    let text = text.trim();
    if text.contains(':') || text.contains('-') {
        return duration(text).and_then(Limit::value).filter(|&seconds| seconds > 0).map(|_| text.to_owned());
    }
    let seconds = Time::parse(text).ok().filter(|time| *time > Time::ZERO)?.ticks().div_euclid(1_000_000_000);
    let seconds = seconds.max(1);
    Some(format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pilots_are_read() {
        let shown = |text: &str| {
            let all = sizes(text).ok()?.into_iter();
            Some(all.map(|size| format!("{} {}", size.nodes, size.time.unwrap_or_default())).collect::<Vec<_>>())
        };
        assert_eq!(shown("2x4nodes,1h"), Some(vec!["4 1:00:00".into(), "4 1:00:00".into()]));
        assert_eq!(shown("1x1node+3,90m"), Some(vec!["1 ".into(), "3 1:30:00".into()]));
        assert_eq!(shown("2x3nodes,1-00:00:00").map(|all| all.len()), Some(2));
        for wrong in ["", "x", "0x4", "2x0nodes", "2x4nodes,soon", "2x4nodes,0s", "-1x2"] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
    }
}
