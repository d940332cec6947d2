//! A run on Slurm in which each task is a Slurm job. This file selects the machines for the plan, and the options and
//! time limits of the jobs.

mod later;

use std::path::Path;
use std::time::Duration;

use makespan_core::{Instance, Platform, Schedule, Time};
use makespan_formats::{Language, read_platform, write_instance};
use makespan_slurm::batch::BatchSystem;
use makespan_slurm::engine::this_program;
use makespan_slurm::jobs::{JobsOptions, SlurmJobEngine, inexpressible, occupied};
use makespan_slurm::{Commands, OptionalLimit, duration};
use miette::{Result, miette};

pub use later::LaterPlan;

use super::cluster::slurm_time;
use super::source::within_nodes;
use super::{BegunPlan, Decider, folder};
use crate::args::RunOptions;
use crate::output::{complain, write_file};

/// File in the folder of a run that stores the platform with which the run began.
const PLATFORM: &str = "jobs/platform.json";

/// The cluster to which a run submits its tasks as jobs.
pub struct ClusterOfJobs {
    pub platform: Platform,
    commands: Commands,
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
    /// Returns the cluster that the options select.
    pub fn of(options: &RunOptions) -> Result<Self> {
        let slurm = &options.slurm;
        if slurm.nodes.is_some() || slurm.pilots.is_some() {
            return Err(miette!(
                "--nodes and --pilots apply only to pilots; with --on slurm:jobs, each job has its own nodes; remove \
                 these options, or use --on slurm"
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
        let commands = Commands::new().with_teller(complain);
        let wrong = |error: &dyn std::fmt::Display| miette!("{error}");
        // A resumed run uses the platform of its first session, because a node that is down now is still part of the
        // cluster.
        let earlier = options.failures.resume.then(|| folder::choose(options).ok()).flatten();
        let earlier = earlier.and_then(|folder| read_platform(&folder.join(PLATFORM)).ok());
        let platform = match earlier {
            Some(earlier) => within_nodes(earlier.platform().clone()),
            None => {
                let machines = commands.machines(slurm.partition.as_deref()).map_err(|error| wrong(&error))?;
                let told = machines.remarks.iter().filter(|_| !options.printing.quiet);
                told.for_each(|remark| complain(&format!("note: {remark}")));
                machines.platform
            }
        };
        let partitions = commands.partitions().map_err(|error| wrong(&error))?.items;
        let partition = partitions.iter().find(|partition| match &slurm.partition {
            Some(name) => partition.name == *name,
            None => partition.is_default,
        });
        let stated = slurm.time.as_ref().map(|time| {
            let read = slurm_time(time).as_deref().and_then(duration).and_then(OptionalLimit::value);
            read.ok_or_else(|| miette!("--time {time}: write a time such as 90m, 2h or 1-12:00:00"))
        });
        let stated = stated.transpose()?;
        let most = partition.and_then(|partition| partition.max_time.value());
        if let (Some(stated), Some(most)) = (stated, most)
            && stated > most
        {
            return Err(miette!(
                "--time requests {stated} s, but the partition allows at most {most} s; request a shorter time, or \
                 name another --partition"
            ));
        }
        let default = partition.and_then(|partition| partition.default_time.unwrap_or(partition.max_time).value());
        let option = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("--{name}={value}"));
        let named = option("account", &slurm.account).into_iter().chain(option("partition", &slurm.partition));
        let sbatch: Vec<String> = named.chain(slurm.slurm.iter().cloned()).collect();
        let (limit, is_stated) = (stated.or(default), stated.is_some());
        Ok(Self { platform, commands, options: sbatch, limit, is_stated, most })
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
        let jobs = self.commands.jobs_with_shares().map_err(|error| miette!("{error}"))?.items;
        let mut closed = occupied(instance.platform(), &jobs);
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
        let own = |name: &str| self.platform.nodes().iter().any(|node| node.name == name);
        if let Some(node) = instance.platform().nodes().iter().find(|node| node.processors > 0 && !own(&node.name)) {
            return Err(miette!(
                "the plan uses the node `{}`, which the cluster does not have or does not use now; remove the \
                 machines from the file and the options",
                node.name
            ));
        }
        if let Some(reason) = inexpressible(instance, &self.commands).map_err(|error| miette!("{error}"))? {
            return Err(miette!("{reason}"));
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
        let kept = Instance::new(instance.platform().clone(), vec![], vec![]).map_err(|error| miette!("{error}"))?;
        let path = folder.join(PLATFORM);
        std::fs::create_dir_all(folder.join("jobs")).map_err(|error| miette!("{}: {error}", path.display()))?;
        write_file(&path, |out| write_instance(&kept, Language::Json, out))?;
        let options = JobsOptions {
            folder: folder.to_owned(),
            batch: BatchSystem::slurm(Commands::new()).map_err(|error| miette!("{error}"))?,
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
