//! What is left of resources now.

use crate::model::{Instance, ProcSet, ResourceKind, TaskId};
use crate::online::View;

/// What running tasks leave of every resource, for policies that start several tasks at an instant; nothing is counted where no
/// task needs more than processors.
#[derive(Clone, Debug)]
pub struct Left<'a> {
    instance: &'a Instance,
    /// For each node what is left of its resources.
    nodes: Vec<u64>,
    /// For each resource what is left of what belongs to no node.
    common: Vec<u128>,
}

impl<'a> Left<'a> {
    /// What a view shows.
    pub fn of(view: &View<'a>) -> Self {
        let instance = view.instance;
        let mut left = Self { instance, nodes: Vec::new(), common: Vec::new() };
        if !instance.has_demands() {
            return left;
        }
        let platform = instance.platform();
        let ids = || (0..platform.resources().len()).map(|at| crate::model::ResourceId(at as u16));
        let of_nodes = |node| ids().take(platform.node_resources()).map(move |id| platform.amount(node, id));
        left.nodes = (0..platform.node_count()).flat_map(of_nodes).collect();
        left.common = ids().map(|id| platform.total(id)).collect();
        for held in view.held() {
            match held.node {
                Some(node) => left.nodes[node * platform.node_resources() + held.resource.index()] -= held.amount,
                None => left.common[held.resource.index()] -= u128::from(held.amount),
            }
        }
        left
    }

    /// Whether a task has what it needs on these processors.
    pub fn has(&self, task: TaskId, processors: &ProcSet) -> bool {
        let demands = self.instance.demands(task);
        if demands.is_empty() {
            return true;
        }
        let platform = self.instance.platform();
        let (parts, allotment) = (platform.parts(processors), processors.len());
        demands.iter().all(|demand| match demand.kind {
            ResourceKind::OfNodes => parts.iter().all(|&(node, here)| {
                demand.need.share(here, allotment)
                    <= self.nodes[node * platform.node_resources() + demand.resource.index()]
            }),
            _ => u128::from(demand.need.total(allotment)) <= self.common[demand.resource.index()],
        })
    }

    /// Takes what a task needs there if all of it is left; whether it is.
    pub fn take(&mut self, task: TaskId, processors: &ProcSet) -> bool {
        if !self.has(task, processors) {
            return false;
        }
        let demands = self.instance.demands(task);
        if demands.is_empty() {
            return true;
        }
        let platform = self.instance.platform();
        let (parts, allotment) = (platform.parts(processors), processors.len());
        for demand in demands {
            if demand.kind == ResourceKind::OfNodes {
                for &(node, here) in &parts {
                    let at = node * platform.node_resources() + demand.resource.index();
                    self.nodes[at] -= demand.need.share(here, allotment);
                }
            } else {
                self.common[demand.resource.index()] -= u128::from(demand.need.total(allotment));
            }
        }
        true
    }
}
