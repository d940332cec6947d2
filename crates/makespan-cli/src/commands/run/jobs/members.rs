//! The clusters of a run with one Slurm job for each task.

use std::cell::Cell;
use std::time::Duration;

use makespan_core::{Node, Platform, ProcSet, Time, Unavailable};
use makespan_slurm::batch::BatchSystem;
use makespan_slurm::jobs::{JobCluster, alone, occupied};
use makespan_slurm::{CommandError, Commands, Job, Partition, PlanMachines};
use miette::{Result, miette};

use crate::commands::queue::source::ClusterSource;
use crate::output::complain;

/// Time for which a plan treats the processors of a cluster as unavailable if the cluster does not answer. The next
/// plan queries the cluster again.
const AWAY: Time = Time::from_seconds(30 * 86_400);

/// Time limit of a request if the run has several clusters. If the controller does not answer, Slurm's programs end
/// after 10 s. Without this limit, they would take longer if munge does not answer either.
const LIMIT: Duration = Duration::from_secs(12);

/// A cluster of a run.
pub struct MemberCluster {
    /// The name of the cluster in messages.
    name: String,
    /// The prefix that the plan adds to the names of the cluster's nodes. It is empty if there is only one cluster.
    prefix: String,
    pub commands: Commands,
    /// The processors of the cluster in the plan.
    pub processors: ProcSet,
    /// False if the cluster did not answer when its queue was last read.
    answers: Cell<bool>,
}

impl MemberCluster {
    pub fn answers(&self) -> bool {
        self.answers.get()
    }

    /// Returns the cluster for the engine.
    ///
    /// # Errors
    /// The built-in description of Slurm is invalid.
    pub fn for_jobs(&self) -> Result<JobCluster> {
        Ok(JobCluster {
            name: self.name.clone(),
            prefix: self.prefix.clone(),
            batch: BatchSystem::slurm(self.commands.clone()).map_err(|error| miette!("{error}"))?,
            commands: self.commands.clone(),
            processors: self.processors.clone(),
        })
    }
}

/// Returns the clusters with these names, or the default cluster of this machine if there are no names. If there are
/// several clusters, a request to a cluster that does not answer is not repeated, because the jobs can move to another
/// cluster.
pub fn named(names: &[String]) -> Result<Vec<MemberCluster>> {
    let answers = Cell::new(true);
    if names.is_empty() {
        let commands = Commands::new().with_teller(complain);
        let (name, prefix, processors) = ("Slurm".to_owned(), String::new(), ProcSet::new());
        return Ok(vec![MemberCluster { name, prefix, commands, processors, answers }]);
    }
    let is_one = names.len() == 1;
    let member = |(at, text): (usize, &String)| {
        let source =
            ClusterSource::parse(text).map_err(|error| miette!("{}", error.to_string().replace("--from", "--on")))?;
        let commands = source.commands(Commands::new());
        let commands = if is_one {
            commands.with_teller(complain)
        } else {
            commands.with_limit(LIMIT).with_patience(Duration::ZERO)
        };
        // Node names begin with the position of the cluster in --on, because it is shorter than the path of a slurm.conf. A
        // resumed run with an unchanged --on has unchanged node names.
        let prefix = if is_one { String::new() } else { format!("{}:", at + 1) };
        let (name, processors) = (format!("cluster {text}"), ProcSet::new());
        Ok(MemberCluster { name, prefix, commands, processors, answers: answers.clone() })
    };
    names.iter().enumerate().map(member).collect()
}

/// Returns the nodes of all clusters as one platform.
pub fn machines(members: &[MemberCluster], partition: Option<&str>) -> Result<PlanMachines> {
    let (mut nodes, mut remarks) = (Vec::new(), Vec::new());
    for member in members {
        let own = member.commands.machines(partition).map_err(|error| miette!("{}: {error}", member.name))?;
        if members.len() == 1 {
            return Ok(own);
        }
        let name = |node: &Node| Node { name: format!("{}{}", member.prefix, node.name), ..node.clone() };
        nodes.extend(own.platform.nodes().iter().map(name));
        remarks.push(format!("nodes with names that begin with `{}` belong to {}", member.prefix, member.name));
        remarks.extend(own.remarks.iter().map(|remark| format!("{}: {remark}", member.name)));
    }
    let platform = Platform::new(nodes).map_err(|error| miette!("{error}"))?;
    Ok(PlanMachines { platform: platform.requiring_compact(), remarks })
}

/// Divides the processors of a platform among the clusters.
pub fn divide(members: &mut [MemberCluster], platform: &Platform) -> Result<()> {
    for member in members {
        let own = |&node: &usize| platform.nodes()[node].name.starts_with(&member.prefix);
        member.processors = ProcSet::new();
        (0..platform.node_count()).filter(own).for_each(|node| member.processors.insert(&platform.processors_of(node)));
        if member.processors.is_empty() {
            let name = &member.name;
            return Err(miette!(
                "{name} has no node in this run; resume a run with the list of clusters of its first session"
            ));
        }
    }
    Ok(())
}

/// Returns, for each cluster, the partition in which the jobs run.
pub fn partitions(members: &[MemberCluster], wanted: Option<&str>) -> Result<Vec<Partition>> {
    let mut found = Vec::new();
    for member in members {
        let all = match member.commands.partitions() {
            Ok(all) => all.items,
            // If a cluster does not answer, a resumed run continues on the other clusters.
            Err(_) if members.len() > 1 => continue,
            Err(error) => return Err(miette!("{error}")),
        };
        found.extend(all.into_iter().find(|partition| match wanted {
            Some(name) => partition.name == *name,
            None => partition.is_default,
        }));
    }
    Ok(found)
}

/// Returns the periods in which other jobs use processors. If one of several clusters does not answer, all of its
/// processors are unavailable.
pub fn occupied_now(members: &[MemberCluster], platform: &Platform) -> Result<Vec<Unavailable>> {
    let mut periods = Vec::new();
    for member in members {
        match jobs_of(member, members.len() == 1) {
            Ok(jobs) if members.len() == 1 => return Ok(occupied(platform, &jobs)),
            Ok(jobs) => {
                member.answers.set(true);
                periods.extend(occupied_of(member, platform, &jobs));
            }
            Err(error) if members.len() == 1 => return Err(miette!("{error}")),
            Err(_) => {
                member.answers.set(false);
                periods.push(Unavailable { processors: member.processors.clone(), start: Time::ZERO, end: AWAY });
            }
        }
    }
    if members.iter().all(|member| !member.answers()) {
        return Err(miette!("no cluster answers"));
    }
    Ok(periods)
}

/// Reads the queue of a cluster. If the cluster did not answer the last time, the time limit is shorter, because a new
/// plan waits for this answer.
fn jobs_of(member: &MemberCluster, is_one: bool) -> Result<Vec<Job>, CommandError> {
    let limit = if member.answers() { LIMIT } else { LIMIT / 6 };
    let commands = if is_one { member.commands.clone() } else { member.commands.clone().with_limit(limit) };
    Ok(commands.jobs_with_shares()?.items)
}

/// Returns the periods in which other jobs use processors of the cluster `member`. The processors in the result are
/// numbered as in the plan of all clusters.
fn occupied_of(member: &MemberCluster, platform: &Platform, jobs: &[Job]) -> Vec<Unavailable> {
    let (Some(alone), Some(first)) =
        (alone(platform, &member.processors, &member.prefix), member.processors.iter().next())
    else {
        return Vec::new();
    };
    let moved = |set: &ProcSet| {
        let interval = |&(from, to): &(u32, u32)| (from + first, to + first);
        ProcSet::from_intervals(set.intervals().iter().map(interval).collect())
    };
    let periods = occupied(&alone, jobs).into_iter();
    periods.map(|period| Unavailable { processors: moved(&period.processors), ..period }).collect()
}
