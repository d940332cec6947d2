//! Places that execute a run: this machine, pilots on a cluster (Slurm jobs that each run many tasks), or one Slurm
//! job for each task.

use std::time::Duration;

use makespan::policy::RenewedPolicy;
use makespan_core::{Instance, Platform, Policy, Schedule, TaskId, Trace};
use makespan_exec::engine::Engine;
use makespan_exec::{ExecuteOptions, Observer, ReservedRun, host, notes, reserve, reserve_folder};
use miette::{Result, miette};

use super::BegunPlan;
use super::batch::ClusterOfBatch;
use super::cluster::Cluster;
use super::decider::Decider;
use super::hosts::ClusterOfHosts;
use super::jobs::{ClusterOfJobs, LaterPlan};
use super::signals::outlive_the_terminal;
use crate::args::{RunOptions, RunTarget};

/// Inputs for the execution of a planned run.
pub struct RunWork<'a> {
    pub instance: &'a Instance,
    pub begun: &'a BegunPlan,
    pub decider: &'a Decider,
    /// Prefix of the names of pilots.
    pub stem: &'a str,
    /// Time between SIGTERM and SIGKILL for a job.
    pub grace: Duration,
    pub resume: bool,
}

impl RunWork<'_> {
    fn policy(&self) -> Result<Box<dyn Policy>> {
        self.decider.policy(self.instance, self.begun, self.resume)
    }
}

/// A place where runs are executed.
pub trait RunPlace {
    /// Returns the machines to plan for if the options state none. Returns `None` if the place is this machine,
    /// because the source of the jobs then states the machines.
    fn platform(&self) -> Option<&Platform>;

    /// Returns the name of the machines for the report.
    fn name(&self) -> String {
        "Slurm".into()
    }

    /// Returns notes for the user about the machines.
    fn remarks(&self, instance: &Instance) -> Vec<String>;

    /// Chooses machines for the instance and returns the instance on these machines. Returns `None` if the machines of
    /// this place are fixed.
    fn choose(&mut self, _decider: &Decider, _instance: &Instance, _seed: u64) -> Result<Option<Instance>> {
        Ok(None)
    }

    /// Prepares this process for the run. Called before all other steps.
    fn prepare(&self) {}

    /// Makes the plan, with bounds if `is_proved` is true.
    fn plan(
        &self,
        decider: &Decider,
        instance: &Instance,
        seed: u64,
        remarks: Vec<String>,
        is_proved: bool,
    ) -> Result<BegunPlan> {
        decider.plan(instance, seed, remarks, is_proved)
    }

    /// Returns an error if this place cannot execute the plan.
    fn check(&self, _instance: &Instance, _schedule: &Schedule) -> Result<()> {
        Ok(())
    }

    /// Executes the run.
    fn execute(&self, reserved: ReservedRun<'_>, work: &RunWork<'_>, observer: &mut dyn Observer) -> Result<Trace>;
}

/// Returns the place that the options select.
pub fn place_of(options: &RunOptions) -> Result<Box<dyn RunPlace>> {
    Ok(match &options.slurm.on {
        None => Box::new(LocalHost),
        Some(RunTarget::Slurm) => Box::new(Cluster::of(options)?),
        Some(RunTarget::SlurmJobs) => Box::new(ClusterOfJobs::of(options, &[])?),
        Some(RunTarget::SlurmClusters(clusters)) => Box::new(ClusterOfJobs::of(options, clusters)?),
        Some(RunTarget::Batch(description, cores)) => Box::new(ClusterOfBatch::of(options, description, *cores)?),
        Some(RunTarget::Hosts(hosts)) => Box::new(ClusterOfHosts::of(options, hosts)?),
    })
}

impl dyn RunPlace + '_ {
    /// Returns true if the place is this machine.
    pub fn is_here(&self) -> bool {
        self.platform().is_none()
    }

    /// Locks the folder of the run, so that no other session uses it.
    pub fn reserve<'a>(&self, instance: &'a Instance, options: &'a ExecuteOptions) -> Result<ReservedRun<'a>> {
        let reserve = if self.is_here() { reserve } else { reserve_folder };
        reserve(instance, options).map_err(|error| miette!("{error}"))
    }
}

/// This machine.
struct LocalHost;

impl RunPlace for LocalHost {
    fn platform(&self) -> Option<&Platform> {
        None
    }

    fn name(&self) -> String {
        host()
    }

    fn remarks(&self, instance: &Instance) -> Vec<String> {
        notes(instance)
    }

    fn execute(&self, reserved: ReservedRun<'_>, work: &RunWork<'_>, observer: &mut dyn Observer) -> Result<Trace> {
        reserved.execute(work.policy()?.as_mut(), observer).map_err(|error| miette!("{error}"))
    }
}

/// Pilots on a cluster.
impl RunPlace for Cluster {
    fn platform(&self) -> Option<&Platform> {
        Some(&self.platform)
    }

    fn remarks(&self, _instance: &Instance) -> Vec<String> {
        self.remarks.clone()
    }

    fn choose(&mut self, decider: &Decider, instance: &Instance, seed: u64) -> Result<Option<Instance>> {
        self.choose_pilots(decider, instance, seed)
    }

    fn check(&self, instance: &Instance, schedule: &Schedule) -> Result<()> {
        self.check_plan(instance, schedule)
    }

    /// The ends of the pilots are known only when the pilots start, so the policy is created again at this time.
    fn execute(&self, reserved: ReservedRun<'_>, work: &RunWork<'_>, observer: &mut dyn Observer) -> Result<Trace> {
        let mut pilots = self.begin(work.instance.platform(), reserved.folder(), work.stem, work.grace)?;
        execute_again(&mut pilots, reserved, work, observer)
    }
}

/// Pilots on a batch system other than Slurm.
impl RunPlace for ClusterOfBatch {
    fn platform(&self) -> Option<&Platform> {
        Some(&self.platform)
    }

    fn name(&self) -> String {
        self.system().to_owned()
    }

    fn remarks(&self, _instance: &Instance) -> Vec<String> {
        Vec::new()
    }

    fn check(&self, instance: &Instance, schedule: &Schedule) -> Result<()> {
        self.check_plan(instance, schedule)
    }

    fn execute(&self, reserved: ReservedRun<'_>, work: &RunWork<'_>, observer: &mut dyn Observer) -> Result<Trace> {
        let mut pilots = self.begin(work.instance.platform(), reserved.folder(), work.stem, work.grace)?;
        execute_again(&mut pilots, reserved, work, observer)
    }
}

/// Executes a run on an engine with machines that may appear and disappear during the run. The policy is created again
/// when the machines change.
fn execute_again(
    engine: &mut dyn Engine,
    reserved: ReservedRun<'_>,
    work: &RunWork<'_>,
    observer: &mut dyn Observer,
) -> Result<Trace> {
    let again = |instance: &Instance| work.decider.policy(instance, work.begun, true).ok();
    let mut policy = RenewedPolicy::new(work.policy()?, work.instance, again);
    reserved.execute_on(engine, &mut policy, observer).map_err(|error| miette!("{error}"))
}

/// Hosts, with OpenSSH.
impl RunPlace for ClusterOfHosts {
    fn platform(&self) -> Option<&Platform> {
        Some(&self.platform)
    }

    fn name(&self) -> String {
        self.machines()
    }

    fn remarks(&self, _instance: &Instance) -> Vec<String> {
        Vec::new()
    }

    fn execute(&self, reserved: ReservedRun<'_>, work: &RunWork<'_>, observer: &mut dyn Observer) -> Result<Trace> {
        let mut hosts = self.begin(work.instance.platform(), reserved.folder(), work.grace)?;
        execute_again(&mut hosts, reserved, work, observer)
    }
}

/// Jobs on a cluster: each task of the run is one job of Slurm.
impl RunPlace for ClusterOfJobs {
    fn platform(&self) -> Option<&Platform> {
        Some(&self.platform)
    }

    fn remarks(&self, _instance: &Instance) -> Vec<String> {
        Vec::new()
    }

    /// Ignores SIGHUP, so that this program and its jobs continue after the terminal was closed.
    fn prepare(&self) {
        outlive_the_terminal();
    }

    /// Makes a plan in which the other jobs of the cluster keep their processors.
    fn plan(
        &self,
        decider: &Decider,
        instance: &Instance,
        seed: u64,
        remarks: Vec<String>,
        is_proved: bool,
    ) -> Result<BegunPlan> {
        self.plan_beside(decider, instance, seed, remarks, is_proved)
    }

    fn check(&self, instance: &Instance, schedule: &Schedule) -> Result<()> {
        self.check_plan(instance, schedule)
    }

    fn execute(&self, reserved: ReservedRun<'_>, work: &RunWork<'_>, observer: &mut dyn Observer) -> Result<Trace> {
        let mut engine = self.begin(work.instance, reserved.folder(), work.grace)?;
        let mut again = LaterPlan::new(self, work.decider, work.begun.seed);
        let mut again = |instance: &Instance, now, tasks: &[TaskId]| again.plan(instance, now, tasks);
        let trace = reserved.hand_over(&mut engine, &work.begun.schedule, &mut again, observer);
        trace.map_err(|error| miette!("{error}"))
    }
}
