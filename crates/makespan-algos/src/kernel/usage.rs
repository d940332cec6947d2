//! The amounts of resources that tasks hold over time, on each node.

use makespan_core::{Demand, HeldAmount, Instance, ProcSet, ResourceId, ResourceKind, TaskId, Time};

use crate::free_time::{Period, Rows};

/// A task that holds processors for some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HoldingTask<'p> {
    pub task: TaskId,
    pub processors: &'p ProcSet,
    pub period: Period,
    /// Whether the task has started. The consumables of a started task are already included in the amounts used up.
    pub begun: bool,
}

/// The held amounts of all resources over time. The usage is empty if no task needs resources.
#[derive(Clone, Debug)]
pub(crate) struct Usage<'a> {
    instance: &'a Instance,
    /// The held amount of each resource over time: first the resources of each node, node by node, then the resources
    /// that belong to no node. The list is empty if no task needs a resource.
    held: Vec<Rows<u128>>,
    /// The number of resources that each node has.
    of_nodes: usize,
    /// For each resource, the amount that has been used up.
    used_up: Vec<u64>,
}

impl<'a> Usage<'a> {
    /// Returns the usage of an idle platform. `used_up` returns the amount of each resource that has been used up.
    pub fn new(instance: &'a Instance, used_up: impl Fn(ResourceId) -> u64) -> Self {
        let platform = instance.platform();
        let resources = if instance.has_demands() { platform.resources().len() } else { 0 };
        let of_nodes = if resources > 0 { platform.node_resources() } else { 0 };
        Self {
            instance,
            held: vec![Rows::default(); platform.node_count() * of_nodes + resources - of_nodes],
            of_nodes,
            used_up: (0..resources).map(|at| used_up(ResourceId(at as u16))).collect(),
        }
    }

    /// Returns whether some task needs a resource.
    pub fn matters(&self) -> bool {
        !self.used_up.is_empty()
    }

    /// Adds the amounts that a task holds.
    pub fn hold(&mut self, holding: &HoldingTask<'_>) {
        self.each(holding, |all, amount| *all += amount);
    }

    /// Removes the amounts that [`Usage::hold`] added.
    pub fn release(&mut self, holding: &HoldingTask<'_>) {
        self.each(holding, |all, amount| *all -= amount);
    }

    fn each(&mut self, holding: &HoldingTask<'_>, change: impl Fn(&mut u128, u128)) {
        let &HoldingTask { task, processors, period, begun } = holding;
        let instance = self.instance;
        let demands = instance.demands(task);
        if demands.is_empty() || period.from >= period.until {
            return;
        }
        let parts = instance.platform().parts(processors);
        // Omit the consumables of a task that has started, because they are included in the amounts used up. A planned
        // task holds its consumables without end, because they are never returned.
        let counts = |demand: &&Demand| demand.kind != ResourceKind::Consumable || !begun;
        for demand in demands.iter().filter(counts) {
            let period = lasting(demand.kind, period);
            for (node, amount) in demand.amounts(&parts, processors.len()) {
                self.change(node, demand.resource, period, |all| change(all, amount.into()));
            }
        }
    }

    /// Adds an amount held by work outside the instance.
    pub fn hold_amount(&mut self, held: &HeldAmount) {
        let period = Period { from: Time::ZERO, until: held.until };
        if self.matters() && period.from < period.until {
            self.change(held.node, held.resource, period, |all| *all += u128::from(held.amount));
        }
    }

    /// Returns the position of a resource in `held`. `node` is `None` for a resource that belongs to no node.
    fn place(&self, node: Option<usize>, resource: ResourceId) -> usize {
        let node = node.unwrap_or_else(|| self.instance.platform().node_count() - 1);
        node * self.of_nodes + resource.index()
    }

    fn change(&mut self, node: Option<usize>, resource: ResourceId, period: Period, change: impl Fn(&mut u128)) {
        let place = self.place(node, resource);
        let held = &mut self.held[place];
        if held.is_empty() {
            *held = Rows::new(i64::MIN, vec![0], 0);
        }
        held.change(period.from.ticks(), period.until.ticks(), |row| change(&mut row[0]));
    }

    /// Returns the maximum, over the instants of a period, of the held amount of a resource.
    fn most(&self, node: Option<usize>, resource: ResourceId, period: Period) -> u128 {
        let held = &self.held[self.place(node, resource)];
        let rows = (!held.is_empty()).then(|| held.rows(held.step_at(period.from.ticks()), period.until.ticks()));
        rows.into_iter().flatten().fold(0, |most, row| most.max(row[0]))
    }

    /// Returns whether enough licences and consumables are left in a period for a task on `width` processors.
    pub fn has_common(&self, task: TaskId, width: u32, period: Period) -> bool {
        let demands = self.instance.demands(task).iter().filter(|demand| demand.kind != ResourceKind::OfNodes);
        demands.into_iter().all(|demand| self.leaves_common(demand, width, period))
    }

    fn leaves_common(&self, demand: &Demand, width: u32, period: Period) -> bool {
        let &Demand { resource, kind, ref need } = demand;
        let held = self.most(None, resource, lasting(kind, period));
        let used_up = u128::from(self.used_up[resource.index()]);
        u128::from(need.total(width)) + held + used_up <= self.instance.platform().total(resource)
    }

    /// Returns the processors of `open` that a task on `width` processors can use in a period. On each node, the
    /// resources of the node limit the number of processors. Returns no processors if the licences or consumables are
    /// insufficient.
    pub fn with_room(&self, task: TaskId, width: u32, open: ProcSet, period: Period) -> ProcSet {
        let (instance, platform) = (self.instance, self.instance.platform());
        if instance.demands(task).is_empty() {
            return open;
        }
        if !self.has_common(task, width, period) {
            return ProcSet::new();
        }
        let mut kept = Vec::new();
        for (node, here) in platform.parts(&open) {
            let room = self.room_on(node, task, here.min(width), width, period);
            let mut own = open.intersection(&platform.processors_of(node));
            let taken = own.take(room).unwrap_or_default();
            kept.extend_from_slice(taken.intervals());
        }
        ProcSet::from_intervals(kept)
    }

    /// Returns the maximum number of processors, up to `most`, that a task on `width` processors can use on a node.
    /// The resources of the node must suffice for these processors throughout the period.
    fn room_on(&self, node: usize, task: TaskId, most: u32, width: u32, period: Period) -> u32 {
        let demands = self.instance.demands(task).iter().filter(|demand| demand.kind == ResourceKind::OfNodes);
        demands.fold(most, |room, demand| demand.need.fitting(self.left_on(node, demand, period), room, width))
    }

    /// Returns the amount of a resource of a node that is free for the whole period.
    fn left_on(&self, node: usize, demand: &Demand, period: Period) -> u64 {
        let held = self.most(Some(node), demand.resource, period);
        let there = self.instance.platform().amount(node, demand.resource);
        there.saturating_sub(u64::try_from(held).unwrap_or(u64::MAX))
    }

    /// Returns the first instant T at or after `from` such that the resources suffice from T to T + `time`. The task
    /// runs on one processor of `node`. Takes O(log n + visited steps) for n steps.
    pub fn earliest(&self, task: TaskId, node: usize, mut from: Time, time: Time) -> Option<Time> {
        let demands = self.instance.demands(task);
        while let Some(short) = demands.iter().find(|demand| {
            let period = Period { from, until: from + time };
            match demand.kind {
                ResourceKind::OfNodes => demand.need.fitting(self.left_on(node, demand, period), 1, 1) == 0,
                _ => !self.leaves_common(demand, 1, period),
            }
        }) {
            let place = (short.kind == ResourceKind::OfNodes).then_some(node);
            from = self.held[self.place(place, short.resource)].instants(from.ticks()).next().map(Time::from_ticks)?;
        }
        Some(from)
    }

    /// Returns the instants after `after` at which the held amount of a resource that the task needs may fall.
    pub fn instants(&self, task: TaskId, after: Time) -> impl Iterator<Item = Time> + '_ {
        let resources = self.instance.demands(task).iter().map(|demand| (demand.resource, demand.kind));
        let places = resources.flat_map(move |(resource, kind)| {
            let nodes = if kind == ResourceKind::OfNodes { self.instance.platform().node_count() } else { 1 };
            (0..nodes).map(move |node| self.place((kind == ResourceKind::OfNodes).then_some(node), resource))
        });
        places.flat_map(move |place| self.held[place].instants(after.ticks())).map(Time::from_ticks)
    }
}

/// Returns the period for which a resource is held. For a consumable, the period has no end, because consumables are
/// never returned.
fn lasting(kind: ResourceKind, period: Period) -> Period {
    if kind == ResourceKind::Consumable { Period::since(period.from) } else { period }
}
