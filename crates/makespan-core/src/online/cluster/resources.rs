//! Resources that running tasks hold besides processors.

use rustc_hash::FxHashMap;

use super::Cluster;
use crate::model::{Demand, Instance, ProcSet, ResourceKind, Shortage, TaskId};
use crate::online::Defect;

/// For each resource, the amount that tasks hold or have used up.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldAmounts {
    /// For each node, the held amount of each resource of nodes. The list is empty until a task needs a resource of
    /// nodes.
    nodes: Vec<u64>,
    /// For each licence, the amount that tasks hold; 0 for any other resource.
    platform: Vec<u64>,
    /// For each consumable, the amount that tasks have used up; 0 for any other resource.
    spent: Vec<u64>,
    /// The amounts that each task has used up, each with the position of its resource.
    used_up: FxHashMap<TaskId, Vec<(u16, u64)>>,
}

impl HeldAmounts {
    /// Returns the amount of each resource that has been used up. The list may be empty if nothing has been used up.
    pub fn used_up(&self) -> &[u64] {
        &self.spent
    }

    fn grow(&mut self, instance: &Instance) {
        let platform = instance.platform();
        self.nodes.resize(platform.node_count() * platform.node_resources(), 0);
        self.platform.resize(platform.resources().len(), 0);
        self.spent.resize(platform.resources().len(), 0);
    }

    /// Calls `take` with each amount that a demand takes for a task on these processors, and with the node of the
    /// amount.
    fn each(instance: &Instance, demand: &Demand, processors: &ProcSet, mut take: impl FnMut(Option<usize>, u64)) {
        let allotment = processors.len();
        if demand.kind == ResourceKind::OfNodes {
            for (node, here) in instance.platform().parts(processors) {
                take(Some(node), demand.need.share(here, allotment));
            }
        } else {
            take(None, demand.need.total(allotment));
        }
    }

    fn take(&mut self, instance: &Instance, task: TaskId, processors: &ProcSet) {
        let demands = instance.demands(task);
        if demands.is_empty() {
            return;
        }
        self.grow(instance);
        let row = instance.platform().node_resources();
        let mut used_up = Vec::new();
        for demand in demands {
            let resource = demand.resource;
            Self::each(instance, demand, processors, |node, amount| match node {
                Some(node) => self.nodes[node * row + resource.index()] += amount,
                None if demand.kind == ResourceKind::Consumable => {
                    self.spent[resource.index()] += amount;
                    used_up.push((resource.0, amount));
                }
                None => self.platform[resource.index()] += amount,
            });
        }
        if !used_up.is_empty() {
            self.used_up.insert(task, used_up);
        }
    }

    /// Releases the resources of a task. Consumables remain used up.
    pub fn give_back(&mut self, instance: &Instance, task: TaskId, processors: &ProcSet) {
        let row = instance.platform().node_resources();
        for demand in instance.demands(task) {
            let resource = demand.resource.index();
            Self::each(instance, demand, processors, |node, amount| match node {
                Some(node) => self.nodes[node * row + resource] -= amount,
                None if demand.kind == ResourceKind::Licence => self.platform[resource] -= amount,
                None => {}
            });
        }
    }

    /// Returns the consumables of an interrupted task. When the task restarts, the consumables are taken again.
    pub fn forget(&mut self, task: TaskId) {
        for (resource, amount) in self.used_up.remove(&task).into_iter().flatten() {
            self.spent[resource as usize] -= amount;
        }
    }
}

impl Cluster<'_> {
    /// Returns an error if a node of these processors has too little of a resource that the task needs, or if too few
    /// licences or consumables are left.
    pub(super) fn check_resources(&mut self, task: TaskId, processors: &ProcSet) -> Result<(), Defect> {
        let instance = &self.instance;
        let demands = instance.demands(task);
        if demands.is_empty() {
            return Ok(());
        }
        self.held.grow(instance);
        let platform = instance.platform();
        let row = platform.node_resources();
        for demand in demands {
            let resource = demand.resource;
            let mut short = None;
            HeldAmounts::each(instance, demand, processors, |node, needs| {
                let (held, there) = match node {
                    Some(node) => {
                        (self.held.nodes[node * row + resource.index()], u128::from(platform.amount(node, resource)))
                    }
                    None => {
                        let at = resource.index();
                        (self.held.platform[at] + self.held.spent[at], platform.total(resource))
                    }
                };
                if u128::from(held) + u128::from(needs) > there {
                    short.get_or_insert((node, needs, held, u64::try_from(there).unwrap_or(u64::MAX)));
                }
            });
            if let Some((node, needs, held, there)) = short {
                return Err(Defect::Resource(Box::new(Shortage {
                    job: instance.name(task).into_owned(),
                    resource: platform.resource_of(resource).clone(),
                    node: node.map(|node| platform.nodes()[node].name.clone()),
                    at: self.now,
                    needs,
                    held,
                    there,
                })));
            }
        }
        Ok(())
    }

    /// Counts the consumables of a task that ran on these processors before this cluster was created.
    pub fn has_used_up(&mut self, task: TaskId, processors: &ProcSet) {
        self.held.forget(task);
        self.held.take(&self.instance, task, processors);
        self.held.give_back(&self.instance, task, processors);
    }

    pub(super) fn take_resources(&mut self, task: TaskId, processors: &ProcSet) {
        self.held.take(&self.instance, task, processors);
    }
}
