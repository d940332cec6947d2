//! A run that is carried out elsewhere than on this machine.

use makespan::policy::Renewed;
use makespan_core::{Instance, Platform, Policy, Schedule, TaskId, Trace};
use makespan_exec::{ExecuteOptions, Observer, Reserved};
use miette::{Result, miette};

use super::Begun;
use super::cluster::Cluster;
use super::decider::Decider;
use super::jobs::{ClusterOfJobs, Later, outlive_the_terminal};
use crate::args::{On, RunOptions};

/// Makes the policy of a run again, for an instance in which other periods are unavailable; `None` where its rules do not drive it.
type Again<'a> = &'a dyn Fn(&Instance) -> Option<Box<dyn Policy>>;

/// Where.
pub enum Elsewhere {
    /// In pilots on a cluster.
    Pilots(Cluster),
    /// As jobs of a cluster.
    Jobs(ClusterOfJobs),
}

impl Elsewhere {
    /// Where the options want it.
    pub fn of(options: &RunOptions) -> Result<Option<Self>> {
        Ok(match options.slurm.on {
            None => None,
            Some(On::Slurm) => Cluster::of(options)?.map(Self::Pilots),
            Some(On::SlurmJobs) => ClusterOfJobs::of(options)?.map(Self::Jobs),
        })
    }

    /// The machines of the plan, where the options state no others.
    pub fn platform(&self) -> &Platform {
        match self {
            Self::Pilots(cluster) => &cluster.platform,
            Self::Jobs(jobs) => &jobs.platform,
        }
    }

    /// What the user should know about them.
    pub fn remarks(&self) -> Vec<String> {
        match self {
            Self::Pilots(cluster) => cluster.remarks.clone(),
            Self::Jobs(_) => Vec::new(),
        }
    }

    /// The instance on the machines that the plan chooses, where it is to choose.
    pub fn choose(&mut self, decider: &Decider, instance: &Instance, seed: u64) -> Result<Option<Instance>> {
        match self {
            Self::Pilots(cluster) => cluster.choose(decider, instance, seed),
            Self::Jobs(_) => Ok(None),
        }
    }

    /// Jobs of Slurm go on when the terminal has gone, and so does whoever waits for them.
    pub fn prepare(&self) {
        if let Self::Jobs(_) = self {
            outlive_the_terminal();
        }
    }

    /// A plan; of jobs of Slurm beside what the cluster has to do already.
    pub fn plan(&self, decider: &Decider, instance: &Instance, seed: u64, remarks: Vec<String>) -> Result<Begun> {
        match self {
            Self::Pilots(_) => decider.plan(instance, seed, remarks),
            Self::Jobs(jobs) => jobs.plan(decider, instance, seed, remarks),
        }
    }

    /// Refuses a plan that cannot be carried out there.
    pub fn check(&self, instance: &Instance, schedule: &Schedule) -> Result<()> {
        match self {
            Self::Pilots(cluster) => cluster.check(instance, schedule),
            Self::Jobs(jobs) => jobs.check(instance, schedule),
        }
    }

    /// Carries the run out. Pilots are called by the name of its source; their policy is made `again` when it becomes known when they end.
    pub fn execute(
        &self,
        reserved: Reserved<'_>,
        (instance, begun, stem): (&Instance, &Begun, &str),
        execution: &ExecuteOptions,
        (decider, policy, again): (&Decider, Box<dyn Policy>, Again<'_>),
        observer: &mut dyn Observer,
    ) -> Result<Trace> {
        let trace = match self {
            Self::Pilots(cluster) => {
                let mut pilots = cluster.begin(instance.platform(), reserved.folder(), stem, execution.grace)?;
                reserved.execute_on(&mut pilots, &mut Renewed::new(policy, instance, again), observer)
            }
            Self::Jobs(jobs) => {
                let mut engine = jobs.begin(instance, reserved.folder(), execution.grace)?;
                let mut again = Later::new(jobs, decider, begun.seed);
                let mut again = |instance: &Instance, now, tasks: &[TaskId]| again.plan(instance, now, tasks);
                reserved.hand_over(&mut engine, &begun.schedule, &mut again, observer)
            }
        };
        trace.map_err(|error| miette!("{error}"))
    }
}
