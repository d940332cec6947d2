//! Requests of jobs.

use std::collections::HashSet;

use crate::text::{Gres, Record, bytes, duration, expand};
use crate::{Job, Node, OptionalLimit};

use super::reservation::licences;
use super::{Features, Memory};

/// The request of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRequest {
    /// Minimum number of nodes.
    pub min_nodes: u64,
    /// Maximum number of nodes, if stated.
    pub max_nodes: Option<u64>,
    /// Number of processors on all nodes together.
    pub cpus: u64,
    /// Minimum number of processors per node.
    pub cpus_per_node: u64,
    /// Number of processors for the tasks on each node, if the job states the number of these tasks
    /// (`--ntasks-per-node`).
    pub cpus_of_tasks_per_node: Option<u64>,
    /// The requested memory.
    pub memory: Memory,
    /// Generic resources per node.
    pub gres: Vec<Gres>,
    /// Features that the nodes must have.
    pub features: Option<Features>,
    /// The features as the user wrote them.
    pub features_text: String,
    /// Nodes that the job must get, without duplicates.
    pub required: Vec<String>,
    /// Nodes that the job must not get.
    pub excluded: Vec<String>,
    /// All requested or held resources, by Slurm's names. Memory (`mem`) is in MiB. Other names are, for example,
    /// `cpu`, `node`, `billing` and `gres/gpu`.
    pub tres: Vec<(String, u64)>,
    /// Licences that the job holds while it runs.
    pub licences: Vec<(String, u64)>,
    /// The reservation in which the job must run.
    pub reservation: Option<String>,
    /// True if the nodes must be adjacent (`--contiguous`).
    pub contiguous: bool,
    /// True if no other job may use the nodes.
    pub exclusive: bool,
    /// Minimum acceptable time limit in seconds, if stated (`--time-min`).
    pub min_time: Option<u64>,
}

impl JobRequest {
    /// Returns the number of processors that the job requests.
    pub(super) fn all_cpus(&self) -> u64 {
        self.cpus.max(self.min_nodes.saturating_mul(self.cpus_per_node))
    }

    /// Returns the maximum number of nodes of the job. A job that requests several processors gets no node on which it
    /// would have more processors than it requests, even if it gets whole nodes.
    pub(super) fn most_nodes(&self) -> Option<u64> {
        let useful = (self.all_cpus() / self.cpus_per_node.max(1)).max(self.min_nodes);
        self.max_nodes.map(|most| if self.all_cpus() > 1 { most.min(useful) } else { most })
    }

    /// Returns true if the job requests several processors on any nodes, for example by `-n 8` alone. In this case,
    /// the minimum number of nodes is 1, and there is no maximum.
    pub fn is_for_any_nodes(&self) -> bool {
        self.min_nodes == 1 && self.max_nodes.is_none() && self.cpus > self.cpus_per_node
    }

    /// Returns the required nodes if the job can get no other nodes. This is the case if the job may have at most
    /// `most` nodes, or if it needs no more nodes. If Slurm adds other nodes, returns an empty list.
    pub fn only_nodes(&self, most: Option<u64>) -> &[String] {
        let listed = self.required.len() as u64;
        let is_enough = || listed >= self.min_nodes && listed.saturating_mul(self.cpus_per_node) >= self.cpus;
        if most.map_or_else(is_enough, |most| listed >= most) { &self.required } else { &[] }
    }

    /// Returns the minimum memory of each node of the job, in bytes.
    pub fn least_memory_on_node(&self) -> u64 {
        match self.memory {
            Memory::PerNode(bytes) => bytes,
            Memory::PerCpu(bytes) => bytes.saturating_mul(self.cpus_per_node),
            Memory::Whole => 0,
        }
    }

    /// Returns true if a node has enough memory for the job when no other job runs. Slurm requires this even if the
    /// cluster does not allocate memory.
    pub fn fits_memory(&self, node: &Node) -> bool {
        node.memory.is_none_or(|memory| self.least_memory_on_node() <= memory)
    }

    /// Reads the request of a job. Also returns warnings about parts that cannot be parsed.
    pub(super) fn of(job: &Job) -> (Self, Vec<String>) {
        let record = &job.record;
        let mut remarks = Vec::new();
        let mut hosts = |keys: [&str; 2]| {
            expand(first(record, keys).unwrap_or_default()).unwrap_or_else(|error| {
                remarks.push(format!("job {}: {}: {error}", job.id, keys[0]));
                Vec::new()
            })
        };
        let (mut required, excluded) =
            (hosts(["ReqNodeList", "required_nodes"]), hosts(["ExcNodeList", "excluded_nodes"]));
        let mut known = HashSet::new();
        required.retain(|name| known.insert(name.clone()));
        let features_text = record.get("Features").unwrap_or_default().to_owned();
        let features = Features::parse(&features_text);
        if features.is_none() && !features_text.is_empty() {
            let problem =
                format!("job {}: its features `{features_text}` cannot be understood and are ignored", job.id);
            remarks.push(problem);
        }
        // The job needs at least all required nodes.
        let min_nodes = job.node_count.0.max(required.len() as u64).max(1);
        let number = |keys| first(record, keys).and_then(|text| text.parse::<u64>().ok());
        let each_task = number(["CPUs/Task", "cpus_per_task"]).unwrap_or(1);
        let request = Self {
            min_nodes,
            max_nodes: max_nodes(record).map(|most| most.max(min_nodes)),
            cpus: job.cpus.unwrap_or(1).max(min_nodes),
            cpus_per_node: number(["MinCPUsNode", "minimum_cpus_per_node"]).unwrap_or(1).max(1),
            cpus_of_tasks_per_node: tasks_per_node(record).map(|tasks| tasks.saturating_mul(each_task.max(1))),
            memory: memory(record),
            gres: generic(record, min_nodes),
            features,
            features_text,
            required,
            excluded,
            tres: tres(record),
            licences: licences(record.get("Licenses").unwrap_or_default()),
            reservation: record.get("Reservation").map(str::to_owned),
            contiguous: is_contiguous(record),
            exclusive: is_exclusive(record),
            min_time: min_time(record),
        };
        (request, remarks)
    }
}

/// Returns the value of a key. The first key is used in the text, and the second key in JSON.
fn first<'a>(record: &'a Record, keys: [&str; 2]) -> Option<&'a str> {
    keys.iter().find_map(|key| record.get(key))
}

/// Returns the maximum number of nodes. In the text, `4-4` states a maximum, and `4` states none. In JSON, 0 means no
/// maximum.
fn max_nodes(record: &Record) -> Option<u64> {
    if let Some(text) = record.get("max_nodes") {
        return text.parse().ok().filter(|&most| most > 0);
    }
    let (_, most) = record.get("NumNodes")?.split_once('-')?;
    most.parse().ok()
}

/// Returns the number of tasks on each node, if the job states this number.
fn tasks_per_node(record: &Record) -> Option<u64> {
    let stated = first(record, ["NtasksPerN:B:S:C", "tasks_per_node"])?;
    let tasks = stated.split(':').next()?.parse().ok()?;
    Some(tasks).filter(|&tasks| tasks > 0)
}

fn tres(record: &Record) -> Vec<(String, u64)> {
    let keys = [["AllocTRES", "tres_alloc_str"], ["ReqTRES", "tres_req_str"], ["TRES", "TRES"]];
    let stated = keys.into_iter().find_map(|keys| first(record, keys).filter(|text| !text.is_empty()));
    super::limits::tres(stated.unwrap_or_default())
}

fn memory(record: &Record) -> Memory {
    let amount = |keys| first(record, keys).and_then(bytes).filter(|&bytes| bytes > 0);
    // If both values are present, use the value per processor, because the job got it as a default.
    amount(["MinMemoryCPU", "memory_per_cpu"]).map_or_else(
        || amount(["MinMemoryNode", "memory_per_node"]).map_or(Memory::Whole, Memory::PerNode),
        Memory::PerCpu,
    )
}

fn generic(record: &Record, nodes: u64) -> Vec<Gres> {
    let (per_node, strange) = Gres::list(first(record, ["TresPerNode", "tres_per_node"]).unwrap_or_default());
    if strange.is_empty() && !per_node.is_empty() {
        return per_node.into_iter().filter(|gres| gres.name != "cpu").collect();
    }
    let total = record.get("ReqTRES").or_else(|| first(record, ["TRES", "tres_req_str"]));
    gres(total, nodes)
}

/// Returns true if the value is 1 in the text, or true in JSON.
fn is_contiguous(record: &Record) -> bool {
    first(record, ["Contiguous", "contiguous"]).is_some_and(|text| matches!(text, "1" | "true"))
}

/// Returns true if no other job may use the nodes. Version 22.05 states this in `OverSubscribe`, later versions in a
/// separate field, and JSON in the list `shared`.
fn is_exclusive(record: &Record) -> bool {
    if let Some(text) = record.raw("Exclusive") {
        return text != "NO" && !text.is_empty();
    }
    if let Some(text) = record.raw("exclusive").or_else(|| record.raw("shared")) {
        return matches!(text, "none" | "NONE" | "0" | "true");
    }
    record.get("OverSubscribe").is_some_and(|text| text == "NO" || text == "EXCLUSIVE")
}

fn min_time(record: &Record) -> Option<u64> {
    let stated = record.get("TimeMin").and_then(duration).and_then(OptionalLimit::value);
    let minutes = || record.get("time_minimum").and_then(|text| text.parse::<u64>().ok()?.checked_mul(60));
    stated.or_else(minutes).filter(|&seconds| seconds > 0)
}

/// Returns the generic resources of one node, if all nodes have an equal part.
pub(super) fn gres(tres: Option<&str>, nodes: u64) -> Vec<Gres> {
    let parts =
        tres.unwrap_or_default().split(',').filter(|part| part.starts_with("gres/")).map(|part| Gres::list(part).0);
    let all: Vec<Gres> = parts.flatten().collect();
    // In addition to the amounts of each kind, the list may contain a total without a kind.
    let has_kind = |name: &str| all.iter().any(|gres| gres.name == name && !gres.kind.is_empty());
    let counted = all.iter().filter(|gres| !gres.kind.is_empty() || !has_kind(&gres.name));
    counted.map(|gres| Gres { count: gres.count.div_ceil(nodes.max(1)), ..gres.clone() }).collect()
}
