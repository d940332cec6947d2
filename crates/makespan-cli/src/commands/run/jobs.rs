//! A run on Slurm in which each task is a Slurm job. This file selects the machines for the plan, and the options and
//! time limits of the jobs.

mod later;
mod members;

use std::path::Path;
use std::time::Duration;

use makespan_core::{Instance, Placement, Platform, Schedule, Time};
use makespan_slurm::engine::this_program;
use makespan_slurm::jobs::{JobsOptions, SlurmJobEngine, inexpressible};
use makespan_slurm::{OptionalLimit, Partition, duration};
use miette::{Result, miette};

pub use later::LaterPlan;
use members::MemberCluster;

use super::cluster::slurm_time;
use super::platform;
use super::{BegunPlan, Decider};
use crate::args::RunOptions;
use crate::output::complain;

/// File in the folder of a run that stores the platform with which the run began.
const PLATFORM: &str = "jobs/platform.json";

/// The clusters to which a run submits its tasks as jobs.
pub struct ClusterOfJobs {
    pub platform: Platform,
    /// The clusters, at least one.
    members: Vec<MemberCluster>,
    /// Options of `sbatch` for each job.
    options: Vec<String>,
    /// Default time limit of a job without a walltime, in seconds: the option `--time`, or the default of the
    /// partition. `None` if there is no limit or if the limit is unknown.
    limit: Option<u64>,
    is_stated: bool,
    /// Maximum time limit of the partition, in seconds, if there is one.
    most: Option<u64>,
}

impl ClusterOfJobs {
    /// Returns the clusters with these names, or the default cluster of this machine if there are no names.
    pub fn of(options: &RunOptions, names: &[String]) -> Result<Self> {
        let slurm = &options.slurm;
        slurm.check_for_slurm()?;
        if slurm.nodes.is_some() || slurm.pilots.is_some() {
            return Err(miette!(
                "--nodes and --pilots apply only to pilots; with --on slurm:jobs, each job has its own nodes; remove \
                 these options, or use --on slurm"
            ));
        }
        if options.domains.is_some() {
            return Err(miette!(
                "--domains needs a policy that starts the jobs, but with --on slurm:jobs and several clusters, Slurm \
                 starts them; use --on slurm or --on ssh:HOST,.., or remove --domains"
            ));
        }
        if options.policy.is_some() {
            return Err(miette!(
                "--policy decides when jobs start, but with --on slurm:jobs the cluster decides this; use --algorithm \
                 to choose the number of processors of each job, or use --on slurm"
            ));
        }
        if options.failures.limit_memory {
            return Err(miette!(
                "--limit-memory limits the memory of jobs that makespan starts, but with --on slurm:jobs, Slurm \
                 starts the jobs and limits their memory (ConstrainRAMSpace); remove --limit-memory, or use --on slurm"
            ));
        }
        if options.source.jobs.is_some() {
            return Err(miette!(
                "--jobs limits the number of jobs at once, which --on slurm:jobs does not support; remove --jobs, or \
                 use --on slurm"
            ));
        }
        makespan_slurm::check_job_options(&slurm.slurm).map_err(|error| miette!("{error}"))?;
        let mut members = members::named(names)?;
        // A resumed run uses the platform of its first session, because a node that is down now is still part of the
        // cluster.
        let platform = match platform::of_resumed(options, PLATFORM) {
            Some(earlier) => earlier,
            None => {
                let machines = members::machines(&members, slurm.partition.as_deref())?;
                let told = machines.remarks.iter().filter(|_| !options.printing.quiet);
                told.for_each(|remark| complain(&format!("note: {remark}")));
                machines.platform
            }
        };
        members::divide(&mut members, &platform)?;
        let partitions = members::partitions(&members, slurm.partition.as_deref())?;
        let stated = slurm.time.as_ref().map(|time| {
            let read = slurm_time(time).as_deref().and_then(duration).and_then(OptionalLimit::value);
            read.ok_or_else(|| miette!("--time {time}: write a time such as 90m, 2h or 1-12:00:00"))
        });
        let stated = stated.transpose()?;
        let most = partitions.iter().filter_map(|partition| partition.max_time.value()).min();
        if let (Some(stated), Some(most)) = (stated, most)
            && stated > most
        {
            return Err(miette!(
                "--time requests {stated} s, but the partition allows at most {most} s; request a shorter time, or \
                 name another --partition"
            ));
        }
        let usual = |partition: &Partition| partition.default_time.unwrap_or(partition.max_time).value();
        let default = partitions.iter().filter_map(usual).min();
        let option = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("--{name}={value}"));
        let named = option("account", &slurm.account).into_iter().chain(option("partition", &slurm.partition));
        let sbatch: Vec<String> = named.chain(slurm.slurm.iter().cloned()).collect();
        let (limit, is_stated) = (stated.or(default), stated.is_some());
        Ok(Self { platform, members, options: sbatch, limit, is_stated, most })
    }

    /// Returns true if the jobs of the run can move to another cluster.
    pub fn has_several_clusters(&self) -> bool {
        self.members.len() > 1
    }

    /// Makes a plan in which the other running and pending jobs of the cluster keep their processors. If this is
    /// impossible, makes a plan for an empty cluster.
    pub fn plan_beside(
        &self,
        decider: &Decider,
        instance: &Instance,
        seed: u64,
        mut remarks: Vec<String>,
        is_proved: bool,
    ) -> Result<BegunPlan> {
        let mut closed = members::occupied_now(&self.members, instance.platform())?;
        if closed.is_empty() {
            return decider.plan(instance, seed, remarks, is_proved);
        }
        closed.extend(instance.unavailable().iter().cloned());
        let beside = Instance::new(instance.platform().clone(), instance.all_submitted(), closed);
        let planned = beside
            .map_err(|error| miette!("{error}"))
            .and_then(|beside| decider.plan(&beside, seed, remarks.clone(), is_proved));
        match planned {
            Ok(begun) => Ok(begun),
            Err(error) => {
                remarks.push(format!(
                    "the plan assumes an empty cluster, because planning around the queued jobs failed: {error}"
                ));
                decider.plan(instance, seed, remarks, is_proved)
            }
        }
    }

    /// Returns an error if Slurm jobs cannot implement the plan, or if a task takes longer than the time limit of its
    /// job.
    pub fn check_plan(&self, instance: &Instance, schedule: &Schedule) -> Result<()> {
        if self.members.len() > 1 && !instance.platform().has_nodes_of(&self.platform) {
            return Err(miette!(
                "with several clusters, the plan uses all of their nodes; remove the machines from the file and the options"
            ));
        }
        let own = |name: &str| self.platform.nodes().iter().any(|node| node.name == name);
        if let Some(node) = instance.platform().nodes().iter().find(|node| node.processors > 0 && !own(&node.name)) {
            return Err(miette!(
                "the plan uses the node `{}`, which the cluster does not have or does not use now; remove the \
                 machines from the file and the options",
                node.name
            ));
        }
        for member in self.members.iter().filter(|member| self.members.len() == 1 || member.answers()) {
            if let Some(reason) = inexpressible(instance, &member.commands).map_err(|error| miette!("{error}"))? {
                return Err(miette!("{reason}"));
            }
        }
        let is_divided = |at: &&Placement| !self.members.iter().any(|own| at.processors.is_subset(&own.processors));
        if let Some(at) = schedule.placements().iter().find(is_divided).filter(|_| self.members.len() > 1) {
            let name = instance.name(at.task);
            return Err(miette!("job `{name}` needs processors of several clusters; run it on one cluster"));
        }
        let Some(limit) = self.limit else { return Ok(()) };
        for at in schedule.placements() {
            let (length, walltime) = (at.end - at.start, instance.walltime(at.task));
            let limit = seconds(walltime.map_or(limit, |_| self.most.unwrap_or(u64::MAX)));
            if walltime.unwrap_or(length).max(length) > limit {
                return Err(miette!(
                    "job `{}` takes {} s, but its Slurm job may take only {limit} s; request a longer --time, state a \
                     walltime, or name another --partition",
                    instance.name(at.task),
                    walltime.unwrap_or(length).max(length)
                ));
            }
        }
        Ok(())
    }

    /// Creates the engine that submits the tasks, and writes the platform to the folder of the run.
    pub fn begin<'a>(&self, instance: &'a Instance, folder: &Path, grace: Duration) -> Result<SlurmJobEngine<'a>> {
        let program = this_program().map_err(|error| miette!("{error}"))?;
        platform::write(instance.platform(), folder, PLATFORM)?;
        let options = JobsOptions {
            folder: folder.to_owned(),
            clusters: self.members.iter().map(MemberCluster::for_jobs).collect::<Result<_>>()?,
            program,
            grace,
            options: self.options.clone(),
            limit: self.limit.filter(|_| self.is_stated),
            most: self.most,
        };
        SlurmJobEngine::begin(instance, options).map_err(|error| miette!("{error}"))
    }
}

fn seconds(seconds: u64) -> Time {
    Time::from_seconds(i64::try_from(seconds).unwrap_or(i64::MAX).min(i64::MAX / 1_000_000_000))
}
