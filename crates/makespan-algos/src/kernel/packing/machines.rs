//! The nodes by speed, with their processors and the amounts of all resources. The processors of a node are grouped by
//! the times at which they are closed.

use makespan_core::{Demand, Instance, NodeClasses, ProcSet, ResourceId, ResourceKind, TaskId, Time};

use crate::kernel::graph::TransferTimes;

/// A node with processors.
#[derive(Clone, Debug)]
pub(crate) struct PackingNode {
    /// The index of the node in the platform.
    pub platform: usize,
    pub processors: u32,
    /// The range of the cells of the node. A cell is a group of processors ([`ProcessorCell`]).
    pub cells: (u32, u32),
}

/// A cell: processors of one node that are closed at the same times.
#[derive(Clone, Debug)]
pub(crate) struct ProcessorCell {
    pub ids: ProcSet,
    pub closed: Vec<(i64, i64)>,
}

/// The nodes and resources of an instance.
#[derive(Clone, Debug)]
pub(crate) struct PackingMachines {
    /// The nodes by decreasing speed, and then in the order of the platform.
    pub nodes: Vec<PackingNode>,
    pub cells: Vec<ProcessorCell>,
    /// The distinct speeds in decreasing order, each with the number of nodes that are at least as fast.
    pub classes: Vec<(f64, usize)>,
    /// Number of resources that belong to nodes.
    pub resources: usize,
    /// The amount of each resource of each node.
    pub amounts: Vec<u64>,
    /// The amounts of all licences and consumables.
    pub common: Vec<u64>,
    pub always_open: bool,
    pub compact: bool,
    /// The amounts held by work outside the instance. Each entry is the end, the node (`None` if the resource belongs
    /// to no node), the resource, and the amount.
    pub held: Vec<(i64, Option<usize>, ResourceId, u64)>,
    /// Transfer times between nodes, or `None` if transfers take no time.
    pub transfers: Option<TransferTimes>,
    /// The node of each cell.
    node_of: Vec<u32>,
    /// The class of speeds of each node.
    class_of: Vec<u32>,
    /// For each node, the sum of its shares of all resources, in thousandths of the total amounts.
    wealth: Vec<u64>,
    kinds: NodeClasses,
}

impl PackingMachines {
    pub fn new(instance: &Instance) -> Self {
        Self::of_nodes(instance, |_| true)
    }

    /// Returns the nodes that `has` accepts, with their resources.
    pub fn of_nodes(instance: &Instance, has: impl Fn(usize) -> bool) -> Self {
        let platform = instance.platform();
        let all = platform.nodes();
        let mut by_speed: Vec<usize> = (0..all.len()).filter(|&node| all[node].processors > 0 && has(node)).collect();
        by_speed.sort_by(|&a, &b| all[b].speed.total_cmp(&all[a].speed));
        let (mut nodes, mut cells): (Vec<PackingNode>, Vec<ProcessorCell>) =
            (Vec::with_capacity(by_speed.len()), Vec::new());
        let resources = platform.node_resources();
        let mut amounts = Vec::with_capacity(by_speed.len() * resources);
        let mut classes: Vec<(f64, usize)> = Vec::new();
        for node in by_speed {
            let begin = cells.len() as u32;
            cells.extend(cells_of(instance, node));
            if classes.last().is_none_or(|last| last.0 > all[node].speed) {
                classes.push((all[node].speed, 0));
            }
            classes.last_mut().expect("one was pushed").1 = nodes.len() + 1;
            amounts.extend((0..resources).map(|at| platform.amount(node, ResourceId(at as u16))));
            let processors = all[node].processors;
            nodes.push(PackingNode { platform: node, processors, cells: (begin, cells.len() as u32) });
        }
        let mut position = vec![usize::MAX; all.len()];
        nodes.iter().enumerate().for_each(|(at, node)| position[node.platform] = at);
        let is_own = |node: Option<usize>| node.is_none_or(|node| position[node] < usize::MAX);
        let held = instance
            .held()
            .iter()
            .filter(|held| is_own(held.node))
            .map(|held| (held.until.ticks(), held.node.map(|node| position[node]), held.resource, held.amount));
        let held = held.collect();
        let order: Vec<usize> = nodes.iter().map(|node| node.platform).collect();
        let transfers = instance.has_transfers().then(|| TransferTimes::new(platform, &order, instance.edges()));
        let own =
            |(at, node): (usize, &PackingNode)| std::iter::repeat_n(at as u32, (node.cells.1 - node.cells.0) as usize);
        let node_of = nodes.iter().enumerate().flat_map(own).collect();
        let class = |node: usize| classes.partition_point(|class: &(f64, usize)| class.1 <= node) as u32;
        let class_of = (0..nodes.len()).map(class).collect();
        let totals: Vec<u128> = (0..resources).map(|at| platform.total(ResourceId(at as u16)).max(1)).collect();
        let share = |(&amount, total): (&u64, &u128)| (u128::from(amount) * 1000 / total) as u64;
        let wealth = |node: usize| amounts[node * resources..][..resources].iter().zip(&totals).map(share).sum();
        let wealth = (0..nodes.len()).map(wealth).collect();
        let common = (resources..platform.resources().len()).map(|at| platform.total(ResourceId(at as u16)));
        Self {
            nodes,
            cells,
            classes,
            resources,
            amounts,
            common: common.map(|total| u64::try_from(total).unwrap_or(u64::MAX)).collect(),
            always_open: instance.availability().is_always_open(),
            compact: platform.restricts_placement(),
            held,
            transfers,
            node_of,
            class_of,
            wealth,
            kinds: NodeClasses::new(platform),
        }
    }

    /// Returns the amount of a licence or consumable that is finally available: the total, minus the amounts that are
    /// used by work outside the instance and are never returned.
    pub fn ever_left(&self, resource: ResourceId) -> u64 {
        let kept = self.held.iter().filter(|held| held.0 == i64::MAX && held.1.is_none() && held.2 == resource);
        kept.fold(self.common[resource.index() - self.resources], |left, held| left.saturating_sub(held.3))
    }

    /// Returns whether all nodes are equally fast and always open, and best placement is not required.
    pub fn are_plain(&self) -> bool {
        self.always_open && self.classes.len() == 1 && !self.compact
    }

    /// Returns the cells of a node.
    pub fn cells_of(&self, node: usize) -> &[ProcessorCell] {
        let (first, end) = self.nodes[node].cells;
        &self.cells[first as usize..end as usize]
    }

    /// Returns the amounts of a node: the number of processors of each cell, followed by the amount of each resource.
    pub fn row_of(&self, node: usize) -> impl Iterator<Item = u64> {
        let free = self.cells_of(node).iter().map(|cell| u64::from(cell.ids.len()));
        free.chain(self.amounts[node * self.resources..][..self.resources].iter().copied())
    }

    /// Returns the position of a resource in the row of its node, and its amount. For a resource that belongs to no
    /// node, `node` is `None`, and the position is in the row of these resources.
    pub fn place_of(&self, node: Option<usize>, resource: ResourceId) -> (usize, u64) {
        if let Some(node) = node {
            let amount = self.amounts[node * self.resources + resource.index()];
            return (self.cells_of(node).len() + resource.index(), amount);
        }
        let at = resource.index() - self.resources;
        (at, self.common[at])
    }

    /// Returns the node of a cell.
    pub fn node_of(&self, cell: u32) -> usize {
        self.node_of[cell as usize] as usize
    }

    /// Returns the class of speeds of a node.
    pub(super) fn class_of(&self, node: usize) -> usize {
        self.class_of[node] as usize
    }

    /// Returns a measure of the resources of a node. For each resource that tasks may need, take the node's share of
    /// the total amount, in thousandths. The measure is the sum of these shares.
    pub(super) fn wealth(&self, node: usize) -> u64 {
        self.wealth[node]
    }

    /// Returns whether a task on this number of processors fits on the empty platform within its walltime. Amounts that
    /// are used by work outside the instance and are never returned are unavailable.
    pub(super) fn have_room(&self, instance: &Instance, task: TaskId, processors: u32) -> bool {
        let enough = |demand: &Demand| {
            demand.kind == ResourceKind::OfNodes || demand.need.total(processors) <= self.ever_left(demand.resource)
        };
        instance.demands(task).iter().all(enough) && self.kinds.have_room(instance, task, processors)
    }

    /// Converts a time at speed 1 to the time on processors of a class of speeds.
    pub fn slowed(&self, time: i64, class: usize) -> i64 {
        let speed = self.classes[class].0;
        // A speed of exactly 1 changes nothing.
        if speed.to_bits() == 1.0_f64.to_bits() { time } else { Time::from_ticks(time).divided_by(speed).ticks() }
    }
}

/// Splits the processors of a node into cells.
fn cells_of(instance: &Instance, node: usize) -> Vec<ProcessorCell> {
    let own = instance.platform().processors_of(node);
    let ticks = |closed: &[(Time, Time)]| closed.iter().map(|&(from, until)| (from.ticks(), until.ticks())).collect();
    let classes = instance.availability().classes();
    if let [class] = classes {
        return vec![ProcessorCell { ids: own, closed: ticks(&class.closed) }];
    }
    let cell = |class: &makespan_core::availability::Class| {
        let ids = own.intersection(&class.processors);
        (!ids.is_empty()).then(|| ProcessorCell { ids, closed: ticks(&class.closed) })
    };
    classes.iter().filter_map(cell).collect()
}
