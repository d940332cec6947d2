//! The resources that a running job holds on each node.

use std::collections::HashMap;

use serde_json::Value;

use super::request::gres;
use crate::text::Gres;
use crate::{Job, Node};

/// The resources held on one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeHolding {
    /// The index of the node in the queue.
    pub node: usize,
    /// Number of processors.
    pub cpus: u32,
    /// Memory in bytes.
    pub memory: u64,
    /// Generic resources of the job on this node.
    pub gres: Vec<Gres>,
}

/// Returns the resources of a job on each node, and the names of unknown nodes. The source is `scontrol show -d job`,
/// or `job_resources` in JSON. If neither states the resources, every node gets an equal part.
pub(super) fn holdings(job: &Job, nodes: &HashMap<&str, usize>) -> (Vec<NodeHolding>, Vec<String>) {
    let mut held = of_shares(job);
    if held.is_empty() {
        held = job.record.raw("job_resources").map(of_json).unwrap_or_default();
        complete(&mut held, job);
    }
    if held.is_empty() {
        held = in_equal_parts(job);
    }
    let (mut holds, mut strange) = (Vec::new(), Vec::new());
    for (name, holding) in held {
        match nodes.get(name.as_str()) {
            Some(&node) => holds.push(NodeHolding { node, ..holding }),
            None => strange.push(name),
        }
    }
    holds.sort_by_key(|holding| holding.node);
    (holds, strange)
}

fn of_shares(job: &Job) -> Vec<(String, NodeHolding)> {
    let of = |share: &crate::Share| {
        let holding = NodeHolding { node: 0, cpus: share.cpus.len(), memory: share.memory, gres: share.gres.clone() };
        share.nodes.iter().map(move |name| (name.clone(), holding.clone())).collect::<Vec<_>>()
    };
    job.shares.iter().flat_map(of).collect()
}

/// Parses `job_resources`. Versions 22.05 to 23.11 have a list `allocated_nodes` with the cores of each node. Later
/// versions have `nodes.allocation` with counts.
fn of_json(text: &str) -> Vec<(String, NodeHolding)> {
    let Ok(document) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let nodes =
        document.get("allocated_nodes").or_else(|| document.get("nodes").and_then(|nodes| nodes.get("allocation")));
    let one = |node: &Value| {
        let name = node.get("nodename").or_else(|| node.get("name"))?.as_str()?.to_owned();
        let count = node.get("cpus").and_then(|cpus| cpus.get("count")).and_then(number);
        let cpus = count.or_else(|| node.get("cpus_used").and_then(number)).filter(|&cpus| cpus > 0);
        let memory =
            node.get("memory").and_then(|memory| memory.get("allocated")).or_else(|| node.get("memory_allocated"));
        let memory = memory.and_then(number).unwrap_or(0).saturating_mul(1 << 20);
        let cpus = cpus.unwrap_or_else(|| cores(node)).min(u64::from(u32::MAX)) as u32;
        Some((name, NodeHolding { node: 0, cpus, memory, gres: Vec::new() }))
    };
    nodes.and_then(Value::as_array).map(|nodes| nodes.iter().filter_map(one).collect()).unwrap_or_default()
}

/// Adds resources that `job_resources` does not contain. These are generic resources, from `gres_detail`. For version
/// 22.05, they are also the processors of nodes that the job holds completely.
fn complete(held: &mut [(String, NodeHolding)], job: &Job) {
    let parts = in_equal_parts(job);
    let own = |name: &String| parts.iter().find(|part| part.0 == *name).map(|part| &part.1);
    let has_all = held.iter().map(|one| u64::from(one.1.cpus)).sum::<u64>() >= allocated_cpus(job);
    let details: Option<Vec<String>> = job.record.raw("gres_detail").and_then(|text| serde_json::from_str(text).ok());
    let details = details.filter(|details| details.len() == held.len());
    for (index, (name, holding)) in held.iter_mut().enumerate() {
        if let Some(part) = own(name).filter(|_| !has_all) {
            holding.cpus = holding.cpus.max(part.cpus);
        }
        holding.gres = match &details {
            Some(details) => Gres::list(&details[index]).0,
            None => own(name).map(|part| part.gres.clone()).unwrap_or_default(),
        };
    }
}

/// Parses a number that is bare, a text, or `{set, infinite, number}`.
fn number(value: &Value) -> Option<u64> {
    crate::cluster::plain(value).parse().ok()
}

/// Returns the number of cores in the list of a node's sockets. `sockets` is a list, or an object with numbers as
/// keys.
fn cores(node: &Value) -> u64 {
    let of = |socket: &Value| socket.get("cores").map_or(0, length);
    match node.get("sockets") {
        Some(Value::Object(sockets)) => sockets.values().map(of).sum(),
        Some(Value::Array(sockets)) => sockets.iter().map(of).sum(),
        _ => 0,
    }
}

fn length(value: &Value) -> u64 {
    value.as_object().map(serde_json::Map::len).or_else(|| value.as_array().map(Vec::len)).unwrap_or(0) as u64
}

fn in_equal_parts(job: &Job) -> Vec<(String, NodeHolding)> {
    let nodes = job.nodes.len().max(1) as u64;
    let memory = allocated(job, "mem").and_then(crate::text::bytes).unwrap_or(0) / nodes;
    let cpus = job.cpus.unwrap_or(0).max(allocated_cpus(job));
    let part = |(index, name): (usize, &String)| {
        let more = u64::from((index as u64) < cpus % nodes);
        let cpus = (cpus / nodes + more).min(u64::from(u32::MAX)) as u32;
        (name.clone(), NodeHolding { node: 0, cpus, memory, gres: gres(tres(job), nodes) })
    };
    job.nodes.iter().enumerate().map(part).collect()
}

/// Returns the allocated resources of a job in Slurm's notation.
fn tres(job: &Job) -> Option<&str> {
    job.record.get("AllocTRES").or_else(|| job.record.get("tres_alloc_str")).or_else(|| job.record.get("TRES"))
}

fn allocated<'a>(job: &'a Job, name: &str) -> Option<&'a str> {
    tres(job)?.split(',').find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
}

fn allocated_cpus(job: &Job) -> u64 {
    allocated(job, "cpu").and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// Returns the resources that nodes report as held and that no visible job holds.
pub(super) fn hidden<'a>(nodes: &[Node], seen: impl Iterator<Item = &'a NodeHolding>) -> Vec<NodeHolding> {
    let mut known = vec![(0_u64, 0_u64); nodes.len()];
    for holding in seen {
        known[holding.node].0 += u64::from(holding.cpus);
        known[holding.node].1 = known[holding.node].1.saturating_add(holding.memory);
    }
    let rest = |(node, (cpus, memory)): (usize, (u64, u64))| {
        let cpus = u64::from(nodes[node].allocated_cpus).saturating_sub(cpus) as u32;
        let memory = nodes[node].allocated_memory.saturating_sub(memory);
        (cpus > 0).then_some(NodeHolding { node, cpus, memory, gres: Vec::new() })
    };
    known.into_iter().enumerate().filter_map(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the formats of 22.05, of 23.11, and of 24.05. The format of 24.05 also lists cores that the job does not
    /// hold.
    #[test]
    fn what_a_job_holds_is_read_from_the_json_of_every_version() {
        let older = |sockets: &str| {
            format!(
                r#"{{"nodes": "c2", "allocated_cores": 3, "allocated_cpus": 0, "allocated_hosts": 1, "allocated_nodes":
                [{{"nodename": "c2", "cpus_used": 0, "memory_used": 0, "memory_allocated": 9000, "sockets": {sockets}}}]}}"#
            )
        };
        let newer = r#"{"select_type": ["CORE"], "cpus": 3, "threads_per_core": {"set": false, "infinite": false, "number": 0},
            "nodes": {"count": 1, "list": "c2", "whole": false, "select_type": ["ONE_ROW"], "allocation": [{"index": 0, "name": "c2",
            "cpus": {"count": 3, "used": 0}, "memory": {"used": 0, "allocated": 9000}, "sockets": [{"index": 0, "cores":
            [{"index": 0, "status": ["ALLOCATED"]}, {"index": 1, "status": ["UNALLOCATED"]}]}]}]}}"#;
        let texts = [
            older(r#"{"0": {"cores": {"4": "allocated", "8": "allocated"}}, "1": {"cores": {"0": "allocated"}}}"#),
            older(r#"[{"cores": {"4": "allocated", "8": "allocated", "9": "allocated"}}]"#),
            newer.to_owned(),
        ];
        for text in texts {
            let holding = NodeHolding { node: 0, cpus: 3, memory: 9000 << 20, gres: Vec::new() };
            assert_eq!(of_json(&text), [("c2".to_owned(), holding)], "{text}");
        }
        for none in ["", "null", "{}", r#"{"nodes": {"count": 0}}"#] {
            assert_eq!(of_json(none), [], "{none}");
        }
    }
}
