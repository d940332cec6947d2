//! What is held of resources over time, node by node.

use std::collections::BTreeMap;

use makespan_core::{Demand, HeldAmount, Instance, ProcSet, ResourceId, ResourceKind, TaskId, Time};

use crate::free_time::Period;

/// A task on processors for some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holding<'p> {
    pub task: TaskId,
    pub processors: &'p ProcSet,
    pub period: Period,
    /// Whether it runs, or has run: what it uses up is counted already.
    pub begun: bool,
}

/// How much is held from each instant on, until the next.
#[derive(Clone, Debug, Default)]
struct Steps(BTreeMap<Time, u128>);

impl Steps {
    fn at(&self, instant: Time) -> u128 {
        self.0.range(..=instant).next_back().map_or(0, |(_, &amount)| amount)
    }

    fn change(&mut self, period: Period, change: impl Fn(&mut u128)) {
        for instant in [period.from, period.until] {
            let before = self.at(instant);
            self.0.entry(instant).or_insert(before);
        }
        self.0.range_mut(period.from..period.until).for_each(|(_, amount)| change(amount));
    }

    /// The most at any instant of a period.
    fn most(&self, period: Period) -> u128 {
        let within = self.0.range(period.from..period.until).map(|(_, &amount)| amount);
        within.fold(self.at(period.from), u128::max)
    }

    /// The instants after one at which the amount may change. What is held for good is not given back at the end of time.
    fn instants(&self, after: Time) -> impl Iterator<Item = Time> {
        use std::ops::Bound::Excluded;
        let later = (after < Time::MAX).then(|| self.0.range((Excluded(after), Excluded(Time::MAX))));
        later.into_iter().flatten().map(|(&instant, _)| instant)
    }
}

/// What is held of all resources; nothing where no task needs more than processors.
#[derive(Clone, Debug)]
pub(crate) struct Usage<'a> {
    instance: &'a Instance,
    /// For each node its resources; empty where no task needs anything.
    nodes: Vec<Steps>,
    /// How many resources belong to nodes.
    of_nodes: usize,
    /// What belongs to no node.
    common: Vec<Steps>,
    /// For each resource what has been used up.
    used_up: Vec<u64>,
}

impl<'a> Usage<'a> {
    /// Nothing is held, and so much of each resource has been used up.
    pub fn new(instance: &'a Instance, used_up: impl Fn(ResourceId) -> u64) -> Self {
        let platform = instance.platform();
        let resources = if instance.has_demands() { platform.resources().len() } else { 0 };
        let of_nodes = if resources > 0 { platform.node_resources() } else { 0 };
        Self {
            instance,
            nodes: vec![Steps::default(); platform.node_count() * of_nodes],
            of_nodes,
            common: vec![Steps::default(); resources - of_nodes],
            used_up: (0..resources).map(|at| used_up(ResourceId(at as u16))).collect(),
        }
    }

    /// Whether tasks need more than processors.
    pub fn matters(&self) -> bool {
        !self.used_up.is_empty()
    }

    /// Counts what a task holds.
    pub fn hold(&mut self, holding: &Holding<'_>) {
        self.each(holding, |all, amount| *all += amount);
    }

    /// Gives back what [`Usage::hold`] counted.
    pub fn release(&mut self, holding: &Holding<'_>) {
        self.each(holding, |all, amount| *all -= amount);
    }

    fn each(&mut self, holding: &Holding<'_>, change: impl Fn(&mut u128, u128)) {
        let &Holding { task, processors, period, begun } = holding;
        let instance = self.instance;
        let demands = instance.demands(task);
        if demands.is_empty() || period.from >= period.until {
            return;
        }
        let parts = instance.platform().parts(processors);
        // What runs has used up what it needs already, and what is reserved never gives that back.
        let counts = |demand: &&Demand| demand.kind != ResourceKind::Consumable || !begun;
        for demand in demands.iter().filter(counts) {
            let period = lasting(demand.kind, period);
            for (node, amount) in demand.amounts(&parts, processors.len()) {
                self.steps_mut(node, demand.resource).change(period, |all| change(all, amount.into()));
            }
        }
    }

    /// Counts what work holds that the instance does not have.
    pub fn hold_amount(&mut self, held: &HeldAmount) {
        let period = Period { from: Time::ZERO, until: held.until };
        if self.matters() && period.from < period.until {
            self.steps_mut(held.node, held.resource).change(period, |all| *all += u128::from(held.amount));
        }
    }

    fn steps(&self, node: Option<usize>, resource: ResourceId) -> &Steps {
        match node {
            Some(node) => &self.nodes[node * self.of_nodes + resource.index()],
            None => &self.common[resource.index() - self.of_nodes],
        }
    }

    fn steps_mut(&mut self, node: Option<usize>, resource: ResourceId) -> &mut Steps {
        match node {
            Some(node) => &mut self.nodes[node * self.of_nodes + resource.index()],
            None => &mut self.common[resource.index() - self.of_nodes],
        }
    }

    /// Whether enough is left in a period of what belongs to no node.
    pub fn has_common(&self, task: TaskId, width: u32, period: Period) -> bool {
        let demands = self.instance.demands(task).iter().filter(|demand| demand.kind != ResourceKind::OfNodes);
        demands.into_iter().all(|demand| self.leaves_common(demand, width, period))
    }

    fn leaves_common(&self, demand: &Demand, width: u32, period: Period) -> bool {
        let &Demand { resource, kind, ref need } = demand;
        let held = self.steps(None, resource).most(lasting(kind, period));
        let used_up = u128::from(self.used_up[resource.index()]);
        u128::from(need.total(width)) + held + used_up <= self.instance.platform().total(resource)
    }

    /// Those of some processors that a task can have in a period if it has `width` in all: of each node no more than there is
    /// room for. None where too little is left of what belongs to no node.
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

    /// How many of `most` processors of a node a task can have that has `width` in all.
    fn room_on(&self, node: usize, task: TaskId, most: u32, width: u32, period: Period) -> u32 {
        let demands = self.instance.demands(task).iter().filter(|demand| demand.kind == ResourceKind::OfNodes);
        demands.fold(most, |room, demand| demand.need.fitting(self.left_on(node, demand, period), room, width))
    }

    /// What is left of a resource of a node all the time.
    fn left_on(&self, node: usize, demand: &Demand, period: Period) -> u64 {
        let held = self.steps(Some(node), demand.resource).most(period);
        let there = self.instance.platform().amount(node, demand.resource);
        there.saturating_sub(u64::try_from(held).unwrap_or(u64::MAX))
    }

    /// The first instant, not before `from`, from which one processor of a node has room for a task that takes so long.
    /// O(log n + steps that are looked at) for n that are held.
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
            from = self.steps(place, short.resource).instants(from).next()?;
        }
        Some(from)
    }

    /// The instants after one at which something that a task needs may be given back.
    pub fn instants(&self, task: TaskId, after: Time) -> impl Iterator<Item = Time> + '_ {
        let needed = move |steps: &(usize, &Steps)| {
            let (at, _) = *steps;
            self.instance.demands(task).iter().any(|demand| demand.resource.index() == at)
        };
        let own = self.nodes.iter().enumerate().map(|(at, steps)| (at % self.of_nodes.max(1), steps));
        let common = self.common.iter().enumerate().map(|(at, steps)| (self.of_nodes + at, steps));
        own.chain(common).filter(needed).flat_map(move |(_, steps)| steps.instants(after))
    }
}

/// What is used up is never given back.
fn lasting(kind: ResourceKind, period: Period) -> Period {
    if kind == ResourceKind::Consumable { Period::since(period.from) } else { period }
}
