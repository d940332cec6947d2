//! The options for runs on other machines.

use std::path::Path;

use clap::Args;
use makespan_exec::hosts::HostSpec;

/// The machines on which a run starts its jobs, if not on this machine.
#[derive(Clone, PartialEq, Eq)]
pub enum RunTarget {
    /// Pilots: allocations of Slurm in which an agent on each node starts the jobs.
    Slurm,
    /// One Slurm job for each job, all submitted at once. The cluster decides when they start, even after this program
    /// has ended.
    SlurmJobs,
    /// Hosts, with OpenSSH.
    Hosts(Vec<HostSpec>),
}

/// Parses the value of `--on`.
fn target(text: &str) -> Result<RunTarget, String> {
    match text {
        "slurm" => Ok(RunTarget::Slurm),
        "slurm:jobs" => Ok(RunTarget::SlurmJobs),
        _ => match text.strip_prefix("ssh:") {
            Some(list) => HostSpec::list(list).map(RunTarget::Hosts),
            None if Path::new(text).is_file() => HostSpec::file(Path::new(text)).map(RunTarget::Hosts),
            None => Err("write slurm, slurm:jobs, ssh:HOST,USER@HOST*CORES,.. or the name of a file of hosts".into()),
        },
    }
}

#[derive(Args, Clone)]
pub struct SlurmOptions {
    /// Run on other machines: slurm, slurm:jobs, ssh:HOST,USER@HOST*CORES,.. or a file of hosts
    ///
    /// On Slurm, the folder of the run must be visible on all nodes. slurm starts the jobs in pilots, which are allocations of
    /// Slurm. Within an allocation, it uses the nodes of this allocation. slurm:jobs submits one Slurm job for each
    /// job. ssh starts the jobs on hosts with OpenSSH. A file of hosts has one host on each line: the name, the number
    /// of cores, directory=DIR and tags=A,B; see docs/how-to/hosts.md
    #[arg(help_heading = "Other machines", long, value_name = "MACHINES", value_parser = target)]
    pub on: Option<RunTarget>,
    /// With --on slurm, nodes of a pilot [default: 1]
    #[arg(help_heading = "Slurm", long, value_name = "N", requires = "on", value_parser = super::machines::positive)]
    pub nodes: Option<u32>,
    /// With --on slurm, time limit of a pilot, such as 90m, 2h or 1-12:00:00 [default: the limit of the partition]
    ///
    /// With --on slurm:jobs, time limit of each job that states no walltime
    #[arg(help_heading = "Slurm", long, value_name = "TIME", requires = "on")]
    pub time: Option<String>,
    /// With --on slurm, account to charge
    #[arg(help_heading = "Slurm", long, value_name = "ACCOUNT", requires = "on")]
    pub account: Option<String>,
    /// With --on slurm, the partition
    #[arg(help_heading = "Slurm", long, value_name = "PARTITION", requires = "on")]
    pub partition: Option<String>,
    /// With --on slurm, an extra option for sbatch, such as --slurm='--qos=long'
    ///
    /// May be given several times
    #[arg(help_heading = "Slurm", long, value_name = "OPTION", requires = "on", allow_hyphen_values = true)]
    pub slurm: Vec<String>,
    /// With --on slurm, pilots such as 2x4nodes,1h, or auto:8nodes,2h
    ///
    /// Each entry states a number of pilots, the number of nodes of each pilot, and their time limit; + separates
    /// entries. auto chooses pilots that fit the plan: in the example, all pilots together have at most 8 nodes, and
    /// each pilot has a time limit of at most 2 h
    #[arg(help_heading = "Slurm", long, value_name = "KxNnodes[,TIME]", requires = "on", conflicts_with_all = ["nodes", "time"])]
    pub pilots: Option<String>,
}

impl SlurmOptions {
    /// Returns an option that has an effect only on Slurm, if one was given.
    pub fn of_slurm(&self) -> Option<&'static str> {
        let texts = [
            ("--time", self.time.is_some()),
            ("--account", self.account.is_some()),
            ("--partition", self.partition.is_some()),
            ("--pilots", self.pilots.is_some()),
            ("--nodes", self.nodes.is_some()),
            ("--slurm", !self.slurm.is_empty()),
        ];
        texts.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }
}
