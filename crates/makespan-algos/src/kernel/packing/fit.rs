//! Finds nodes on which a task fits now, and the number of its processors on each node.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{Demand, Instance, ResourceKind};

use super::machines::PackingMachines;
use super::state::{HeldPart, PackingState};

/// A task to be placed.
pub(crate) struct TaskToPlace<'a> {
    pub demands: &'a [Demand],
    pub processors: u32,
    /// Time at speed 1.
    pub time: i64,
    pub walltime: i64,
    /// The time of the task on each node of the platform, if the task has its own times.
    pub own_times: Option<&'a [makespan_core::Time]>,
    /// The arrival of the data of the task on each node. The list is empty if the data have arrived everywhere.
    pub arrivals: &'a [i64],
}

/// For each node, the number of processors that a task could have on the node (the room).
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeRooms {
    each: Vec<u32>,
    chosen: Vec<(usize, u32)>,
    /// A buffer for tasks on several nodes.
    largest: Vec<(u32, Reverse<usize>)>,
}

impl NodeRooms {
    /// Returns the room of the last task on each node. If the search skipped a node, the room may be 0.
    pub fn all(&self) -> &[u32] {
        &self.each
    }

    /// Sets the rooms of all nodes to zero, and returns the rooms so that the caller can set them.
    pub(super) fn reset(&mut self, nodes: usize) -> &mut [u32] {
        self.each.clear();
        self.each.resize(nodes, 0);
        &mut self.each
    }

    /// Chooses as few nodes as possible, beginning with the largest rooms. The last node is chosen so that few of its
    /// processors stay free. If best placement is required, chooses a best placement, and returns whether there is
    /// one. The sum of the rooms must be large enough for the task.
    pub(super) fn choose_several(&mut self, machines: &PackingMachines, processors: u32) -> bool {
        if machines.compact {
            return PackingState::in_best_placement(machines, processors, self);
        }
        let Self { each, chosen, largest } = self;
        largest.clear();
        largest
            .extend(each.iter().enumerate().filter(|(_, room)| **room > 0).map(|(node, &room)| (room, Reverse(node))));
        largest.sort_unstable_by_key(|&room| Reverse(room));
        chosen.clear();
        let mut rest = processors;
        for (at, &(room, Reverse(node))) in largest.iter().enumerate() {
            let enough = largest[at..].partition_point(|&(room, _)| room >= rest);
            if enough > 0 {
                chosen.push((largest[at + enough - 1].1.0, rest));
                break;
            }
            chosen.push((node, room));
            rest -= room;
        }
        chosen.sort_unstable();
        true
    }

    /// Returns the chosen nodes with the number of processors on each.
    pub(super) fn chosen(&self) -> &[(usize, u32)] {
        &self.chosen
    }

    /// Chooses one node.
    fn choose(&mut self, node: usize, processors: u32) {
        self.chosen.clear();
        self.chosen.push((node, processors));
    }
}

impl PackingState {
    /// Returns whether enough of each licence and consumable is left.
    pub fn has_common(&self, machines: &PackingMachines, wanted: &TaskToPlace<'_>) -> bool {
        let common = wanted.demands.iter().filter(|demand| demand.kind != ResourceKind::OfNodes);
        common.into_iter().all(|demand| {
            demand.need.total(wanted.processors) <= self.common[demand.resource.index() - machines.resources]
        })
    }

    /// Returns the room on a node: the number of processors that a task could have there. If `beside` is given, the
    /// processors must be available in this state and in `beside`.
    #[inline]
    fn room_beside(
        &self,
        machines: &PackingMachines,
        node: usize,
        wanted: &TaskToPlace<'_>,
        duration: i64,
        beside: Option<&Self>,
    ) -> u32 {
        let room = self.room(machines, node, wanted, duration);
        match beside {
            Some(other) if room > 0 => room.min(other.room(machines, node, wanted, duration)),
            _ => room,
        }
    }

    /// Returns the room on a node: the number of processors that a task could have there.
    #[inline]
    pub fn room(&self, machines: &PackingMachines, node: usize, wanted: &TaskToPlace<'_>, duration: i64) -> u32 {
        if wanted.arrivals.get(node).is_some_and(|&arrival| arrival > self.now) {
            return 0;
        }
        let room = self.open(machines, node, duration).min(wanted.processors);
        if room == 0 || wanted.demands.is_empty() {
            return room;
        }
        wanted.fitting(&self.left[node * machines.resources..], room)
    }

    /// Finds nodes on which a task fits now. If `beside` is given, the task must also fit in the state `beside`.
    /// Returns the time of the task, and stores the nodes in `rooms`. Returns `None` if the task does not fit.
    ///
    /// Uses the fastest nodes that suffice together. If some of these nodes are large enough for the whole task, uses
    /// the slowest of them, and among equally slow nodes the node with the fewest free processors left. Otherwise, uses
    /// as few nodes as possible.
    pub fn find(
        &self,
        machines: &PackingMachines,
        wanted: &TaskToPlace<'_>,
        rooms: &mut NodeRooms,
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

    /// Finds nodes for a task if its room on each node is already known and the rooms suffice. Skips the search of
    /// [`PackingState::find`]. The machines must be [plain](PackingMachines::are_plain).
    pub fn find_in(
        &self,
        machines: &PackingMachines,
        wanted: &TaskToPlace<'_>,
        known: &[u32],
        rooms: &mut NodeRooms,
    ) -> i64 {
        let duration = machines.slowed(wanted.time, 0);
        if let Some(node) = self.alone(wanted.processors, |node| known[node]) {
            rooms.choose(node, wanted.processors);
        } else {
            rooms.each.clear();
            rooms.each.extend_from_slice(known);
            self.together(machines, wanted.processors, rooms);
        }
        duration
    }

    /// Holds the nodes in `rooms` for `duration`. Adds the held parts to `parts`.
    pub fn hold(
        &mut self,
        machines: &PackingMachines,
        wanted: &TaskToPlace<'_>,
        duration: i64,
        rooms: &NodeRooms,
        parts: &mut Vec<HeldPart>,
    ) {
        for &(node, count) in &rooms.chosen {
            self.hold_processors(machines, node, count, duration, parts);
            self.hold_of_node(machines, wanted.demands, wanted.processors, (node, count));
        }
        self.hold_common(machines, wanted.demands, wanted.processors);
        self.total -= wanted.processors;
    }

    /// Chooses the machine on which the task ends first.
    fn on_own_times(
        &self,
        machines: &PackingMachines,
        wanted: &TaskToPlace<'_>,
        times: &[makespan_core::Time],
        rooms: &mut NodeRooms,
    ) -> Option<i64> {
        let each = machines.nodes.iter().enumerate().filter_map(|(node, at)| {
            let time = times[at.platform];
            let runs = time < makespan_core::Profile::CANNOT_RUN && time.ticks() <= wanted.walltime;
            (runs && self.room(machines, node, wanted, time.ticks()) > 0).then_some((time.ticks(), node))
        });
        let (time, node) = each.min()?;
        rooms.choose(node, 1);
        Some(time)
    }

    /// Returns the node that can take all processors of the task and has the fewest free processors afterwards. Uses
    /// the levels to find this node.
    fn alone(&self, processors: u32, room: impl Fn(usize) -> u32) -> Option<usize> {
        self.levels.from(processors).find(|&node| room(node) == processors)
    }

    /// Finds nodes on [plain](PackingMachines::are_plain) machines. Visits only nodes with free processors, first those
    /// that may be large enough for the whole task.
    fn on_levels(
        &self,
        machines: &PackingMachines,
        wanted: &TaskToPlace<'_>,
        rooms: &mut NodeRooms,
        beside: Option<&Self>,
    ) -> Option<i64> {
        let duration = machines.slowed(wanted.time, 0);
        if duration > wanted.walltime {
            return None;
        }
        let room = |node: usize| self.room_beside(machines, node, wanted, duration, beside);
        if let Some(node) = self.alone(wanted.processors, room) {
            rooms.choose(node, wanted.processors);
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
        machines: &PackingMachines,
        wanted: &TaskToPlace<'_>,
        rooms: &mut NodeRooms,
        beside: Option<&Self>,
    ) -> Option<i64> {
        let mut sum = 0_u64;
        // If all nodes are equally fast and always open, a node that the task fills completely is best. The search can
        // stop there.
        let plain = machines.are_plain();
        for (class, &(_, end)) in machines.classes.iter().enumerate() {
            let duration = machines.slowed(wanted.time, class);
            if duration > wanted.walltime {
                return None;
            }
            if !machines.always_open {
                // Compute the rooms again, because the duration differs. Other processors may be open for this
                // duration.
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
                    rooms.choose(node, room);
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

    /// Chooses one node or, if no node is large enough, as few nodes as possible.
    fn together(&self, machines: &PackingMachines, processors: u32, rooms: &mut NodeRooms) {
        let NodeRooms { each: rooms, chosen, largest } = rooms;
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
        // If the levels are used, the search has already tried single nodes.
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
        // Use a heap instead of sorting, because only the few largest nodes are needed.
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

    /// Chooses a best placement. If one node is large enough, chooses only this node. Otherwise, chooses whole nodes,
    /// the largest first, and a part of one more node if needed. Among the nodes with enough free processors for this
    /// part, chooses the node with the fewest.
    fn in_best_placement(machines: &PackingMachines, processors: u32, rooms: &mut NodeRooms) -> bool {
        let NodeRooms { each: rooms, chosen, .. } = rooms;
        chosen.clear();
        let size = |node: usize| machines.nodes[node].processors;
        let mut by_size: Vec<usize> = (0..rooms.len()).filter(|&node| rooms[node] > 0).collect();
        by_size.sort_by_key(|&node| (Reverse(size(node)), node));
        let mut rest = processors;
        let mut others = Vec::new();
        let largest = machines.nodes.iter().map(|node| node.processors).max().unwrap_or(0);
        if processors > largest && !by_size.iter().any(|&node| rooms[node] == largest) {
            return false;
        }
        for node in by_size {
            if processors > largest && rooms[node] == size(node) && size(node) <= rest {
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

impl TaskToPlace<'_> {
    /// Returns how many of `room` free processors of a node the task could have, given the resources that the node has
    /// left.
    #[inline]
    pub(super) fn fitting(&self, left: &[u64], mut room: u32) -> u32 {
        for demand in self.demands {
            if room > 0 && demand.kind == ResourceKind::OfNodes {
                room = demand.need.fitting(left[demand.resource.index()], room, self.processors);
            }
        }
        room
    }

    /// Returns a task of an instance with one of its allotments as a [`TaskToPlace`].
    pub fn of(
        instance: &Instance,
        task: makespan_core::TaskId,
        choice: crate::kernel::choices::Choice,
        walltime: i64,
    ) -> TaskToPlace<'_> {
        TaskToPlace {
            demands: instance.demands(task),
            processors: choice.processors,
            time: choice.time,
            walltime,
            own_times: instance.profile(task).machine_times(),
            arrivals: &[],
        }
    }
}
