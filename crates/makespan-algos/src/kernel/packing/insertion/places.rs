//! Finds the nodes and the period of a task for which the task ends first.

use makespan_core::ResourceKind;

use super::calendar::{Calendar, Common, NodeDemand, covers};
use crate::kernel::packing::HeldPart;
use crate::kernel::packing::fit::{NodeRooms, TaskToPlace};
use crate::kernel::packing::machines::PackingMachines;

/// The period in which a task runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunPeriod {
    pub start: i64,
    pub end: i64,
}

/// Finds places for tasks, one at a time. Once its arrays have grown, it allocates no memory.
#[derive(Debug, Default)]
pub(super) struct PlaceFinder {
    /// The nodes of the last place, and the number of processors on each node.
    chosen: Vec<(u32, u32)>,
    common: Common,
    /// The amounts that a node needs to hold the whole task: processors, followed by resources.
    asked: Vec<u64>,
    least: Vec<u64>,
    /// The current step of each visited node.
    cursors: Vec<usize>,
    rooms: NodeRooms,
    row: Vec<u64>,
    /// The cells of a node, each with the instant at which it closes and its number of free processors.
    cells: Vec<(i64, u32, u32)>,
    looks: u64,
}

/// A task to be placed, with its possible nodes, its earliest start, and its time on each class of speeds.
pub(super) struct SoughtTask<'s> {
    pub wanted: &'s TaskToPlace<'s>,
    pub nodes: &'s [u32],
    pub ready: i64,
    pub durations: &'s [i64],
}

impl SoughtTask<'_> {
    /// Returns the time of the task if all its processors are on `node`, or `None` if the task cannot run there.
    fn duration_on(&self, machines: &PackingMachines, node: usize) -> Option<i64> {
        let wanted = self.wanted;
        let duration = match wanted.own_times {
            Some(times) => {
                let time = times[machines.nodes[node].platform];
                (time < makespan_core::Profile::CANNOT_RUN).then_some(time.ticks())?
            }
            None => self.durations[machines.class_of(node)],
        };
        (duration <= wanted.walltime).then_some(duration)
    }

    /// Returns the earliest start of the task on a node.
    fn ready_on(&self, node: usize) -> i64 {
        self.wanted.arrivals.get(node).map_or(self.ready, |&arrival| arrival.max(self.ready))
    }

    /// Returns the number of processors that the task could have on a node that has these amounts left.
    fn room(&self, (free, resources): (u64, &[u64])) -> u32 {
        self.wanted.fitting(resources, free.min(self.wanted.processors.into()) as u32)
    }
}

impl PlaceFinder {
    /// Prepares for a new list.
    pub fn reset(&mut self) {
        self.looks = 0;
    }

    /// Returns the number of visits to nodes for the current list.
    pub fn looked_at(&self) -> u64 {
        self.looks
    }

    /// Finds the place where a task ends first. Among places with equal ends, single nodes come first, then the
    /// earliest start, and then the node with the least remaining amounts.
    pub fn find(
        &mut self,
        machines: &PackingMachines,
        calendar: &Calendar,
        sought: &SoughtTask<'_>,
    ) -> Option<RunPeriod> {
        let TaskToPlace { demands, processors, .. } = *sought.wanted;
        self.common.set(machines, demands, processors);
        self.asked.clear();
        self.asked.resize(1 + machines.resources, 0);
        self.asked[0] = processors.into();
        for demand in demands.iter().filter(|demand| demand.kind == ResourceKind::OfNodes) {
            self.asked[1 + demand.resource.index()] = demand.need.total(processors);
        }
        self.looks += sought.nodes.len() as u64;
        let alone = self.alone(machines, calendar, sought);
        if processors == 1 || sought.nodes.len() == 1 {
            return alone;
        }
        self.together(machines, calendar, sought, alone)
    }

    /// Finds the single node on which the task ends first.
    fn alone(&mut self, machines: &PackingMachines, calendar: &Calendar, sought: &SoughtTask<'_>) -> Option<RunPeriod> {
        let processors = sought.wanted.processors;
        let mut best: Option<(RunPeriod, u32)> = None;
        // The remaining amounts at the best place. These amounts are computed only to compare equal places.
        let mut tight: Option<(u64, u64)> = None;
        for &node in sought.nodes {
            let at = node as usize;
            if machines.nodes[at].processors < processors {
                continue;
            }
            let Some(duration) = sought.duration_on(machines, at) else { continue };
            let latest = best.map_or(i64::MAX, |(best, _)| best.end - duration);
            let ready = sought.ready_on(at);
            if ready > latest {
                continue;
            }
            let Some(start) = self.start_on(machines, calendar, at, ready, duration, latest) else { continue };
            let period = RunPeriod { start, end: start + duration };
            match best {
                Some((other, there)) if (other.end, other.start) == (period.end, period.start) => {
                    let old = match tight {
                        Some(old) => old,
                        None => self.left_beside(machines, calendar, there as usize, other),
                    };
                    let new = self.left_beside(machines, calendar, at, period);
                    tight = Some(new.min(old));
                    if new < old {
                        best = Some((period, node));
                    }
                }
                Some((other, _)) if (other.end, other.start) < (period.end, period.start) => {}
                _ => (best, tight) = (Some((period, node)), None),
            }
        }
        let (period, node) = best?;
        self.chosen.clear();
        self.chosen.push((node, processors));
        Some(period)
    }

    /// Returns the minimum number of free processors of a node in a period, and a measure of the resources of the
    /// node. If two places are equal, the node with the smaller result is used, because other tasks may need the other
    /// node.
    fn left_beside(
        &mut self,
        machines: &PackingMachines,
        calendar: &Calendar,
        node: usize,
        period: RunPeriod,
    ) -> (u64, u64) {
        let steps = &calendar.nodes[node];
        steps.least(steps.step_at(period.start), period.end, &mut self.least);
        (split(&self.least, machines).0, machines.wealth(node))
    }

    /// Returns the earliest start, up to `latest`, of a task with all its processors on one node.
    fn start_on(
        &mut self,
        machines: &PackingMachines,
        calendar: &Calendar,
        node: usize,
        ready: i64,
        duration: i64,
        latest: i64,
    ) -> Option<i64> {
        let (first, end) = machines.nodes[node].cells;
        let mut start = ready;
        loop {
            let there = if end - first == 1 {
                calendar.nodes[node].earliest(start, duration, latest, |left| covers(left, &self.asked))?
            } else {
                self.start_on_cells(machines, calendar, node, start, duration, latest)?
            };
            let both = calendar.earliest_common(there, duration, &self.common, latest)?;
            if both == there {
                return Some(both);
            }
            start = both;
        }
    }

    /// Returns the earliest start on a node with processors that close at different times. For each cell, the minimum
    /// number of free processors during the period is used.
    fn start_on_cells(
        &mut self,
        machines: &PackingMachines,
        calendar: &Calendar,
        node: usize,
        ready: i64,
        duration: i64,
        latest: i64,
    ) -> Option<i64> {
        let steps = &calendar.nodes[node];
        let enough = |row: &[u64], asked: &[u64]| {
            let (free, left) = split(row, machines);
            free >= asked[0] && covers(left, &asked[1..])
        };
        let mut step = steps.begin(ready);
        let mut start = ready.max(steps.begins(step));
        while start <= latest {
            if enough(steps.row(step), &self.asked) {
                steps.least(step, start.saturating_add(duration), &mut self.least);
                if enough(&self.least, &self.asked) {
                    return Some(start);
                }
            }
            start = steps.until(step);
            if start == i64::MAX {
                return None;
            }
            step += 1;
        }
        None
    }

    /// Finds a place on several nodes where the task ends earlier than at `alone`. Tries one set of nodes for each
    /// speed: all nodes with at least this speed.
    fn together(
        &mut self,
        machines: &PackingMachines,
        calendar: &Calendar,
        sought: &SoughtTask<'_>,
        alone: Option<RunPeriod>,
    ) -> Option<RunPeriod> {
        let mut best = alone;
        let mut count = 0;
        for (class, &(_, end)) in machines.classes.iter().enumerate() {
            let more = sought.nodes[count..].partition_point(|&node| (node as usize) < end);
            count += more;
            let duration = sought.durations[class];
            let latest = best.map_or(i64::MAX, |best| best.end - duration - 1);
            if duration > sought.wanted.walltime || latest < sought.ready {
                break;
            }
            if more > 0
                && count > 1
                && let Some(start) = self.sweep(machines, calendar, sought, &sought.nodes[..count], duration, latest)
            {
                best = Some(RunPeriod { start, end: start + duration });
            }
        }
        best
    }

    /// Returns the earliest start, up to `latest`, of a task on several of the nodes `nodes`. Only the beginnings of
    /// steps are tried, because the remaining amounts increase only there.
    fn sweep(
        &mut self,
        machines: &PackingMachines,
        calendar: &Calendar,
        sought: &SoughtTask<'_>,
        nodes: &[u32],
        duration: i64,
        latest: i64,
    ) -> Option<i64> {
        let processors = sought.wanted.processors;
        let empty = |&node: &u32| {
            let own = &machines.amounts[node as usize * machines.resources..][..machines.resources];
            u64::from(sought.room((machines.nodes[node as usize].processors.into(), own)))
        };
        if nodes.iter().map(empty).sum::<u64>() < processors.into() {
            return None;
        }
        let mut start = sought.ready;
        self.cursors.clear();
        self.cursors.extend(nodes.iter().map(|&node| calendar.nodes[node as usize].step_at(start)));
        loop {
            start = calendar.earliest_common(start, duration, &self.common, latest).filter(|&start| start <= latest)?;
            self.looks += nodes.len() as u64;
            // The number of available processors now, and the next instant at which this number may change.
            let (mut sum, mut next) = (0, i64::MAX);
            for (&node, cursor) in nodes.iter().zip(&mut self.cursors) {
                let steps = &calendar.nodes[node as usize];
                let ready = sought.ready_on(node as usize);
                if ready > start {
                    next = next.min(ready);
                    continue;
                }
                while steps.until(*cursor) <= start {
                    *cursor += 1;
                }
                next = next.min(steps.until(*cursor));
                sum += u64::from(sought.room(split(steps.row(*cursor), machines)));
            }
            if sum >= processors.into() && self.fits(machines, calendar, sought, nodes, start, duration) {
                return Some(start);
            }
            if next == i64::MAX {
                return None;
            }
            start = next;
        }
    }

    /// Returns whether the task fits on several nodes from `start` to `start + duration`. Stores these nodes.
    fn fits(
        &mut self,
        machines: &PackingMachines,
        calendar: &Calendar,
        sought: &SoughtTask<'_>,
        nodes: &[u32],
        start: i64,
        duration: i64,
    ) -> bool {
        let processors = sought.wanted.processors;
        self.looks += nodes.len() as u64;
        let rooms = self.rooms.reset(machines.nodes.len());
        let mut sum = 0;
        for (&node, &cursor) in nodes.iter().zip(&self.cursors) {
            if sought.ready_on(node as usize) > start {
                continue;
            }
            calendar.nodes[node as usize].least(cursor, start.saturating_add(duration), &mut self.least);
            let room = sought.room(split(&self.least, machines));
            rooms[node as usize] = room;
            sum += u64::from(room);
        }
        if sum < processors.into() || !self.rooms.choose_several(machines, processors) {
            return false;
        }
        self.chosen.clear();
        self.chosen.extend(self.rooms.chosen().iter().map(|&(node, count)| (node as u32, count)));
        true
    }

    /// Holds the place found last. Adds the held parts to `parts`.
    pub fn hold(
        &mut self,
        machines: &PackingMachines,
        calendar: &mut Calendar,
        wanted: &TaskToPlace<'_>,
        RunPeriod { start, end }: RunPeriod,
        parts: &mut Vec<HeldPart>,
    ) {
        for at in 0..self.chosen.len() {
            let (node, count) = self.chosen[at];
            let begin = parts.len();
            self.add_parts(machines, calendar, node as usize, count, (start, end), parts);
            let first = machines.nodes[node as usize].cells.0;
            let TaskToPlace { demands, processors, .. } = *wanted;
            let mut taken = NodeDemand { demands, processors, resources: machines.resources, row: &mut self.row };
            calendar.take_on(node as usize, first, (start, end), &parts[begin..], &mut taken);
        }
        calendar.take_common(start, end, &self.common);
    }

    /// Chooses the cells of a node for a task. Cells that close soonest are taken first, because they are least useful
    /// for other tasks.
    fn add_parts(
        &mut self,
        machines: &PackingMachines,
        calendar: &Calendar,
        node: usize,
        count: u32,
        (start, end): (i64, i64),
        parts: &mut Vec<HeldPart>,
    ) {
        let (first, last) = machines.nodes[node].cells;
        if last - first == 1 {
            parts.push(HeldPart { cell: first, count });
            return;
        }
        let steps = &calendar.nodes[node];
        steps.least(steps.step_at(start), end, &mut self.least);
        self.cells.clear();
        for (cell, &free) in (first..last).zip(&self.least) {
            let closed = &machines.cells[cell as usize].closed;
            let next = closed.get(closed.partition_point(|closed| closed.0 < end));
            self.cells.push((next.map_or(i64::MAX, |closed| closed.0), cell, free as u32));
        }
        self.cells.sort_unstable();
        let mut rest = count;
        for &(_, cell, free) in &self.cells {
            let here = free.min(rest);
            if here > 0 {
                parts.push(HeldPart { cell, count: here });
                rest -= here;
            }
        }
    }
}

/// Splits the amounts of a node into the number of its free processors and the amounts of its resources.
fn split<'r>(row: &'r [u64], machines: &PackingMachines) -> (u64, &'r [u64]) {
    let (cells, resources) = row.split_at(row.len() - machines.resources);
    (cells.iter().sum(), resources)
}
