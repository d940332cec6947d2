//! Describes the machines of a cluster, or of an allocation, as a platform.

mod error;
mod pool;
mod resources;
mod wish;

use std::collections::HashMap;

use makespan_core::{Node as Machine, Platform};

use crate::command::Commands;
use crate::{Job, Node, OptionalLimit, Partition, Share};
pub use error::MachinesError;
pub use pool::{PlacedRequest, Pool, fit};
use resources::resources;
pub use wish::check_job_options;

/// Machines for a plan, with warnings for the user. If a node is large enough for a task, the task runs on this node
/// alone, because an ordinary command starts no processes on other nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanMachines {
    /// The platform. Its nodes have the names of the cluster's nodes. A processor is a hardware thread, or a core if
    /// the cluster counts cores.
    pub platform: Platform,
    /// Warnings about nodes that were left out, and about properties that a platform cannot express.
    pub remarks: Vec<String>,
}

/// A running job and its machines.
#[derive(Clone, Debug, PartialEq)]
pub struct Allocated {
    /// The job that holds the machines.
    pub job: Job,
    /// The part of the nodes' resources that the job may use.
    pub machines: PlanMachines,
}

/// Maximum number of nodes that a warning names.
const SHOWN: usize = 5;

/// The part of a node that a plan may use: everything that jobs can use, or the share of one job.
struct Part<'a> {
    node: &'a Node,
    processors: u32,
    share: Option<&'a Share>,
}

impl Commands {
    /// Returns the nodes of a partition that accept jobs, and treats these nodes as empty. If `partition` is `None`,
    /// uses the default partition.
    ///
    /// # Errors
    /// [`MachinesError`]
    pub fn machines(&self, partition: Option<&str>) -> Result<PlanMachines, MachinesError> {
        let partitions = self.partitions()?;
        let partition = chosen(&partitions.items, partition)?;
        let nodes = self.nodes()?;
        let mut remarks = [partitions.remarks, nodes.remarks].concat();
        let members: Vec<&Node> = nodes.items.iter().filter(|node| node.partitions.contains(&partition.name)).collect();
        let (there, away): (Vec<&Node>, Vec<&Node>) = members.into_iter().partition(|node| node.state.takes_jobs());
        remarks.extend(left_out(&away));
        if !partition.is_up() {
            remarks.push(format!("the partition `{}` starts no jobs now: it is {}", partition.name, partition.state));
        }
        if let OptionalLimit::At(most) = partition.max_nodes
            && most < there.len() as u64
        {
            remarks.push(format!("a job in the partition `{}` may have at most {most} nodes", partition.name));
        }
        let reserved: Vec<&str> =
            there.iter().filter(|node| node.state.has("RESERVED")).map(|node| node.name.as_str()).collect();
        if !reserved.is_empty() {
            let some = reserved.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
            remarks.push(format!(
                "{} of these nodes are reserved; jobs outside the reservation wait for the end of the reservation: \
                 {some}{}",
                reserved.len(),
                if reserved.len() > SHOWN { " .." } else { "" }
            ));
        }
        let most = partition.max_cpus_per_node.value().unwrap_or(u64::MAX);
        let parts = there.into_iter().map(|node| {
            let processors = u64::from(node.usable_cpus).min(most) as u32;
            Part { node, processors, share: None }
        });
        let place = format!("the partition `{}`", partition.name);
        let parts: Vec<Part> = parts.filter(|part| part.processors > 0).collect();
        machines(&parts, &place, remarks)
    }

    /// Returns the resources that a running job holds on its nodes: processors, memory and generic resources. Nodes
    /// that do not respond are left out.
    ///
    /// # Errors
    /// [`MachinesError`]
    pub fn allocation(&self, id: u64) -> Result<Allocated, MachinesError> {
        let job = self.job(id)?.ok_or(MachinesError::NoJob(id))?;
        if !job.state.holds_nodes() || job.nodes.is_empty() {
            let reason = if job.reason.is_empty() { String::new() } else { format!(" ({})", job.reason) };
            let state = job.record.get("JobState").unwrap_or_default().to_owned();
            return Err(MachinesError::HoldsNothing { id, state, reason });
        }
        let nodes = self.nodes_named(&job.nodes)?;
        let mut remarks = nodes.remarks;
        // A job keeps nodes that are being drained. It has lost nodes that are down.
        let is_gone = |node: &&Node| node.state.base == "DOWN" || node.state.has("NOT_RESPONDING");
        let (away, there): (Vec<&Node>, Vec<&Node>) = nodes.items.iter().partition(is_gone);
        remarks.extend(left_out(&away));
        if job.record.get("HetJobId").is_some() {
            remarks.push("only this component of the heterogeneous job is used".to_owned());
        }
        let shares: HashMap<&str, &Share> =
            job.shares.iter().flat_map(|share| share.nodes.iter().map(move |node| (node.as_str(), share))).collect();
        let parts = there.into_iter().map(|node| {
            let share = shares.get(node.name.as_str()).copied();
            Part { node, processors: share.map_or(node.usable_cpus, |share| share.cpus.len()), share }
        });
        let parts: Vec<Part> = parts.filter(|part| part.processors > 0).collect();
        let machines = machines(&parts, &format!("job {id}"), remarks)?;
        Ok(Allocated { job, machines })
    }
}

/// Returns the partition `name`. If `name` is `None`, returns the default partition.
fn chosen<'a>(partitions: &'a [Partition], name: Option<&str>) -> Result<&'a Partition, MachinesError> {
    let known = || partitions.iter().map(|partition| partition.name.clone()).collect::<Vec<_>>().join(", ");
    let found = partitions.iter().find(|partition| name.map_or(partition.is_default, |name| partition.name == name));
    found.ok_or_else(|| match name {
        Some(name) => MachinesError::NoPartition { name: name.to_owned(), known: known() },
        None => MachinesError::NoDefault { known: known() },
    })
}

/// Formats the nodes that accept no jobs, with reasons.
fn left_out(nodes: &[&Node]) -> Option<String> {
    if nodes.is_empty() {
        return None;
    }
    let one = |node: &&Node| {
        let state = node.record.raw("State").unwrap_or_default();
        let reason = node.reason.as_ref().map(|reason| format!(", {reason}")).unwrap_or_default();
        format!("{} ({state}{reason})", node.name)
    };
    let mut list: Vec<String> = nodes.iter().take(SHOWN).map(one).collect();
    if nodes.len() > SHOWN {
        list.push(format!("{} more", nodes.len() - SHOWN));
    }
    let are = if nodes.len() == 1 { "node is" } else { "nodes are" };
    Some(format!("{} {are} not used, because no jobs can start there: {}", nodes.len(), list.join("; ")))
}

fn machines(parts: &[Part], place: &str, mut remarks: Vec<String>) -> Result<PlanMachines, MachinesError> {
    if parts.is_empty() {
        let why = remarks.join("; ");
        let why = if why.is_empty() { "it has no nodes".to_owned() } else { why };
        return Err(MachinesError::NoNodes { place: place.to_owned(), why });
    }
    let mut nodes = Vec::with_capacity(parts.len());
    for part in parts {
        let resources = resources(part.node, part.share);
        let resources = resources.map_err(|error| MachinesError::Resources { node: part.node.name.clone(), error })?;
        nodes.push(Machine { resources, ..Machine::new(&part.node.name, part.processors) });
    }
    remarks.extend(resources::remarks(parts.iter().map(|part| (part.node, part.share))));
    if parts.iter().any(|part| part.node.threads_per_core > 1 && part.node.cpus > part.node.cores) {
        remarks.push("the processors of Slurm are hardware threads; a core has several processors".to_owned());
    }
    let platform = Platform::new(nodes).map_err(|error| MachinesError::Platform { place: place.to_owned(), error })?;
    Ok(PlanMachines { platform: platform.requiring_compact(), remarks })
}
