//! Resources of nodes other than processors.

use std::collections::{BTreeMap, BTreeSet};

use makespan_core::{Resource, ResourceError, Resources};

use crate::{Gres, Node, Share};

/// Names of generic resources that are parts of GPUs.
const PARTS_OF_GPUS: [&str; 2] = ["mps", "shard"];

/// Returns the resources of a node: the memory, the GPUs (of all types together) and all other generic resources. If
/// `share` is set, returns the share of a job instead.
pub(super) fn resources(node: &Node, share: Option<&Share>) -> Result<Resources, ResourceError> {
    let mut amounts: BTreeMap<String, u64> = BTreeMap::new();
    // If a cluster does not allocate memory, it reports 0 bytes for each job. In this case, a job can use all memory.
    let held = share.map(|share| share.memory).filter(|&memory| memory > 0);
    let all = node.memory.map(|memory| memory.saturating_sub(node.kept_memory));
    if let Some(memory) = held.or(all) {
        amounts.insert(Resource::MEMORY.to_owned(), memory);
    }
    let counted = |gres: &&Gres| !gres.shared && gres.count > 0 && !PARTS_OF_GPUS.contains(&gres.name.as_str());
    for gres in share.map_or(&node.gres, |share| &share.gres).iter().filter(counted) {
        let name = match gres.name.as_str() {
            Gres::GPU => Resource::GPUS.to_owned(),
            // These names have a special meaning in a platform, so prefix them.
            taken @ (Resource::MEMORY | Resource::GPUS) => format!("gres/{taken}"),
            name => name.to_owned(),
        };
        let amount = amounts.entry(name).or_default();
        *amount = amount.saturating_add(gres.count);
    }
    Resources::new(amounts)
}

/// Returns warnings about properties of nodes that a platform cannot express.
pub(super) fn remarks<'a>(nodes: impl Iterator<Item = (&'a Node, Option<&'a Share>)>) -> Vec<String> {
    let (mut kinds, mut parts, mut shared) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut without_memory = 0_usize;
    for (node, share) in nodes {
        without_memory += usize::from(node.memory.is_none() && share.is_none_or(|share| share.memory == 0));
        for gres in share.map_or(&node.gres, |share| &share.gres) {
            match gres.name.as_str() {
                name if gres.shared => drop(shared.insert(name)),
                Gres::GPU => drop(kinds.insert(gres.kind.as_str())),
                name if PARTS_OF_GPUS.contains(&name) => drop(parts.insert(name)),
                _ => {}
            }
        }
    }
    let list = |names: BTreeSet<&str>| names.into_iter().collect::<Vec<_>>().join(", ");
    let mut remarks = Vec::new();
    if kinds.len() > 1 {
        remarks.push(format!("GPUs of all types are treated as one resource, `gpus`: {}", list(kinds)));
    }
    if !parts.is_empty() {
        remarks.push(format!("parts of GPUs are not planned: {}", list(parts)));
    }
    if !shared.is_empty() {
        remarks.push(format!("resources that all jobs share are not planned: {}", list(shared)));
    }
    if without_memory > 0 {
        remarks.push(format!(
            "the cluster does not state the memory of {without_memory} nodes; tasks that need memory cannot run on \
             these nodes"
        ));
    }
    remarks
}
