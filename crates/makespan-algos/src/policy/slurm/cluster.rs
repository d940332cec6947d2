//! Converts a platform and its running tasks for the scheduler.

use makespan_core::{Demand, Instance, NodePlace, ProcSet, ResourceKind, Site, Time};

use crate::kernel::packing::{PackingMachines, ProcessorCell as ProcessorCellOfNode};
use crate::slurm::{ClusterModel, Hold, LimitCounter, ModelNode, NodeBits, ProcessorCell, ReservedPeriod};

/// A minute, the unit of time limits.
pub(super) const MINUTE: i64 = 60 * Time::TICKS_PER_SECOND;

/// The nodes of a platform, which are the sites of a model.
#[derive(Clone, Debug)]
pub(super) struct PlatformNodes {
    machines: PackingMachines,
    /// For each node of the platform, its site. `u32::MAX` for a node without processors, and for a node that the
    /// policy may not use.
    site_of: Vec<u32>,
    /// True if plans reserve processors. False if plans reserve whole nodes.
    only_counts: bool,
}

impl PlatformNodes {
    /// Returns the nodes with processors in `within`, or all nodes if `within` is `None`.
    pub fn new(instance: &Instance, within: Option<&ProcSet>) -> Self {
        let platform = instance.platform();
        let machines = PackingMachines::of_nodes(instance, |node| {
            within.is_none_or(|own| !platform.processors_of(node).is_disjoint(own))
        });
        let mut site_of = vec![u32::MAX; platform.node_count()];
        machines.nodes.iter().enumerate().for_each(|(site, node)| site_of[node.platform] = site as u32);
        let has_rules =
            platform.site().is_some_and(|site| !site.partitions.is_empty() || !site.reservations.is_empty());
        let only_counts = machines.nodes.len() == 1 && !has_rules;
        Self { machines, site_of, only_counts }
    }

    /// Returns the number of sites.
    pub fn len(&self) -> usize {
        self.machines.nodes.len()
    }

    /// Returns the set of the sites of some nodes of the platform.
    pub fn set(&self, nodes: impl Iterator<Item = usize>) -> NodeBits {
        let mut set = NodeBits::new(self.len());
        nodes
            .map(|node| self.site_of[node] as usize)
            .filter(|&site| site < self.len())
            .for_each(|site| set.set(site, true));
        set
    }

    /// Returns the node of a site.
    pub fn node(&self, site: usize) -> usize {
        self.machines.nodes[site].platform
    }

    /// Returns a model of the platform, without jobs. It begins at instant 0.
    pub fn model(&self, instance: &Instance) -> ClusterModel {
        let (machines, platform) = (&self.machines, instance.platform());
        let site = platform.site();
        let reservations = site.map_or(&[][..], |site: &Site| &site.reservations);
        let rules = site.cloned().unwrap_or_default();
        let place = |at: usize| rules.place(self.node(at));
        let mut nodes: Vec<ModelNode> = (0..self.len()).map(|at| self.model_node(at, place(at))).collect();
        for (index, kept) in reservations.iter().enumerate() {
            let period = ReservedPeriod {
                start: kept.start.ticks(),
                end: kept.end.ticks(),
                reservation: Some(index),
                floats: None,
            };
            self.set(kept.nodes.iter().copied()).iter().for_each(|site| nodes[site].closed.push(period));
        }
        let mut model = ClusterModel::new(nodes, (machines.resources, machines.amounts.clone()), 0, MINUTE);
        model.second = i64::from(rules.second) * Time::TICKS_PER_SECOND;
        model.reservations = reservations.iter().map(|kept| (kept.start.ticks(), kept.end.ticks())).collect();
        if self.only_counts {
            let cells = machines.cells_of(0).iter();
            let cells = cells.map(|cell| ProcessorCell { processors: cell.ids.len(), closed: cell.closed.clone() });
            model.cells = cells.collect();
        }
        match site.filter(|site| !site.partitions.is_empty()) {
            None => {
                model.partitions = vec![self.set(0..platform.node_count())];
                model.are_up = vec![true];
            }
            Some(site) => {
                model.partitions = site.partitions.iter().map(|one| self.set(one.nodes.iter().copied())).collect();
                model.are_up = site.partitions.iter().map(|one| one.is_up).collect();
            }
        }
        for &total in &machines.common {
            model.counters.push(LimitCounter::new(total));
        }
        model
    }

    /// Returns a node of the model. If only some processors of the node are closed in a period, the whole node is
    /// closed in this period. If only some processors are closed for ever, they do not exist.
    fn model_node(&self, at: usize, place: NodePlace) -> ModelNode {
        let cells = self.machines.cells_of(at);
        let opens_again = |cell: &&ProcessorCellOfNode| cell.closed.last().is_none_or(|last| last.1 < i64::MAX);
        let is_whole = self.only_counts || !cells.iter().any(|cell| opens_again(&cell));
        let own = || cells.iter().filter(|cell| is_whole || opens_again(cell));
        let mut closed: Vec<ReservedPeriod> = Vec::new();
        for &(start, end) in own().filter(|_| !self.only_counts).flat_map(|cell| &cell.closed) {
            let period = ReservedPeriod { start, end, reservation: None, floats: None };
            if !closed.contains(&period) {
                closed.push(period);
            }
        }
        ModelNode { cpus: own().map(|cell| cell.ids.len()).sum(), memory: 0, grain: 1, place, closed }
    }

    /// Returns true if tasks use up the amount of a counter.
    pub fn is_used_up(&self, instance: &Instance, counter: usize) -> bool {
        let resource = instance.platform().resources().get(self.machines.resources + counter);
        resource.is_some_and(|resource| resource.kind == ResourceKind::Consumable)
    }

    /// Returns the index of the counter of a licence or a consumable.
    pub fn counter(&self, demand: &Demand) -> usize {
        demand.resource.index() - self.machines.resources
    }

    /// Returns the amounts that work outside the instance holds: the end, the site, and the position and the amount of
    /// the resource. If there is no site, the position is the index of a counter.
    pub fn held(&self) -> impl Iterator<Item = (i64, Option<usize>, usize, u64)> {
        let position =
            |node: Option<usize>, index: usize| if node.is_some() { index } else { index - self.machines.resources };
        self.machines
            .held
            .iter()
            .map(move |&(until, node, resource, amount)| (until, node, position(node, resource.index()), amount))
    }

    /// Returns the amounts that a task holds on these processors.
    pub fn holds(&self, instance: &Instance, processors: &ProcSet, demands: &[Demand], exclusive: bool) -> Vec<Hold> {
        let all = processors.len();
        let hold = |(node, own): (usize, u32)| {
            let site = self.site_of[node];
            let of_node = demands.iter().filter(|demand| demand.kind == ResourceKind::OfNodes);
            let gres = of_node.map(|demand| (demand.resource.index() as u16, demand.need.share(own, all)));
            let cells = if self.only_counts {
                self.machines.cells_of(0).iter().map(|cell| cell.ids.intersection(processors).len()).collect()
            } else {
                Vec::new()
            };
            let cpus = if exclusive { self.machines.nodes[site as usize].processors } else { own };
            Hold { site, cpus, own, memory: 0, gres: gres.filter(|share| share.1 > 0).collect(), cells }
        };
        let parts = instance.platform().parts(processors).into_iter();
        parts.filter(|&(node, _)| self.site_of[node] != u32::MAX).map(hold).collect()
    }

    /// Takes the processors of a job that starts now. Removes them from `free`, or returns `None` if `free` does not
    /// contain them.
    pub fn processors(&self, instance: &Instance, holds: &[Hold], free: &mut ProcSet) -> Option<ProcSet> {
        let mut own = ProcSet::new();
        for hold in holds {
            if self.only_counts {
                let parts = self.machines.cells_of(0).iter().zip(&hold.cells).filter(|part| *part.1 > 0);
                for (cell, &count) in parts {
                    own.insert(&cell.ids.intersection(free).take(count)?);
                }
            } else {
                let node = instance.platform().processors_of(self.node(hold.site as usize));
                own.insert(&node.intersection(free).take(hold.own)?);
            }
        }
        free.remove(&own);
        Some(own)
    }
}
