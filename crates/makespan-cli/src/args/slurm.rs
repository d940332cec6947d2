//! The options for runs on other machines.

use std::path::Path;

use clap::Args;
use makespan_exec::hosts::HostSpec;
use makespan_formats::parse_amount;
use makespan_slurm::batch::BatchDescription;

/// The machines on which a run starts its jobs, if not on this machine.
#[derive(Clone, PartialEq, Eq)]
pub enum RunTarget {
    /// Pilots: allocations of Slurm in which an agent on each node starts the jobs.
    Slurm,
    /// One Slurm job for each job, all submitted at once. The cluster decides when they start, even after this program
    /// has ended.
    SlurmJobs,
    /// Pilots of another batch system, with this number of cores each.
    Batch(Box<BatchDescription>, u32),
    /// One Slurm job for each job, on several clusters. Each cluster is written as in `--from`.
    SlurmClusters(Vec<String>),
    /// Hosts, with OpenSSH.
    Hosts(Vec<HostSpec>),
}

/// Parses the value of `--on`.
fn target(text: &str) -> Result<RunTarget, String> {
    if let Some(batch) = batch(text) {
        return batch;
    }
    match text {
        "slurm" => Ok(RunTarget::Slurm),
        "slurm:jobs" => Ok(RunTarget::SlurmJobs),
        _ if text.starts_with("slurm:") => clusters(text).map(RunTarget::SlurmClusters),
        _ => match text.strip_prefix("ssh:") {
            Some(list) => HostSpec::list(list).map(RunTarget::Hosts),
            None if Path::new(text).is_file() => HostSpec::file(Path::new(text)).map(RunTarget::Hosts),
            None => Err("write slurm, slurm:jobs, slurm:A,slurm:B, sge*CORES, pbs*CORES, batch:FILE*CORES, \
                         ssh:HOST,USER@HOST*CORES,.. or the name of a file of hosts"
                .into()),
        },
    }
}

/// Parses a batch system and the cores of a pilot, such as `sge*8` or `batch:lsf.toml*8`. Returns `None` if the text
/// names no batch system.
fn batch(text: &str) -> Option<Result<RunTarget, String>> {
    let (name, cores) = text.split_once('*').map_or((text, "1"), |(name, cores)| (name, cores));
    let description = match name.strip_prefix("batch:") {
        Some(file) => BatchDescription::read(Path::new(file)),
        None => Ok(BatchDescription::built_in(name).filter(|_| name != "slurm")?),
    };
    let count = cores.parse().ok().filter(|&count: &u32| count > 0);
    let count =
        count.ok_or_else(|| format!("`{cores}` is not a number of cores; write the cores of a pilot: {name}*8"));
    Some(description.and_then(|description| Ok(RunTarget::Batch(Box::new(description), count?))))
}

/// Parses a list of clusters such as `slurm:east,slurm:/etc/west/slurm.conf`.
fn clusters(text: &str) -> Result<Vec<String>, String> {
    let all: Vec<String> = text.split(',').map(str::to_owned).collect();
    for (at, name) in all.iter().enumerate() {
        if name.strip_prefix("slurm:").is_none_or(str::is_empty) || name == "slurm:jobs" {
            return Err(format!(
                "`{name}` is not a cluster; write slurm:NAME or slurm:/PATH/slurm.conf for each cluster"
            ));
        }
        if all[..at].contains(name) {
            return Err(format!("`{name}` occurs twice; name each cluster once"));
        }
    }
    Ok(all)
}

#[derive(Args, Clone)]
pub struct SlurmOptions {
    /// Run on other machines: slurm, slurm:jobs, slurm:A,slurm:B, sge*CORES, ssh:HOST,.. or a file of hosts
    ///
    /// On Slurm, the folder of the run must be visible on all nodes. slurm starts the jobs in pilots, which are allocations of
    /// Slurm. Within an allocation, it uses the nodes of this allocation. slurm:jobs submits one Slurm job for each
    /// job. slurm:A,slurm:B submits each job to the cluster on which the plan places it; each cluster is written as in
    /// queue --from. sge*8 starts the jobs in pilots of Grid Engine with 8 cores each, and pbs*8 in pilots of PBS;
    /// batch:FILE*8 uses the batch system that FILE describes; see docs/how-to/batch.md. ssh:HOST,USER@HOST*CORES,.. starts
    /// the jobs on hosts with OpenSSH. A file of hosts has one host on each line: the name, the number of cores,
    /// directory=DIR and tags=A,B; see docs/how-to/hosts.md
    #[arg(help_heading = "Other machines", long, value_name = "MACHINES", value_parser = target)]
    pub on: Option<RunTarget>,
    /// With --on slurm, nodes of a pilot; with another batch system, number of pilots [default: 1]
    #[arg(help_heading = "Batch systems", long, value_name = "N", requires = "on", value_parser = super::machines::positive)]
    pub nodes: Option<u32>,
    /// Time limit of a pilot, such as 90m, 2h or 1-12:00:00 [default: the limit of the partition or queue]
    ///
    /// With --on slurm:jobs, time limit of each job that states no walltime
    #[arg(help_heading = "Batch systems", long, value_name = "TIME", requires = "on")]
    pub time: Option<String>,
    /// Memory of each node of a pilot, such as 16GiB, on a batch system other than Slurm
    ///
    /// Jobs that state their memory need this option. Slurm reports the memory of its nodes itself
    #[arg(help_heading = "Batch systems", long, value_name = "AMOUNT", requires = "on", value_parser = parse_amount)]
    pub node_memory: Option<u64>,
    /// Account to charge
    #[arg(help_heading = "Batch systems", long, value_name = "ACCOUNT", requires = "on")]
    pub account: Option<String>,
    /// Partition of Slurm, or queue of another batch system
    #[arg(help_heading = "Batch systems", long, value_name = "PARTITION", requires = "on")]
    pub partition: Option<String>,
    /// Extra option for sbatch, such as --slurm='--qos=long'
    ///
    /// May be given several times. With another batch system, write each word with --submit-option, as in
    /// `--submit-option=-l --submit-option=h_vmem=2G`
    #[arg(
        help_heading = "Batch systems",
        long,
        alias = "submit-option",
        value_name = "OPTION",
        requires = "on",
        allow_hyphen_values = true
    )]
    pub slurm: Vec<String>,
    /// Pilots such as 2x4nodes,1h, or with --on slurm auto:8nodes,2h
    ///
    /// Each entry states a number of pilots, the number of nodes of each pilot, and their time limit; + separates
    /// entries. auto chooses pilots that fit the plan: in the example, all pilots together have at most 8 nodes, and
    /// each pilot has a time limit of at most 2 h
    #[arg(help_heading = "Batch systems", long, value_name = "KxNnodes[,TIME]", requires = "on", conflicts_with_all = ["nodes", "time"])]
    pub pilots: Option<String>,
}

impl SlurmOptions {
    /// Returns an error if an option applies only to batch systems other than Slurm.
    pub fn check_for_slurm(&self) -> miette::Result<()> {
        if self.node_memory.is_none() {
            return Ok(());
        }
        Err(miette::miette!(
            "--node-memory: Slurm reports the memory of its nodes; remove the option, or request memory with --slurm=--mem=AMOUNT"
        ))
    }

    /// Returns an option that has an effect only on batch systems, if one was given.
    pub fn of_slurm(&self) -> Option<&'static str> {
        let texts = [
            ("--time", self.time.is_some()),
            ("--account", self.account.is_some()),
            ("--partition", self.partition.is_some()),
            ("--pilots", self.pilots.is_some()),
            ("--nodes", self.nodes.is_some()),
            ("--node-memory", self.node_memory.is_some()),
            ("--slurm", !self.slurm.is_empty()),
        ];
        texts.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }
}
