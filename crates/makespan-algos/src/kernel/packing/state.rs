//! The free processors and remaining amounts of nodes at an instant. Starts and ends of tasks change them.

use std::ops::Range;

use makespan_core::{Demand, ResourceKind};

use super::levels::Levels;
use super::machines::PackingMachines;

/// The free processors and remaining amounts at an instant.
#[derive(Clone, Debug, Default)]
pub(crate) struct PackingState {
    pub now: i64,
    /// For each cell, the number of its processors that no task holds. Closed processors are included.
    pub free: Vec<u32>,
    /// The remaining amount of each resource of each node.
    pub left: Vec<u64>,
    /// The remaining amounts of licences and consumables.
    pub common: Vec<u64>,
    /// For each cell, the index of the first closed period that has not ended.
    pub period: Vec<u32>,
    /// Number of all free processors.
    pub total: u32,
    /// The nodes by number of free processors. The levels are used only if all nodes are equally fast and always open,
    /// and best placement is not required.
    pub(super) levels: Levels,
    /// The amounts held by work outside the instance: each resource of each node, then licences and consumables.
    others: Vec<u128>,
}

/// Processors of one cell that a task holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeldPart {
    pub cell: u32,
    pub count: u32,
}

impl PackingState {
    /// Sets the state at the instant `now` if no task runs.
    pub fn reset(&mut self, machines: &PackingMachines, now: i64) {
        self.now = now;
        self.free.clear();
        self.free.extend(machines.cells.iter().map(|cell| cell.ids.len()));
        self.total = self.free.iter().sum();
        if machines.are_plain() {
            self.levels.reset(self.free.iter().copied().max().unwrap_or(0), &self.free);
        } else {
            self.levels.clear();
        }
        self.left.clone_from(&machines.amounts);
        self.common.clone_from(&machines.common);
        self.others.clear();
        self.others.resize(machines.amounts.len() + machines.common.len(), 0);
        machines
            .held
            .iter()
            .enumerate()
            .filter(|(_, held)| held.0 > now)
            .for_each(|(at, _)| self.change_held(machines, at, false));
        self.period.clear();
        self.period.resize(machines.cells.len(), 0);
        self.advance(machines, now);
    }

    /// Holds an amount for work outside the instance, or releases the amount.
    pub fn change_held(&mut self, machines: &PackingMachines, at: usize, back: bool) {
        let (_, node, resource, amount) = machines.held[at];
        let (there, left, place) = match node {
            Some(node) => {
                let at = node * machines.resources + resource.index();
                (machines.amounts[at], &mut self.left[at], at)
            }
            None => {
                let at = resource.index() - machines.resources;
                (machines.common[at], &mut self.common[at], machines.amounts.len() + at)
            }
        };
        // The sum of the held amounts may exceed the total. The amounts are estimates and are not all held at the same
        // time.
        let own = |others: u128| u64::try_from(u128::from(there).saturating_sub(others)).unwrap_or(there);
        let others = &mut self.others[place];
        let taken = own(*others).saturating_sub(*left);
        *others = if back { *others - u128::from(amount) } else { *others + u128::from(amount) };
        *left = own(*others).saturating_sub(taken);
    }

    /// Advances to an instant.
    pub fn advance(&mut self, machines: &PackingMachines, now: i64) {
        self.now = now;
        if machines.always_open {
            return;
        }
        for (cell, period) in machines.cells.iter().zip(&mut self.period) {
            while cell.closed.get(*period as usize).is_some_and(|closed| closed.1 <= now) {
                *period += 1;
            }
        }
    }

    /// Returns the instant until which a cell is open. If the cell is closed, returns the current instant.
    fn open_until(&self, machines: &PackingMachines, cell: u32) -> i64 {
        let cell = cell as usize;
        machines.cells[cell].closed.get(self.period[cell] as usize).map_or(i64::MAX, |closed| closed.0.max(self.now))
    }

    /// Returns the number of free processors of a node that stay open for `duration`.
    #[inline]
    pub(super) fn open(&self, machines: &PackingMachines, node: usize, duration: i64) -> u32 {
        let (first, end) = machines.nodes[node].cells;
        if machines.always_open { self.free[first as usize] } else { self.open_cells(machines, first..end, duration) }
    }

    fn open_cells(&self, machines: &PackingMachines, cells: Range<u32>, duration: i64) -> u32 {
        let end_of_task = self.now.saturating_add(duration);
        let open = cells.filter(|&cell| self.open_until(machines, cell) >= end_of_task);
        open.map(|cell| self.free[cell as usize]).sum()
    }

    /// Holds parts of nodes for a task on this number of processors.
    pub fn hold_parts(&mut self, machines: &PackingMachines, demands: &[Demand], processors: u32, parts: &[HeldPart]) {
        for part in parts {
            let free = self.free[part.cell as usize];
            self.set_free(part.cell, free - part.count);
        }
        for part in by_node(machines, parts) {
            self.hold_of_node(machines, demands, processors, part);
        }
        self.hold_common(machines, demands, processors);
        self.total -= processors;
    }

    /// Sets the number of free processors of a cell. If the levels are used, each node has one cell.
    fn set_free(&mut self, cell: u32, free: u32) {
        let cell = cell as usize;
        self.levels.change(cell, self.free[cell], free);
        self.free[cell] = free;
    }

    pub(super) fn hold_of_node(
        &mut self,
        machines: &PackingMachines,
        demands: &[Demand],
        processors: u32,
        part: (usize, u32),
    ) {
        for demand in demands.iter().filter(|demand| demand.kind == ResourceKind::OfNodes) {
            let share = demand.need.share(part.1, processors);
            self.left[part.0 * machines.resources + demand.resource.index()] -= share;
        }
    }

    pub(super) fn hold_common(&mut self, machines: &PackingMachines, demands: &[Demand], processors: u32) {
        for demand in demands.iter().filter(|demand| demand.kind != ResourceKind::OfNodes) {
            self.common[demand.resource.index() - machines.resources] -= demand.need.total(processors);
        }
    }

    /// Releases the amounts that a task held, except the consumables that it used up.
    pub fn give_back(&mut self, machines: &PackingMachines, demands: &[Demand], processors: u32, parts: &[HeldPart]) {
        for part in parts {
            let free = self.free[part.cell as usize];
            self.set_free(part.cell, free + part.count);
        }
        self.total += processors;
        if demands.is_empty() {
            return;
        }
        for (node, count) in by_node(machines, parts) {
            for demand in demands.iter().filter(|demand| demand.kind == ResourceKind::OfNodes) {
                let share = demand.need.share(count, processors);
                self.left[node * machines.resources + demand.resource.index()] += share;
            }
        }
        for demand in demands.iter().filter(|demand| demand.kind == ResourceKind::Licence) {
            self.common[demand.resource.index() - machines.resources] += demand.need.total(processors);
        }
    }

    pub(super) fn hold_processors(
        &mut self,
        machines: &PackingMachines,
        node: usize,
        count: u32,
        duration: i64,
        parts: &mut Vec<HeldPart>,
    ) {
        let (first, end) = machines.nodes[node].cells;
        let mut rest = count;
        let mut take = |state: &mut Self, cell: u32, rest: &mut u32| {
            let here = state.free[cell as usize].min(*rest);
            if here > 0 {
                state.set_free(cell, state.free[cell as usize] - here);
                *rest -= here;
                parts.push(HeldPart { cell, count: here });
            }
        };
        if machines.always_open {
            take(self, first, &mut rest);
            return;
        }
        // Take the cells that close soonest first, because they are least useful for other tasks.
        let end_of_task = self.now.saturating_add(duration);
        let mut open: Vec<(i64, u32)> = (first..end).map(|cell| (self.open_until(machines, cell), cell)).collect();
        open.retain(|&(until, _)| until >= end_of_task);
        open.sort_unstable();
        open.into_iter().for_each(|(_, cell)| take(self, cell, &mut rest));
    }
}

/// Returns the nodes of some parts, and the number of processors on each node. Parts of one node must be adjacent.
fn by_node(machines: &PackingMachines, parts: &[HeldPart]) -> impl Iterator<Item = (usize, u32)> {
    let same = |a: &HeldPart, b: &HeldPart| machines.node_of(a.cell) == machines.node_of(b.cell);
    let node = |of_node: &[HeldPart]| (machines.node_of(of_node[0].cell), of_node.iter().map(|part| part.count).sum());
    parts.chunk_by(same).map(node)
}
