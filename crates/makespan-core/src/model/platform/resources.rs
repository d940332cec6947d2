//! Resources of a platform besides processors.

use std::sync::Arc;

use super::{Platform, PlatformError};
use crate::model::{Demand, Needs, ProcSet, Resource, ResourceId, ResourceKind, Resources};

/// Maximum number of resources of a platform.
const MOST: usize = 1024;

/// The resources of a platform, in the order of their ids, and their amounts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PlatformAmounts {
    /// All resources: first the resources of nodes, then all other resources. Resources of one kind are sorted by
    /// name.
    resources: Vec<Resource>,
    /// Number of resources that belong to nodes.
    of_nodes: usize,
    /// For each stored node, its amounts of the resources of nodes. If the nodes are equal and stored once, there is
    /// one row of amounts.
    amounts: Vec<u64>,
    /// For each resource, its total amount on the platform.
    totals: Vec<u128>,
    licences: Resources,
    consumables: Resources,
}

impl Platform {
    /// Replaces the resources of each node. Every node gets the given amounts.
    ///
    /// # Errors
    /// [`PlatformError`] names a resource that has two kinds.
    ///
    /// ```
    /// use makespan_core::{Platform, Resources};
    ///
    /// let resources = Resources::new([("memory", 64 << 30), ("gpus", 2)])?;
    /// let platform = Platform::cluster(4, 16)?.with_node_resources(&resources)?;
    /// let gpus = platform.resource("gpus").unwrap();
    /// assert_eq!((platform.amount(3, gpus), platform.total(gpus)), (2, 8));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_node_resources(self, resources: &Resources) -> Result<Self, PlatformError> {
        let (licences, consumables) = (self.held.licences.clone(), self.held.consumables.clone());
        let list = self.list.with_resources(resources);
        Self { list, ..self }.counted(licences, consumables)
    }

    /// Sets the licences. Licences belong to no node, so a task on any node can hold them.
    ///
    /// # Errors
    /// [`PlatformError`] names a resource that has two kinds.
    pub fn with_licences(self, licences: Resources) -> Result<Self, PlatformError> {
        let consumables = self.held.consumables.clone();
        self.counted(licences, consumables)
    }

    /// Sets the consumables. An amount that a task has taken is never available again.
    ///
    /// # Errors
    /// [`PlatformError`] names a resource that has two kinds.
    pub fn with_consumables(self, consumables: Resources) -> Result<Self, PlatformError> {
        let licences = self.held.licences.clone();
        self.counted(licences, consumables)
    }

    /// Computes the ids and the totals of all resources again, with these licences and consumables.
    pub(super) fn counted(self, licences: Resources, consumables: Resources) -> Result<Self, PlatformError> {
        let mut names: Vec<&str> =
            self.kinds().flat_map(|(node, _)| node.resources.iter().map(|(name, _)| name)).collect();
        names.sort_unstable();
        names.dedup();
        let of_nodes = names.len();
        if of_nodes > 0 && self.node_count() > Self::MAX_EQUIPPED {
            return Err(PlatformError::TooManyEquipped(self.node_count()));
        }
        let resource = |kind| move |name: &str| Resource { name: name.into(), kind };
        let mut resources: Vec<Resource> = names.into_iter().map(resource(ResourceKind::OfNodes)).collect();
        resources.extend(licences.iter().map(|(name, _)| name).map(resource(ResourceKind::Licence)));
        resources.extend(consumables.iter().map(|(name, _)| name).map(resource(ResourceKind::Consumable)));
        if resources.len() > MOST {
            return Err(PlatformError::TooManyResources(resources.len()));
        }
        let mut sorted: Vec<&str> = resources.iter().map(|resource| &*resource.name).collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(PlatformError::ResourceKinds(pair[0].to_owned()));
        }
        let mut amounts = Vec::new();
        let mut totals = vec![0_u128; of_nodes];
        for (node, count) in self.kinds() {
            for (total, resource) in totals.iter_mut().zip(&resources) {
                let amount = node.resources.amount(&resource.name);
                amounts.push(amount);
                // A switch has no processors. So tasks never run on a switch and cannot use its resources.
                *total += if node.processors > 0 { u128::from(amount) * count as u128 } else { 0 };
            }
        }
        totals.extend(licences.iter().chain(consumables.iter()).map(|(_, amount)| u128::from(amount)));
        let held = Arc::new(PlatformAmounts { resources, of_nodes, amounts, totals, licences, consumables });
        Ok(Self { held, ..self })
    }

    /// Returns the resources in the order of their ids, resources of nodes first.
    pub fn resources(&self) -> &[Resource] {
        &self.held.resources
    }

    /// Returns the number of resources that belong to nodes. These resources have the smallest ids.
    pub fn node_resources(&self) -> usize {
        self.held.of_nodes
    }

    /// Returns the resource with this name. Takes O(resources).
    pub fn resource(&self, name: &str) -> Option<ResourceId> {
        self.held.resources.iter().position(|resource| &*resource.name == name).map(|at| ResourceId(at as u16))
    }

    /// Returns the resource with this id.
    pub fn resource_of(&self, id: ResourceId) -> &Resource {
        &self.held.resources[id.index()]
    }

    /// Returns a node's amount of a resource, or zero if the resource belongs to no node.
    pub fn amount(&self, node: usize, resource: ResourceId) -> u64 {
        let PlatformAmounts { of_nodes, amounts, .. } = &*self.held;
        if resource.index() >= *of_nodes {
            return 0;
        }
        // If equal nodes are stored once, there is only row 0.
        let row = if amounts.len() == *of_nodes { 0 } else { node };
        amounts[row * of_nodes + resource.index()]
    }

    /// Returns the total amount of a resource. If the resource belongs to nodes, the total includes only nodes with
    /// processors.
    pub fn total(&self, resource: ResourceId) -> u128 {
        self.held.totals[resource.index()]
    }

    /// Returns the licences: amounts that belong to no node and that tasks return when they end.
    pub fn licences(&self) -> &Resources {
        &self.held.licences
    }

    /// Returns the consumables: amounts that belong to no node and that tasks use up.
    pub fn consumables(&self) -> &Resources {
        &self.held.consumables
    }

    /// Converts needs, which contain names of resources, to demands, which contain ids of resources.
    ///
    /// # Errors
    /// If a need names a resource that the platform does not have, returns the name.
    pub fn demands(&self, needs: &Needs) -> Result<Box<[Demand]>, String> {
        let demand = |(name, need): (&str, &crate::model::Need)| {
            let resource = self.resource(name).ok_or_else(|| name.to_owned())?;
            Ok(Demand { resource, kind: self.resource_of(resource).kind, need: need.clone() })
        };
        needs.iter().filter(|(_, need)| !need.is_nothing()).map(demand).collect()
    }

    /// Returns the maximum number of processors that a task of `processors` processors can hold on this node, if no
    /// other task uses the resources of the node.
    pub fn room_for(&self, node: usize, demands: &[Demand], processors: u32) -> u32 {
        let most = self.list.processors(node).min(processors);
        let of_nodes = demands.iter().filter(|demand| demand.kind == ResourceKind::OfNodes);
        of_nodes.fold(most, |most, demand| demand.need.fitting(self.amount(node, demand.resource), most, processors))
    }

    /// Returns the nodes of these processors, in order, each with the number of its processors in the set. Ids beyond
    /// the platform are ignored.
    pub fn parts(&self, processors: &ProcSet) -> Vec<(usize, u32)> {
        let mut parts: Vec<(usize, u32)> = Vec::new();
        for &(first, last) in processors.intervals().iter().filter(|interval| interval.0 < self.processors) {
            let last = last.min(self.processors - 1);
            let mut from = first;
            while from <= last {
                let node = self.node_of(from);
                let until = last.min(self.list.first(node) + self.list.processors(node) - 1);
                match parts.last_mut() {
                    Some((same, count)) if *same == node => *count += until - from + 1,
                    _ => parts.push((node, until - from + 1)),
                }
                from = until + 1;
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Need, Node};

    fn resources(amounts: &[(&str, u64)]) -> Resources {
        Resources::new(amounts.iter().copied()).unwrap()
    }

    #[test]
    fn resources_of_nodes_and_of_the_platform_have_ids() {
        let node = |name: &str, amounts: &[(&str, u64)]| Node { resources: resources(amounts), ..Node::new(name, 2) };
        let nodes = vec![node("a", &[("memory", 8)]), node("b", &[("gpus", 1), ("memory", 4)]), Node::new("c", 1)];
        let platform = Platform::new(nodes).unwrap();
        let platform = platform.with_licences(resources(&[("solver", 3)])).unwrap();
        let platform = platform.with_consumables(resources(&[("budget", 9)])).unwrap();
        let names: Vec<&str> = platform.resources().iter().map(|resource| &*resource.name).collect();
        assert_eq!(names, ["gpus", "memory", "solver", "budget"]);
        assert_eq!(platform.node_resources(), 2);
        let amount = |node, name| platform.amount(node, platform.resource(name).unwrap());
        assert_eq!([amount(0, "memory"), amount(1, "memory"), amount(2, "memory")], [8, 4, 0]);
        assert_eq!([amount(1, "gpus"), amount(1, "solver")], [1, 0]);
        let totals =
            ["gpus", "memory", "solver", "budget"].map(|name| platform.total(platform.resource(name).unwrap()));
        assert_eq!(totals, [1, 12, 3, 9]);
        let twice = platform.with_licences(resources(&[("memory", 1)]));
        assert_eq!(twice, Err(PlatformError::ResourceKinds("memory".into())));
    }

    #[test]
    fn equal_nodes_have_equal_resources() {
        let platform = Platform::cluster(3, 4).unwrap().with_node_resources(&resources(&[("memory", 8)])).unwrap();
        let memory = platform.resource("memory").unwrap();
        assert_eq!((platform.amount(2, memory), platform.total(memory)), (8, 24));
        assert_eq!(platform.nodes()[1].resources.amount("memory"), 8);
        let demands = |need| platform.demands(&Needs::new([("memory", need)]).unwrap()).unwrap();
        assert_eq!(platform.room_for(0, &demands(Need::whole(16)), 4), 2);
        assert_eq!(platform.room_for(0, &demands(Need::per_processor(3)), 8), 2);
        assert_eq!(platform.demands(&Needs::new([("gpu", Need::whole(1))]).unwrap()), Err("gpu".into()));
        assert_eq!(platform.parts(&"1-5,11".parse().unwrap()), [(0, 3), (1, 2), (2, 1)]);
    }
}
