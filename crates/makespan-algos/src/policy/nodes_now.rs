//! The free processors and remaining resources of nodes, now and later. These data are for queues of tasks that need
//! resources. Each event updates the data.

use makespan_core::{Decision, Event, Instance, ProcSet, ResourceId, ResourceKind, TaskId, Time, View};
use rustc_hash::FxHashMap;

use super::order::QueuePlace;
use super::queue_state::QueueState;
use crate::kernel::packing::{HeldPart, NodeRooms, PackingMachines, PackingState, TaskToPlace};

/// The free processors and the remaining resources of each node. The cost of an event depends only on the number of
/// changes, and each start costs a walk over the nodes.
#[derive(Debug)]
pub(super) struct NodesNow {
    machines: PackingMachines,
    state: PackingState,
    /// The ids of the free processors of each cell. A cell consists of the processors of a node that are closed at the
    /// same times.
    ids: Vec<ProcSet>,
    running: FxHashMap<TaskId, RunningTask>,
    rooms: NodeRooms,
    /// The last task that did not fit. Until another task starts, only nodes on which a task has ended must be checked
    /// again for the blocked task.
    blocked: Option<Blocked>,
}

/// A task that did not fit.
#[derive(Debug)]
struct Blocked {
    place: QueuePlace,
    /// The number of processors that the task could have on each node.
    rooms: Vec<u32>,
    sum: u64,
}

/// The processors of a running task.
#[derive(Debug)]
struct RunningTask {
    processors: u32,
    parts: Vec<HeldPart>,
    ids: Vec<ProcSet>,
}

/// The state of the nodes at the reserved start of the head of a queue. The head already holds its processors and
/// resources.
#[derive(Debug)]
pub(super) struct NodesLater {
    pub start: Time,
    state: PackingState,
}

impl NodesNow {
    /// Returns the nodes that a view shows. Returns `None` if no task needs resources, or if processors are down.
    fn of(view: &View<'_>) -> Option<Self> {
        let instance = view.instance;
        if !instance.has_demands() || !view.down.is_empty() {
            return None;
        }
        let machines = PackingMachines::new(instance);
        let ids = machines.cells.iter().map(|cell| cell.ids.clone()).collect();
        let mut state = PackingState::default();
        state.reset(&machines, view.now.ticks());
        let mut nodes =
            Self { machines, state, ids, running: FxHashMap::default(), rooms: NodeRooms::default(), blocked: None };
        for running in view.running {
            nodes.see(instance, running.task, &running.processors);
        }
        for (at, resource) in instance.platform().resources().iter().enumerate() {
            if resource.kind == ResourceKind::Consumable {
                let left = &mut nodes.state.common[at - nodes.machines.resources];
                *left -= view.ended.used_up(ResourceId(at as u16)).min(*left);
            }
        }
        Some(nodes)
    }

    /// Adds a running task.
    fn see(&mut self, instance: &Instance, task: TaskId, processors: &ProcSet) {
        let mut held = RunningTask { processors: processors.len(), parts: Vec::new(), ids: Vec::new() };
        for (cell, own) in self.machines.cells.iter().enumerate() {
            let ids = own.ids.intersection(processors);
            if !ids.is_empty() {
                held.parts.push(HeldPart { cell: cell as u32, count: ids.len() });
                self.ids[cell].remove(&ids);
                held.ids.push(ids);
            }
        }
        // Do not subtract the consumables of the task, because the total of used-up amounts includes these consumables.
        let demands: Vec<_> = instance.demands(task).to_vec();
        let back: Vec<_> = demands.into_iter().filter(|demand| demand.kind != ResourceKind::Consumable).collect();
        self.state.hold_parts(&self.machines, &back, held.processors, &held.parts);
        self.running.insert(task, held);
    }

    /// Processes the events of an instant. If the result differs from the view, reads the nodes from the view again.
    pub fn hear(nodes: &mut Option<Self>, events: &[Event], view: &View<'_>) {
        if !view.instance.has_demands() {
            return;
        }
        if let Some(known) = nodes {
            for event in events {
                match *event {
                    Event::Finished(task) | Event::Failed(task) | Event::Interrupted(task) => {
                        known.end(view.instance, task);
                    }
                    // Forget the blocked task, because the search for free processors used its old run time.
                    Event::Estimated(_) => known.blocked = None,
                    Event::NodeUp(_) | Event::NodeDown(_) | Event::Submitted(_) | Event::Wake => {}
                }
            }
            known.state.advance(&known.machines, view.now.ticks());
        }
        let machines = |event: &Event| matches!(event, Event::NodeUp(_) | Event::NodeDown(_) | Event::Interrupted(_));
        let known = nodes.as_ref().is_some_and(|nodes| nodes.agrees(view));
        if !known || events.iter().any(machines) {
            *nodes = Self::of(view);
        }
    }

    /// Returns whether the number of running tasks equals the number of running tasks in the view, and no processor is
    /// down.
    fn agrees(&self, view: &View<'_>) -> bool {
        self.running.len() == view.running.len() && view.down.is_empty()
    }

    /// Removes a task that no longer runs.
    fn end(&mut self, instance: &Instance, task: TaskId) {
        let Some(held) = self.running.remove(&task) else { return };
        self.state.give_back(&self.machines, instance.demands(task), held.processors, &held.parts);
        for (part, ids) in held.parts.iter().zip(&held.ids) {
            self.ids[part.cell as usize].insert(ids);
        }
        if let Some(blocked) = &mut self.blocked {
            let wanted = wanted(instance, blocked.place);
            for part in &held.parts {
                let node = self.machines.node_of(part.cell);
                let room = self.state.room(&self.machines, node, &wanted, wanted.time);
                let before = std::mem::replace(&mut blocked.rooms[node], room);
                blocked.sum = blocked.sum + u64::from(room) - u64::from(before);
            }
        }
    }

    /// Returns the number of free processors.
    pub fn free(&self) -> u32 {
        self.state.total
    }

    /// Starts tasks from the head of the queue, in order, until a task does not fit.
    pub fn start_heads(&mut self, state: &mut QueueState, view: &View<'_>, decisions: &mut Vec<Decision>) {
        while let Some(place) = state.queue.first()
            && self.start(state, place, None, view, decisions)
        {}
    }

    /// Starts the waiting task with the queue position `place`, if it fits now. If `beside` is set, the task must also
    /// fit in the state `beside`. Returns whether the task started.
    pub fn start(
        &mut self,
        state: &mut QueueState,
        place: QueuePlace,
        beside: Option<&mut NodesLater>,
        view: &View<'_>,
        decisions: &mut Vec<Decision>,
    ) -> bool {
        let Self { machines, state: now, ids, running, rooms, blocked } = self;
        let known = blocked.as_ref().filter(|blocked| blocked.place == place);
        if known.is_some_and(|blocked| blocked.sum < u64::from(place.asked.width)) {
            return false;
        }
        let wanted = wanted(view.instance, place);
        let later = beside.as_ref().map(|later| &later.state);
        let found = match known {
            // The stored numbers of the blocked task do not take the state `beside` into account. So use them only
            // without `beside`.
            Some(known) if beside.is_none() && now.has_common(machines, &wanted) => {
                Some(now.find_in(machines, &wanted, &known.rooms, rooms))
            }
            _ => now.find(machines, &wanted, rooms, later),
        };
        let Some(duration) = found else {
            let looked_at_all = machines.are_plain() && beside.is_none() && wanted.processors <= now.total;
            if looked_at_all && rooms.all().len() == machines.nodes.len() {
                let sum = rooms.all().iter().copied().map(u64::from).sum();
                *blocked = Some(Blocked { place, rooms: rooms.all().to_vec(), sum });
            }
            return false;
        };
        *blocked = None;
        let mut parts = Vec::with_capacity(1);
        now.hold(machines, &wanted, duration, rooms, &mut parts);
        if let Some(later) = beside {
            later.state.hold_parts(machines, wanted.demands, wanted.processors, &parts);
        }
        let own: Vec<ProcSet> = parts.iter().map(|part| take(&mut ids[part.cell as usize], part.count)).collect();
        let intervals = own.iter().flat_map(|ids| ids.intervals().iter().copied()).collect();
        let processors = ProcSet::from_intervals(intervals);
        let task = place.task;
        state.queue.remove(place);
        state.held.begin(task, &processors, view.now, view.now + Time::from_ticks(duration));
        running.insert(task, RunningTask { processors: wanted.processors, parts, ids: own });
        decisions.push(Decision::Start { task, processors });
        true
    }

    /// Returns the instant at which the head of the queue can start, if running tasks end as expected. Also returns
    /// the nodes at this instant, after the head has started.
    pub fn later(
        &mut self,
        head: QueuePlace,
        ends: impl Iterator<Item = (Time, TaskId)>,
        view: &View<'_>,
    ) -> Option<NodesLater> {
        let Self { machines, state, running, rooms, .. } = self;
        let wanted = wanted(view.instance, head);
        let mut later = state.clone();
        let mut ends = ends.peekable();
        while let Some((at, task)) = ends.next() {
            let held = running.get(&task)?;
            later.give_back(machines, view.instance.demands(task), held.processors, &held.parts);
            if ends.peek().is_some_and(|next| next.0 == at) {
                continue;
            }
            later.advance(machines, at.max(view.now).ticks());
            if let Some(duration) = later.find(machines, &wanted, rooms, None) {
                later.hold(machines, &wanted, duration, rooms, &mut Vec::new());
                return Some(NodesLater { start: at.max(view.now), state: later });
            }
        }
        None
    }
}

impl NodesLater {
    /// Returns the number of processors that stay free when the head has started.
    pub fn free(&self) -> u32 {
        self.state.total
    }
}

fn wanted(instance: &Instance, place: QueuePlace) -> TaskToPlace<'_> {
    let (task, processors) = (place.task, place.asked.width);
    let time = instance.profile(task).time(processors).ticks();
    let walltime = instance.walltime(task).map_or(i64::MAX, Time::ticks);
    let choice = crate::kernel::choices::Choice { processors, time };
    TaskToPlace::of(instance, task, choice, walltime)
}

fn take(free: &mut ProcSet, count: u32) -> ProcSet {
    free.take(count).expect("the counts do not exceed the free processors")
}

/// The tasks that did not fit at an instant. Another task is skipped if it needs at least as many processors and as
/// much of each resource as one of these tasks.
#[derive(Debug, Default)]
pub(super) struct UnfitTasks(Vec<QueuePlace>);

impl UnfitTasks {
    /// Adds a task that did not fit.
    pub fn add(&mut self, place: QueuePlace) {
        self.0.push(place);
    }

    /// Returns whether one of the unfit tasks needs at most as much as the task at `place`. Then the task at `place`
    /// does not fit either.
    pub fn covers(&self, place: QueuePlace, instance: &Instance) -> bool {
        let no_more =
            |other: &QueuePlace| other.asked.width <= place.asked.width && needs_no_more(instance, *other, place);
        self.0.iter().any(no_more)
    }
}

/// Returns whether the task `one` needs, per processor, at most as much of every resource as the task `other`.
fn needs_no_more(instance: &Instance, one: QueuePlace, other: QueuePlace) -> bool {
    if instance.demands_number(one.task) == instance.demands_number(other.task) && one.asked.width == other.asked.width
    {
        return true;
    }
    let others = instance.demands(other.task);
    instance.demands(one.task).iter().all(|demand| {
        let same = others.iter().find(|other| other.resource == demand.resource);
        same.is_some_and(|same| demand.need.share(1, one.asked.width) <= same.need.share(1, other.asked.width))
    })
}
