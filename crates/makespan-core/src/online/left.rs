//! Free amounts of resources.

use crate::model::{Demand, Instance, ProcSet, TaskId};
use crate::online::View;

/// Free amounts of every resource, for policies that start several tasks at one instant. The lists are empty if no task
/// needs resources besides processors.
#[derive(Clone, Debug)]
pub struct FreeAmounts<'a> {
    instance: &'a Instance,
    /// The free amounts of the resources of each node.
    nodes: Vec<u64>,
    /// The free amount of each resource that belongs to no node.
    common: Vec<u128>,
}

impl<'a> FreeAmounts<'a> {
    /// Computes the free amounts from the view of a policy.
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

    /// Takes the resources that a task needs on these processors, and returns true. If some of these resources are not
    /// free, takes nothing and returns false.
    pub fn take(&mut self, task: TaskId, processors: &ProcSet) -> bool {
        let demands = self.instance.demands(task);
        if demands.is_empty() {
            return true;
        }
        let platform = self.instance.platform();
        let (parts, allotment) = (platform.parts(processors), processors.len());
        let amounts = || {
            let each = |demand| Demand::amounts(demand, &parts, allotment).map(|one| (demand.resource.index(), one));
            demands.iter().flat_map(each)
        };
        let at = |node: usize, resource: usize| node * platform.node_resources() + resource;
        let is_left = |(resource, (node, amount)): (usize, (Option<usize>, u64))| match node {
            Some(node) => amount <= self.nodes[at(node, resource)],
            None => u128::from(amount) <= self.common[resource],
        };
        if !amounts().all(is_left) {
            return false;
        }
        for (resource, (node, amount)) in amounts() {
            match node {
                Some(node) => self.nodes[at(node, resource)] -= amount,
                None => self.common[resource] -= u128::from(amount),
            }
        }
        true
    }
}
