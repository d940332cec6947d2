//! What is held of resources over time, node by node.

use makespan_core::{Demand, Instance, ProcSet, ResourceKind, TaskId, Time, View};

use super::space::Slot;

/// An amount of a resource that is held for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    resource: u16,
    start: Time,
    end: Time,
    amount: u64,
}

/// What is held by all slots; nothing where no task needs more than processors.
#[derive(Clone, Debug)]
pub(super) struct Usage<'a> {
    instance: &'a Instance,
    /// For each node; empty where no task needs anything.
    nodes: Vec<Vec<Held>>,
    /// What belongs to no node.
    common: Vec<Held>,
    /// For each resource what has been used up.
    used_up: Vec<u64>,
}

impl<'a> Usage<'a> {
    /// Nothing but what has been used up.
    pub fn of(view: &View<'a>) -> Self {
        let instance = view.instance;
        let platform = instance.platform();
        let needed = instance.has_demands();
        let count = if needed { platform.node_count() } else { 0 };
        let used_up = |(at, _)| view.ended.used_up(makespan_core::ResourceId(at as u16));
        let used_up = platform.resources().iter().enumerate().filter(|_| needed).map(used_up).collect();
        Self { instance, nodes: vec![Vec::new(); count], common: Vec::new(), used_up }
    }

    /// Whether tasks need more than processors.
    pub fn matters(&self) -> bool {
        !self.nodes.is_empty()
    }

    /// Counts what the task of a slot holds.
    pub fn hold(&mut self, slot: &Slot) {
        self.each(slot, Vec::push);
    }

    /// Gives back what [`Usage::hold`] counted.
    pub fn release(&mut self, slot: &Slot) {
        self.each(slot, |held, amount| {
            if let Some(at) = held.iter().rposition(|other| *other == amount) {
                held.swap_remove(at);
            }
        });
    }

    fn each(&mut self, slot: &Slot, change: impl Fn(&mut Vec<Held>, Held)) {
        let Some(task) = slot.task.filter(|_| self.matters()) else { return };
        let demands = self.instance.demands(task);
        if demands.is_empty() {
            return;
        }
        let allotment = slot.processors.len();
        let parts = self.instance.platform().parts(&slot.processors);
        // What runs has used up what it needs already, and what is reserved never gives that back.
        let counts = |demand: &&Demand| demand.kind != ResourceKind::Consumable || !slot.begun;
        for demand in demands.iter().filter(counts) {
            let end = if demand.kind == ResourceKind::Consumable { Time::MAX } else { slot.end };
            for (node, amount) in demand.amounts(&parts, allotment) {
                let held = Held { resource: demand.resource.0, start: slot.start, end, amount };
                change(node.map_or(&mut self.common, |node| &mut self.nodes[node]), held);
            }
        }
    }

    /// The most that is held of a resource at any instant of a period.
    fn most(held: &[Held], resource: u16, start: Time, end: Time) -> u64 {
        let meeting = || held.iter().filter(|one| one.resource == resource && one.start < end && start < one.end);
        // Most is held when something begins, or at the start of the period.
        let begins = meeting().map(|one| one.start.max(start));
        let at = |instant: Time| {
            let all = meeting().filter(|one| one.start <= instant && instant < one.end);
            all.map(|one| one.amount).fold(0, u64::saturating_add)
        };
        begins.map(at).max().unwrap_or(0)
    }

    /// Those of some processors that a task can have from `start` to `end` if it has `width` in all: of each node no more than
    /// there is room for. None where too little is left of what belongs to no node.
    pub fn with_room(&self, task: TaskId, width: u32, open: ProcSet, start: Time, end: Time) -> ProcSet {
        let demands = self.instance.demands(task);
        if demands.is_empty() {
            return open;
        }
        let platform = self.instance.platform();
        for Demand { resource, need, .. } in demands.iter().filter(|demand| demand.kind != ResourceKind::OfNodes) {
            let end = if platform.resource_of(*resource).kind == ResourceKind::Consumable { Time::MAX } else { end };
            let held = Self::most(&self.common, resource.0, start, end).saturating_add(self.used_up[resource.index()]);
            if u128::from(need.total(width)) + u128::from(held) > platform.total(*resource) {
                return ProcSet::new();
            }
        }
        let mut kept = Vec::new();
        for (node, here) in platform.parts(&open) {
            let mut room = here.min(width);
            for Demand { resource, need, .. } in demands.iter().filter(|demand| demand.kind == ResourceKind::OfNodes) {
                let held = Self::most(&self.nodes[node], resource.0, start, end);
                let left = platform.amount(node, *resource).saturating_sub(held);
                room = need.fitting(left, room, width);
            }
            let mut own = open.intersection(&platform.processors_of(node));
            let taken = own.take(room).unwrap_or_default();
            kept.extend_from_slice(taken.intervals());
        }
        ProcSet::from_intervals(kept)
    }
}
