//! What a job asks for.

use std::collections::HashSet;

use crate::text::{Gres, Record, bytes, duration, expand};
use crate::{Job, Limit};

use super::Features;
use super::holding::gres;
use super::reservation::licences;

/// How much memory a job asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Bytes for each processor.
    PerCpu(u64),
    /// Bytes on each node.
    PerNode(u64),
    /// All that a node has.
    Whole,
}

/// What a job asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Nodes at least.
    pub min_nodes: u64,
    /// Nodes at most, if the job says so.
    pub max_nodes: Option<u64>,
    /// Processors, on all nodes together.
    pub cpus: u64,
    /// Processors on each node at least.
    pub cpus_per_node: u64,
    /// Memory.
    pub memory: Memory,
    /// Generic resources on each node.
    pub gres: Vec<Gres>,
    /// Features of its nodes.
    pub features: Option<Features>,
    /// The same as it was written.
    pub features_text: String,
    /// Nodes that it has to have, each once.
    pub required: Vec<String>,
    /// Nodes that it does not want.
    pub excluded: Vec<String>,
    /// All of it as Slurm counts it, or what it holds (`cpu`, `node`, `billing`, `gres/gpu`; `mem` in MiB).
    pub tres: Vec<(String, u64)>,
    /// Licences, from when it starts to when it ends.
    pub licences: Vec<(String, u64)>,
    /// The reservation in which it is to run.
    pub reservation: Option<String>,
    /// Whether its nodes are to stand side by side (`--contiguous`).
    pub contiguous: bool,
    /// Whether its nodes are to be its own.
    pub exclusive: bool,
    /// Seconds that it will do with, if its user says so (`--time-min`).
    pub min_time: Option<u64>,
}

impl Request {
    /// Whether it asks for several processors wherever they are (`-n 8` alone): then the least number of nodes is one, and no most is
    /// stated.
    pub fn is_for_any_nodes(&self) -> bool {
        self.min_nodes == 1 && self.max_nodes.is_none() && self.cpus > self.cpus_per_node
    }

    /// The only nodes that it may have, if there may be `most`: those that it has to have, where it may have no more or needs no more. Slurm
    /// adds others to them otherwise, as many as are needed; then it is none.
    pub fn only_nodes(&self, most: Option<u64>) -> &[String] {
        let listed = self.required.len() as u64;
        let is_enough = || listed >= self.min_nodes && listed.saturating_mul(self.cpus_per_node) >= self.cpus;
        if most.map_or_else(is_enough, |most| listed >= most) { &self.required } else { &[] }
    }

    /// Reads what a job asks for, with what could not be understood in sentences.
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
                format!("job {}: its features `{features_text}` cannot be understood and are left out", job.id);
            remarks.push(problem);
        }
        // All that are listed are given.
        let min_nodes = job.node_count.0.max(required.len() as u64).max(1);
        let number = |keys| first(record, keys).and_then(|text| text.parse::<u64>().ok());
        let request = Self {
            min_nodes,
            max_nodes: max_nodes(record).map(|most| most.max(min_nodes)),
            cpus: job.cpus.unwrap_or(1).max(min_nodes),
            cpus_per_node: number(["MinCPUsNode", "minimum_cpus_per_node"]).unwrap_or(1).max(1),
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

/// The value of the key of the text, or of that of the JSON.
fn first<'a>(record: &'a Record, keys: [&str; 2]) -> Option<&'a str> {
    keys.iter().find_map(|key| record.get(key))
}

/// The text writes `4-4` where the job states a maximum, and `4` where it does not; in JSON 0 is none.
fn max_nodes(record: &Record) -> Option<u64> {
    if let Some(text) = record.get("max_nodes") {
        return text.parse().ok().filter(|&most| most > 0);
    }
    let (_, most) = record.get("NumNodes")?.split_once('-')?;
    most.parse().ok()
}

fn tres(record: &Record) -> Vec<(String, u64)> {
    let keys = [["AllocTRES", "tres_alloc_str"], ["ReqTRES", "tres_req_str"], ["TRES", "TRES"]];
    let stated = keys.into_iter().find_map(|keys| first(record, keys).filter(|text| !text.is_empty()));
    super::limits::tres(stated.unwrap_or_default())
}

fn memory(record: &Record) -> Memory {
    let amount = |keys| first(record, keys).and_then(bytes).filter(|&bytes| bytes > 0);
    // The least of each, where both stand there, is what it was given by default.
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

/// 1 in the text, and true in JSON.
fn is_contiguous(record: &Record) -> bool {
    first(record, ["Contiguous", "contiguous"]).is_some_and(|text| matches!(text, "1" | "true"))
}

/// 22.05 says so by `OverSubscribe` alone; later versions have a word of their own, and JSON has a list `shared`.
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
    let stated = record.get("TimeMin").and_then(duration).and_then(Limit::value);
    let minutes = || record.get("time_minimum").and_then(|text| text.parse::<u64>().ok()?.checked_mul(60));
    stated.or_else(minutes).filter(|&seconds| seconds > 0)
}
