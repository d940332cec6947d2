//! What nodes have free now and later, kept from event to event: for queues of tasks that need more than processors.

use makespan_core::{Decision, Event, Instance, ProcSet, ResourceId, ResourceKind, TaskId, Time, View};
use rustc_hash::FxHashMap;

use super::order::Place;
use super::queue_state::QueueState;
use crate::kernel::packing::{Machines, Part, Rooms, State, Wanted};

/// Free processors and what is left of everything else, node by node. An event costs what it changes, and a start a walk over the
/// nodes.
#[derive(Debug)]
pub(super) struct NodesNow {
    machines: Machines,
    state: State,
    /// The free ids of each cell.
    ids: Vec<ProcSet>,
    running: FxHashMap<TaskId, Held>,
    rooms: Rooms,
    /// The task that found no place last: until something starts, only nodes change that something ended on.
    blocked: Option<Blocked>,
}

/// A task that found no place.
#[derive(Debug)]
struct Blocked {
    place: Place,
    /// How many processors it could have on each node.
    rooms: Vec<u32>,
    sum: u64,
}

/// What a running task holds.
#[derive(Debug)]
struct Held {
    processors: u32,
    parts: Vec<Part>,
    ids: Vec<ProcSet>,
}

/// The nodes when the head of a queue begins, with what it holds then.
#[derive(Debug)]
pub(super) struct Later {
    pub start: Time,
    state: State,
}

impl NodesNow {
    /// What a view shows; `None` where tasks need nothing but processors, and while processors are down.
    fn of(view: &View<'_>) -> Option<Self> {
        let instance = view.instance;
        if !instance.has_demands() || !view.down.is_empty() {
            return None;
        }
        let machines = Machines::new(instance);
        let ids = machines.cells.iter().map(|cell| cell.ids.clone()).collect();
        let mut state = State::default();
        state.reset(&machines, view.now.ticks());
        let mut nodes =
            Self { machines, state, ids, running: FxHashMap::default(), rooms: Rooms::default(), blocked: None };
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

    /// A task that runs already.
    fn see(&mut self, instance: &Instance, task: TaskId, processors: &ProcSet) {
        let mut held = Held { processors: processors.len(), parts: Vec::new(), ids: Vec::new() };
        for (cell, own) in self.machines.cells.iter().enumerate() {
            let ids = own.ids.intersection(processors);
            if !ids.is_empty() {
                held.parts.push(Part { cell: cell as u32, count: ids.len() });
                self.ids[cell].remove(&ids);
                held.ids.push(ids);
            }
        }
        // What it has used up is among all that has been.
        let demands: Vec<_> = instance.demands(task).to_vec();
        let back: Vec<_> = demands.into_iter().filter(|demand| demand.kind != ResourceKind::Consumable).collect();
        self.state.hold_parts(&self.machines, &back, held.processors, &held.parts);
        self.running.insert(task, held);
    }

    /// Takes in the events of an instant; what does not agree with the view is taken from it again.
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
                    // It was looked for with the time that it took.
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

    /// Whether it knows of as many running tasks as the view, and nothing is down.
    fn agrees(&self, view: &View<'_>) -> bool {
        self.running.len() == view.running.len() && view.down.is_empty()
    }

    /// A task runs no more.
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

    /// How many processors are free.
    pub fn free(&self) -> u32 {
        self.state.total
    }

    /// Starts the tasks at the head of the queue, in order, until one does not fit.
    pub fn start_heads(&mut self, state: &mut QueueState, view: &View<'_>, decisions: &mut Vec<Decision>) {
        while let Some(place) = state.queue.first()
            && self.start(state, place, None, view, decisions)
        {}
    }

    /// Starts the task at a place of the queue now, if it fits, and where `beside` is given if it fits there, too; whether it does.
    pub fn start(
        &mut self,
        state: &mut QueueState,
        place: Place,
        beside: Option<&mut Later>,
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
            // What changes without a place for it is not known of each node.
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
        running.insert(task, Held { processors: wanted.processors, parts, ids: own });
        decisions.push(Decision::Start { task, processors });
        true
    }

    /// When the task at the head of the queue can begin as far as what runs is believed to end, and the nodes then, with what it
    /// holds.
    pub fn later(&mut self, head: Place, ends: impl Iterator<Item = (Time, TaskId)>, view: &View<'_>) -> Option<Later> {
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
                return Some(Later { start: at.max(view.now), state: later });
            }
        }
        None
    }
}

impl Later {
    /// How many processors the head leaves free.
    pub fn free(&self) -> u32 {
        self.state.total
    }
}

fn wanted(instance: &Instance, place: Place) -> Wanted<'_> {
    let (task, processors) = (place.task, place.asked.width);
    let time = instance.profile(task).time(processors).ticks();
    let walltime = instance.walltime(task).map_or(i64::MAX, Time::ticks);
    let choice = crate::kernel::choices::Choice { processors, time };
    Wanted::of(instance, task, choice, walltime)
}

fn take(free: &mut ProcSet, count: u32) -> ProcSet {
    free.take(count).expect("the counts say that so many are free")
}

/// Tasks that found no place at an instant: who asks for at least as many processors, and as much for each, is not looked at.
#[derive(Debug, Default)]
pub(super) struct NotNow(Vec<Place>);

impl NotNow {
    /// One more.
    pub fn add(&mut self, place: Place) {
        self.0.push(place);
    }

    /// Whether one that asked for no more found no place.
    pub fn covers(&self, place: Place, instance: &Instance) -> bool {
        let no_more = |other: &Place| other.asked.width <= place.asked.width && needs_no_more(instance, *other, place);
        self.0.iter().any(no_more)
    }
}

/// Whether one task needs no more of anything for a processor than another.
fn needs_no_more(instance: &Instance, one: Place, other: Place) -> bool {
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
