//! The remaining amounts over time, of each node and of the platform.

use makespan_core::{Demand, ResourceId, ResourceKind};

use super::begun::RemainingTasks;
use crate::free_time::Rows;
use crate::kernel::packing::machines::PackingMachines;
use crate::kernel::packing::{HeldPart, Packing};

/// An amount held by work outside the instance: its end, its node (`None` if the resource belongs to no node), the
/// resource, and the amount.
type Held = (i64, Option<usize>, ResourceId, u64);

/// The remaining amounts over time.
#[derive(Debug, Default)]
pub(super) struct Calendar {
    /// For each node, the free processors of its cells and then the amounts of its resources. A closed cell has no
    /// free processors.
    pub nodes: Vec<Rows<u64>>,
    /// The licences over time. The row also contains the consumables, with their full amounts.
    licences: Rows<u64>,
    /// The consumables over time. The row also contains the licences, with their full amounts.
    consumables: Rows<u64>,
}

impl Clone for Calendar {
    fn clone(&self) -> Self {
        let mut clone = Self::default();
        clone.clone_from(self);
        clone
    }

    /// Copies `source` into the existing buffers.
    fn clone_from(&mut self, source: &Self) {
        self.nodes.clone_from(&source.nodes);
        self.licences.clone_from(&source.licences);
        self.consumables.clone_from(&source.consumables);
    }
}

impl Calendar {
    /// Returns the amounts from the instant `from` on, before any task is placed.
    pub fn new(machines: &PackingMachines, is_consumable: &[bool], from: i64) -> Self {
        let node = |at: usize| {
            let cells = machines.cells_of(at);
            let mut rows = Rows::new(from, machines.row_of(at).collect(), cells.len());
            for (cell, closed) in
                cells.iter().enumerate().flat_map(|(at, cell)| cell.closed.iter().map(move |c| (at, c)))
            {
                rows.change(closed.0, closed.1, |left| left[cell] = 0);
            }
            rows
        };
        let common = || Rows::new(from, machines.common.clone(), 0);
        let nodes = (0..machines.nodes.len()).map(node).collect();
        let mut calendar = Self { nodes, licences: common(), consumables: common() };
        calendar.hold_for_others(machines, is_consumable, from, &machines.held);
        calendar
    }

    /// Holds the amounts of tasks that have started.
    pub fn begin(&mut self, packing: &Packing<'_>, is_consumable: &[bool], begun: &RemainingTasks) {
        let machines = packing.machines();
        for (processors, until) in &begun.taken {
            for HeldPart { cell, count } in RemainingTasks::parts(packing, processors) {
                let node = machines.node_of(cell);
                let at = (cell - machines.nodes[node].cells.0) as usize;
                self.nodes[node].change(begun.now, *until, |left| left[at] = left[at].saturating_sub(count.into()));
            }
        }
        let position = |node: usize| machines.nodes.iter().position(|own| own.platform == node);
        let held: Vec<_> = begun
            .held
            .iter()
            .filter(|held| held.node.is_none_or(|node| position(node).is_some()))
            .map(|held| (held.until.ticks(), held.node.and_then(position), held.resource, held.amount))
            .collect();
        self.hold_for_others(machines, is_consumable, begun.now, &held);
    }

    /// Marks the amounts held by work outside the instance as taken, by decreasing end. These amounts are estimates,
    /// and their sum may exceed the total of a resource. So each amount is limited to the remaining amount.
    fn hold_for_others(&mut self, machines: &PackingMachines, is_consumable: &[bool], from: i64, held: &[Held]) {
        let mut held: Vec<_> = held.iter().map(|&(until, node, at, amount)| ((node, at), until, amount)).collect();
        held.sort_unstable_by_key(|&(of, until, _)| (of, std::cmp::Reverse(until)));
        for same in held.chunk_by(|a, b| a.0 == b.0) {
            let mut all = 0_u64;
            for &((node, resource), until, amount) in same {
                all = all.saturating_add(amount);
                let (at, there) = machines.place_of(node, resource);
                let rows = match node {
                    Some(node) => &mut self.nodes[node],
                    None if is_consumable[at] => &mut self.consumables,
                    None => &mut self.licences,
                };
                rows.change(from, until, |left| left[at] = there.saturating_sub(all).min(left[at]));
            }
        }
    }

    /// Returns the first instant from `at` to `latest` from which the licences and consumables `asked` are available
    /// for `duration`.
    pub fn earliest_common(&self, at: i64, duration: i64, asked: &Common, latest: i64) -> Option<i64> {
        if !asked.any {
            return Some(at);
        }
        let mut start = at;
        loop {
            let licences = self.licences.earliest(start, duration, latest, |left| covers(left, &asked.licences))?;
            // For consumables, only the present amount matters, because they are never returned.
            let covers = |left: &[u64]| covers(left, &asked.consumables);
            let both = self.consumables.earliest(licences, i64::MAX, latest, covers)?;
            if both == licences {
                return Some(both);
            }
            start = both;
        }
    }

    /// Takes the licences and consumables of a task.
    pub fn take_common(&mut self, from: i64, until: i64, asked: &Common) {
        if asked.any {
            self.licences.change(from, until, |left| take(left, &asked.licences));
            self.consumables.change(from, i64::MAX, |left| take(left, &asked.consumables));
        }
    }

    /// Takes processors of one node, and the amounts of its resources that these processors need.
    pub fn take_on(
        &mut self,
        node: usize,
        first_cell: u32,
        period: (i64, i64),
        parts: &[HeldPart],
        taken: &mut NodeDemand<'_>,
    ) {
        let rows = &mut self.nodes[node];
        taken.row.clear();
        taken.row.resize(rows.width(), 0);
        let cells = taken.row.len() - taken.resources;
        let mut count = 0;
        for part in parts {
            taken.row[(part.cell - first_cell) as usize] = part.count.into();
            count += part.count;
        }
        for demand in taken.demands.iter().filter(|demand| demand.kind == ResourceKind::OfNodes) {
            taken.row[cells + demand.resource.index()] = demand.need.share(count, taken.processors);
        }
        rows.change(period.0, period.1, |left| take(left, taken.row));
    }
}

/// Returns whether each amount in `left` is at least the corresponding amount in `asked`.
#[inline]
pub(super) fn covers(left: &[u64], asked: &[u64]) -> bool {
    left.iter().zip(asked).all(|(left, asked)| left >= asked)
}

fn take(left: &mut [u64], taken: &[u64]) {
    left.iter_mut().zip(taken).for_each(|(left, taken)| *left -= taken);
}

/// A task on a node: its demands, its total number of processors, and a buffer for a row of amounts.
pub(super) struct NodeDemand<'t> {
    pub demands: &'t [Demand],
    pub processors: u32,
    pub resources: usize,
    pub row: &'t mut Vec<u64>,
}

/// The amounts of licences and consumables that a task needs.
#[derive(Clone, Debug, Default)]
pub(super) struct Common {
    licences: Vec<u64>,
    consumables: Vec<u64>,
    any: bool,
}

impl Common {
    /// Computes the amounts of some demands for a number of processors.
    pub fn set(&mut self, machines: &PackingMachines, demands: &[Demand], processors: u32) {
        self.any = false;
        for demand in demands.iter().filter(|demand| demand.kind != ResourceKind::OfNodes) {
            if !self.any {
                self.any = true;
                for asked in [&mut self.licences, &mut self.consumables] {
                    asked.clear();
                    asked.resize(machines.common.len(), 0);
                }
            }
            let of = if demand.kind == ResourceKind::Licence { &mut self.licences } else { &mut self.consumables };
            of[demand.resource.index() - machines.resources] = demand.need.total(processors);
        }
    }
}
