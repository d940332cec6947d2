//! Where a task fits now: which nodes, and how many processors of each.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use makespan_core::{Demand, Instance, ResourceKind};

use super::levels::Levels;
use super::machines::Machines;

/// What is free and left at an instant.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub now: i64,
    /// Free processors of each cell, closed ones too.
    pub free: Vec<u32>,
    /// For each node what is left of each of its resources.
    pub left: Vec<u64>,
    /// What is left of what belongs to no node.
    pub common: Vec<u64>,
    /// For each cell the first closed period that is not over.
    pub period: Vec<u32>,
    /// All free processors.
    pub total: u32,
    /// Kept where all nodes are equally fast and open, and any processors serve.
    levels: Levels,
    /// What others hold of each resource of each node, and then of what belongs to none.
    others: Vec<u128>,
}

/// Processors of one cell that a task holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub cell: u32,
    pub count: u32,
}

/// A task that looks for a place.
pub(crate) struct Wanted<'a> {
    pub demands: &'a [Demand],
    pub processors: u32,
    /// At speed 1.
    pub time: i64,
    pub walltime: i64,
    /// For each node of the platform the task's own time there.
    pub own_times: Option<&'a [makespan_core::Time]>,
    /// For each node when the data of the task are there; empty where that is now.
    pub arrivals: &'a [i64],
}

/// Nodes with the number of processors that a task could have there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rooms {
    each: Vec<u32>,
    chosen: Vec<(usize, u32)>,
    /// Memory for those of several nodes.
    largest: Vec<(u32, Reverse<usize>)>,
}

impl Rooms {
    /// How many processors the task that was looked for last could have on each node; of some nodes only where it was found.
    pub fn all(&self) -> &[u32] {
        &self.each
    }
}

impl State {
    /// Everything free, at an instant.
    pub fn reset(&mut self, machines: &Machines, now: i64) {
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

    /// Takes what others hold, or gives it back.
    pub fn change_held(&mut self, machines: &Machines, at: usize, back: bool) {
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
        // Others may be believed to hold more than there is: they do not all hold it at once.
        let own = |others: u128| u64::try_from(u128::from(there).saturating_sub(others)).unwrap_or(there);
        let others = &mut self.others[place];
        let taken = own(*others).saturating_sub(*left);
        *others = if back { *others - u128::from(amount) } else { *others + u128::from(amount) };
        *left = own(*others).saturating_sub(taken);
    }

    /// Lets time pass.
    pub fn advance(&mut self, machines: &Machines, now: i64) {
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

    /// Until when a cell is open from now on; now where it is closed.
    fn open_until(&self, machines: &Machines, cell: u32) -> i64 {
        let cell = cell as usize;
        machines.cells[cell].closed.get(self.period[cell] as usize).map_or(i64::MAX, |closed| closed.0.max(self.now))
    }

    /// Free processors of a node that stay open for so long.
    #[inline]
    fn open(&self, machines: &Machines, node: usize, duration: i64) -> u32 {
        let (first, end) = machines.nodes[node].cells;
        if machines.always_open { self.free[first as usize] } else { self.open_cells(machines, first..end, duration) }
    }

    fn open_cells(&self, machines: &Machines, cells: Range<u32>, duration: i64) -> u32 {
        let end_of_task = self.now.saturating_add(duration);
        let open = cells.filter(|&cell| self.open_until(machines, cell) >= end_of_task);
        open.map(|cell| self.free[cell as usize]).sum()
    }

    /// Whether enough is left of what belongs to no node.
    pub fn has_common(&self, machines: &Machines, wanted: &Wanted<'_>) -> bool {
        let common = wanted.demands.iter().filter(|demand| demand.kind != ResourceKind::OfNodes);
        common.into_iter().all(|demand| {
            demand.need.total(wanted.processors) <= self.common[demand.resource.index() - machines.resources]
        })
    }

    /// How many processors a task could have on a node, here and where `beside` is given there, too.
    #[inline]
    fn room_beside(
        &self,
        machines: &Machines,
        node: usize,
        wanted: &Wanted<'_>,
        duration: i64,
        beside: Option<&Self>,
    ) -> u32 {
        let room = self.room(machines, node, wanted, duration);
        match beside {
            Some(other) if room > 0 => room.min(other.room(machines, node, wanted, duration)),
            _ => room,
        }
    }

    /// How many processors a task could have on a node.
    #[inline]
    pub fn room(&self, machines: &Machines, node: usize, wanted: &Wanted<'_>, duration: i64) -> u32 {
        if wanted.arrivals.get(node).is_some_and(|&arrival| arrival > self.now) {
            return 0;
        }
        let mut room = self.open(machines, node, duration).min(wanted.processors);
        if room == 0 || wanted.demands.is_empty() {
            return room;
        }
        let left = &self.left[node * machines.resources..];
        for demand in wanted.demands {
            if room == 0 {
                return 0;
            }
            if demand.kind == ResourceKind::OfNodes {
                room = demand.need.fitting(left[demand.resource.index()], room, wanted.processors);
            }
        }
        room
    }

    /// Where a task fits now, and where `beside` is given there, too: how long it runs, and in `rooms` the nodes. `None` where it
    /// does not fit.
    ///
    /// The fastest processors that suffice, and of these nodes one alone if it can be: the slowest, and of these the one that
    /// leaves least free. Several nodes are as few as can be.
    pub fn find(
        &self,
        machines: &Machines,
        wanted: &Wanted<'_>,
        rooms: &mut Rooms,
        beside: Option<&Self>,
    ) -> Option<i64> {
        rooms.each.clear();
        let has = |state: &Self| wanted.processors <= state.total && state.has_common(machines, wanted);
        if !has(self) || !beside.is_none_or(has) {
            return None;
        }
        match wanted.own_times {
            Some(times) => self.on_own_times(machines, wanted, times, rooms),
            None if self.levels.are_kept() => self.on_levels(machines, wanted, rooms, beside),
            None => self.on_class(machines, wanted, rooms, beside),
        }
    }

    /// Where a task fits that could have so many processors on each node, which together suffice: [`State::find`] without the
    /// walk, on [plain](Machines::are_plain) machines.
    pub fn find_in(&self, machines: &Machines, wanted: &Wanted<'_>, known: &[u32], rooms: &mut Rooms) -> i64 {
        let duration = machines.slowed(wanted.time, 0);
        let alone = |node: &usize| known[*node] == wanted.processors;
        if let Some(node) = self.levels.from(wanted.processors).find(alone) {
            rooms.chosen.clear();
            rooms.chosen.push((node, wanted.processors));
        } else {
            rooms.each.clear();
            rooms.each.extend_from_slice(known);
            self.together(machines, wanted.processors, rooms);
        }
        duration
    }

    /// Holds what was found for so long; the parts are added to `parts`.
    pub fn hold(
        &mut self,
        machines: &Machines,
        wanted: &Wanted<'_>,
        duration: i64,
        rooms: &Rooms,
        parts: &mut Vec<Part>,
    ) {
        for &(node, count) in &rooms.chosen {
            self.hold_processors(machines, node, count, duration, parts);
            self.hold_of_node(machines, wanted.demands, wanted.processors, (node, count));
        }
        self.hold_common(machines, wanted.demands, wanted.processors);
        self.total -= wanted.processors;
    }

    /// Holds these parts for a task on so many processors.
    pub fn hold_parts(&mut self, machines: &Machines, demands: &[Demand], processors: u32, parts: &[Part]) {
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

    /// Where levels are kept each node is one cell.
    fn set_free(&mut self, cell: u32, free: u32) {
        let cell = cell as usize;
        self.levels.change(cell, self.free[cell], free);
        self.free[cell] = free;
    }

    fn hold_of_node(&mut self, machines: &Machines, demands: &[Demand], processors: u32, part: (usize, u32)) {
        for demand in demands.iter().filter(|demand| demand.kind == ResourceKind::OfNodes) {
            let share = demand.need.share(part.1, processors);
            self.left[part.0 * machines.resources + demand.resource.index()] -= share;
        }
    }

    fn hold_common(&mut self, machines: &Machines, demands: &[Demand], processors: u32) {
        for demand in demands.iter().filter(|demand| demand.kind != ResourceKind::OfNodes) {
            self.common[demand.resource.index() - machines.resources] -= demand.need.total(processors);
        }
    }

    /// Gives back what a task held, but for what it used up. `node_of` tells the node of a cell.
    pub fn give_back(&mut self, machines: &Machines, demands: &[Demand], processors: u32, parts: &[Part]) {
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

    fn hold_processors(&mut self, machines: &Machines, node: usize, count: u32, duration: i64, parts: &mut Vec<Part>) {
        let (first, end) = machines.nodes[node].cells;
        let mut rest = count;
        let mut take = |state: &mut Self, cell: u32, rest: &mut u32| {
            let here = state.free[cell as usize].min(*rest);
            if here > 0 {
                state.set_free(cell, state.free[cell as usize] - here);
                *rest -= here;
                parts.push(Part { cell, count: here });
            }
        };
        if machines.always_open {
            take(self, first, &mut rest);
            return;
        }
        // What closes soonest is of least use to others.
        let end_of_task = self.now.saturating_add(duration);
        let mut open: Vec<(i64, u32)> = (first..end).map(|cell| (self.open_until(machines, cell), cell)).collect();
        open.retain(|&(until, _)| until >= end_of_task);
        open.sort_unstable();
        open.into_iter().for_each(|(_, cell)| take(self, cell, &mut rest));
    }

    /// On the machine where the task ends first.
    fn on_own_times(
        &self,
        machines: &Machines,
        wanted: &Wanted<'_>,
        times: &[makespan_core::Time],
        rooms: &mut Rooms,
    ) -> Option<i64> {
        let each = machines.nodes.iter().enumerate().filter_map(|(node, at)| {
            let time = times[at.platform];
            let runs = time < makespan_core::Profile::CANNOT_RUN && time.ticks() <= wanted.walltime;
            (runs && self.room(machines, node, wanted, time.ticks()) > 0).then_some((time.ticks(), node))
        });
        let (time, node) = each.min()?;
        rooms.chosen.clear();
        rooms.chosen.push((node, 1));
        Some(time)
    }

    /// On [plain](Machines::are_plain) machines: only nodes with free processors are looked at, and of these first those that might
    /// do alone.
    fn on_levels(
        &self,
        machines: &Machines,
        wanted: &Wanted<'_>,
        rooms: &mut Rooms,
        beside: Option<&Self>,
    ) -> Option<i64> {
        let duration = machines.slowed(wanted.time, 0);
        if duration > wanted.walltime {
            return None;
        }
        let room = |node: usize| self.room_beside(machines, node, wanted, duration, beside);
        if let Some(node) = self.levels.from(wanted.processors).find(|&node| room(node) == wanted.processors) {
            rooms.chosen.clear();
            rooms.chosen.push((node, wanted.processors));
            return Some(duration);
        }
        rooms.each.resize(machines.nodes.len(), 0);
        let mut sum = 0;
        for node in self.levels.from(1) {
            rooms.each[node] = room(node);
            sum += u64::from(rooms.each[node]);
        }
        if sum < u64::from(wanted.processors) {
            return None;
        }
        self.together(machines, wanted.processors, rooms);
        Some(duration)
    }

    fn on_class(
        &self,
        machines: &Machines,
        wanted: &Wanted<'_>,
        rooms: &mut Rooms,
        beside: Option<&Self>,
    ) -> Option<i64> {
        let mut sum = 0_u64;
        // Where all are equally fast and open, a node that the task fills needs no comparison with others.
        let plain = machines.are_plain();
        for (class, &(_, end)) in machines.classes.iter().enumerate() {
            let duration = machines.slowed(wanted.time, class);
            if duration > wanted.walltime {
                return None;
            }
            if !machines.always_open {
                // Others may be open for so long.
                rooms.each.clear();
                sum = 0;
            }
            for node in rooms.each.len()..end {
                let first = machines.nodes[node].cells.0 as usize;
                if machines.always_open && self.free[first] == 0 {
                    rooms.each.push(0);
                    continue;
                }
                let room = self.room_beside(machines, node, wanted, duration, beside);
                if plain && room == wanted.processors && self.free[first] == room {
                    rooms.chosen.clear();
                    rooms.chosen.push((node, room));
                    return Some(duration);
                }
                rooms.each.push(room);
                sum += u64::from(room);
            }
            if sum < u64::from(wanted.processors) {
                continue;
            }
            let found = if machines.compact {
                Self::in_best_placement(machines, wanted.processors, rooms)
            } else {
                self.together(machines, wanted.processors, rooms);
                true
            };
            if found {
                return Some(duration);
            }
        }
        None
    }

    /// One node, or as few as can be.
    fn together(&self, machines: &Machines, processors: u32, rooms: &mut Rooms) {
        let Rooms { each: rooms, chosen, largest } = rooms;
        chosen.clear();
        let free = |node: usize| {
            let (first, end) = machines.nodes[node].cells;
            self.free[first as usize..end as usize].iter().sum::<u32>()
        };
        let classes = machines.classes.len();
        let speed = |node: usize| match classes {
            1 => 0,
            _ => machines.classes.partition_point(|class| class.1 <= node),
        };
        // Who keeps levels has looked for one node already.
        let rooms_alone = if self.levels.are_kept() { &[] } else { rooms.as_slice() };
        let alone = rooms_alone.iter().enumerate().filter(|(_, room)| **room >= processors);
        let one = alone.map(|(node, _)| (Reverse(speed(node)), free(node), node)).min();
        if let Some((_, _, node)) = one {
            chosen.push((node, processors));
            return;
        }
        largest.clear();
        largest
            .extend(rooms.iter().enumerate().filter(|(_, room)| **room > 0).map(|(node, &room)| (room, Reverse(node))));
        // Few of them will do: a heap is made in fewer steps than an order.
        let mut heap = BinaryHeap::from(std::mem::take(largest));
        let mut rest = processors;
        while rest > 0
            && let Some((room, Reverse(node))) = heap.pop()
        {
            chosen.push((node, room.min(rest)));
            rest -= room.min(rest);
        }
        *largest = heap.into_vec();
        chosen.sort_unstable();
    }

    /// Whole nodes, the largest first, and a part of at most one more, where the fewest are free.
    fn in_best_placement(machines: &Machines, processors: u32, rooms: &mut Rooms) -> bool {
        let Rooms { each: rooms, chosen, .. } = rooms;
        chosen.clear();
        let size = |node: usize| machines.nodes[node].processors;
        let mut by_size: Vec<usize> = (0..rooms.len()).filter(|&node| rooms[node] > 0).collect();
        by_size.sort_by_key(|&node| (Reverse(size(node)), node));
        let mut rest = processors;
        let mut others = Vec::new();
        for node in by_size {
            if rooms[node] == size(node) && size(node) <= rest {
                rest -= size(node);
                chosen.push((node, size(node)));
            } else {
                others.push(node);
            }
        }
        if rest == 0 {
            return true;
        }
        let part = others.into_iter().filter(|&node| rooms[node] >= rest);
        let part = part.min_by_key(|&node| (rooms[node] == size(node), rooms[node], node));
        chosen.extend(part.map(|node| (node, rest)));
        part.is_some()
    }
}

/// The nodes of some parts, each with how many processors; parts of one node follow each other.
fn by_node(machines: &Machines, parts: &[Part]) -> impl Iterator<Item = (usize, u32)> {
    let same = |a: &Part, b: &Part| machines.node_of(a.cell) == machines.node_of(b.cell);
    let node = |of_node: &[Part]| (machines.node_of(of_node[0].cell), of_node.iter().map(|part| part.count).sum());
    parts.chunk_by(same).map(node)
}

impl Wanted<'_> {
    /// A task of an instance on some of its allotments.
    pub fn of(
        instance: &Instance,
        task: makespan_core::TaskId,
        choice: crate::kernel::choices::Choice,
        walltime: i64,
    ) -> Wanted<'_> {
        Wanted {
            demands: instance.demands(task),
            processors: choice.processors,
            time: choice.time,
            walltime,
            own_times: instance.profile(task).machine_times(),
            arrivals: &[],
        }
    }
}
