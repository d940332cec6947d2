//! The processors, quotas and other resources that are free for further starts, now and later.

use std::collections::BTreeMap;

use makespan_core::{Instance, ProcSet, ResourceId, ResourceKind, TaskId, Time, Unavailable, View};

use super::levels::{Levels, Use};
use super::owners::Owners;
use super::quota::ProcessorLimits;

/// Maximum time by which a task that starts a moment later than planned may run into a closed period.
const GRACE: Time = Time::from_ticks(Time::TICKS_PER_SECOND / 2);

/// Something that tasks share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shared {
    /// The processors, if only their number matters.
    Processors,
    /// The processors that a user with a limit may use at once. The value is the position of the limit.
    User(usize),
    /// A resource of a node or of the platform.
    Resource(Option<usize>, ResourceId),
}

/// A waiting task with its processors.
#[derive(Clone, Debug)]
pub(super) struct Candidate<'a> {
    /// The task, or `None` if the engine has not received it.
    pub task: Option<TaskId>,
    pub user: &'a str,
    pub processors: &'a ProcSet,
    /// The start and the end. The task holds its resources in this time.
    pub time: (Time, Time),
}

/// The resources that running tasks leave, and the reservations of the plan.
pub(super) struct Room<'a> {
    view: &'a View<'a>,
    limits: Vec<(&'a str, u32)>,
    /// The free processors.
    pub free: ProcSet,
    /// True if only the number of processors matters, because there is one node, and no processors are closed.
    pub is_counted: bool,
    /// The amounts that running tasks use now.
    used: BTreeMap<Shared, i128>,
    /// The uses of running tasks.
    running: Vec<(Shared, Use)>,
    /// The levels of running tasks and of the reservations, once they are needed.
    levels: Option<BTreeMap<Shared, Levels>>,
}

impl<'a> Room<'a> {
    pub fn of(view: &'a View<'a>, owners: &Owners, limits: &'a ProcessorLimits) -> Self {
        let limits: Vec<(&str, u32)> = limits.iter().map(|(user, &limit)| (user.as_str(), limit)).collect();
        let nodes = view.instance.platform().nodes().iter().filter(|node| node.processors > 0).count();
        let is_closed = view.instance.unavailable().iter().chain(view.down).any(|period| period.end > view.now);
        let is_counted = nodes == 1 && !is_closed;
        let mut running = Vec::new();
        for run in view.running {
            let (end, amount) = (run.expected_end(view.instance, view.now), i128::from(run.processors.len()));
            let one = Use { start: view.now, end, amount };
            let user = owners.of(run.task).and_then(|(owned, _)| position(&limits, &owned.user));
            running.extend(is_counted.then_some((Shared::Processors, one)));
            running.extend(user.map(|user| (Shared::User(user), one)));
        }
        let held = view.held().into_iter().map(|held| {
            let one = Use { start: view.now, end: held.until, amount: held.amount.into() };
            (Shared::Resource(held.node, held.resource), one)
        });
        running.extend(held);
        let mut used = BTreeMap::new();
        running.iter().for_each(|(shared, one)| *used.entry(*shared).or_insert(0) += one.amount);
        Self { view, limits, free: view.free.clone(), is_counted, used, running, levels: None }
    }

    /// Returns true if the task of `candidate` may start now: its processors are free and stay open, and the resources
    /// and the quota that it needs are free now. Reservations are ignored. If the task starts late, it may run into a
    /// closed period by `late`.
    pub fn may_start(&self, candidate: &Candidate<'_>, late: Time) -> bool {
        let Some(task) = candidate.task else { return false };
        let grace = late.min(GRACE);
        let end =
            Time::from_ticks(candidate.time.1.ticks().saturating_sub(grace.ticks()).max(self.view.now.ticks() + 1));
        self.view.instance.accepts(task, candidate.processors)
            && candidate.processors.is_subset(&self.free)
            && self.closed_within(end).all(|period| period.processors.is_disjoint(candidate.processors))
            && self
                .needs(candidate)
                .iter()
                .all(|&(shared, amount, _)| self.used.get(&shared).copied().unwrap_or(0) + amount <= self.total(shared))
    }

    /// Returns true if the task of `candidate` fits between the running tasks and the reservations `slots` until its
    /// end. `own` is the position of its own reservation, which is ignored.
    pub fn fits(&mut self, candidate: &Candidate<'_>, own: Option<usize>, slots: &[Candidate<'_>]) -> bool {
        let meets = |(at, slot): (usize, &Candidate<'_>)| {
            Some(at) != own && slot.time.0 < candidate.time.1 && !slot.processors.is_disjoint(candidate.processors)
        };
        if !self.is_counted && slots.iter().enumerate().any(meets) {
            return false;
        }
        let left_out: Vec<(Shared, Use)> = own.map_or_else(Vec::new, |own| self.uses(&slots[own]));
        let needs = self.needs(candidate);
        let totals: Vec<i128> = needs.iter().map(|need| self.total(need.0)).collect();
        let levels = self.levels(slots);
        needs.iter().zip(totals).all(|(&(shared, amount, until), total)| {
            let without = left_out.iter().find(|one| one.0 == shared).map(|one| one.1);
            let time = (candidate.time.0, until);
            levels.get(&shared).is_none_or(|levels| levels.are_within(time, total - amount, without)) && amount <= total
        })
    }

    /// Returns `count` free processors on which no closed period and no reservation of other tasks begins before `end`.
    /// The reservation at the position `own` is ignored.
    pub fn open(&self, count: u32, end: Time, own: Option<usize>, slots: &[Candidate<'_>]) -> Option<ProcSet> {
        let mut open = self.free.clone();
        if !self.is_counted {
            self.closed_within(end).for_each(|period| open.remove(&period.processors));
            let others = slots.iter().enumerate().filter(|(at, slot)| Some(*at) != own && slot.time.0 < end);
            others.for_each(|(_, slot)| open.remove(slot.processors));
        }
        open.take(count)
    }

    /// Counts a task that starts now. `own` is its reservation, which it leaves.
    pub fn start(&mut self, candidate: &Candidate<'_>, own: Option<&Candidate<'_>>) {
        self.free.remove(candidate.processors);
        let uses = self.uses(candidate);
        let left: Vec<(Shared, Use)> = own.map_or_else(Vec::new, |own| self.uses(own));
        for &(shared, one) in &uses {
            *self.used.entry(shared).or_insert(0) += one.amount;
            self.running.push((shared, one));
        }
        if let Some(levels) = &mut self.levels {
            let left = left.into_iter().map(|(shared, one)| (shared, Use { amount: -one.amount, ..one }));
            uses.into_iter().chain(left).for_each(|(shared, one)| levels.entry(shared).or_default().add(one));
        }
    }

    fn closed_within(&self, end: Time) -> impl Iterator<Item = &'a Unavailable> {
        let (now, view) = (self.view.now, self.view);
        let all = view.instance.unavailable().iter().chain(view.down);
        all.filter(move |period| period.start < end && period.end > now)
    }

    /// Returns the levels of running tasks and of the reservations `slots`.
    fn levels(&mut self, slots: &[Candidate<'_>]) -> &BTreeMap<Shared, Levels> {
        if self.levels.is_none() {
            let reserved = slots.iter().flat_map(|slot| self.uses(slot));
            let mut uses: BTreeMap<Shared, Vec<Use>> = BTreeMap::new();
            for (shared, one) in self.running.iter().copied().chain(reserved) {
                uses.entry(shared).or_default().push(one);
            }
            self.levels = Some(uses.into_iter().map(|(shared, uses)| (shared, Levels::of(uses))).collect());
        }
        self.levels.get_or_insert_default()
    }

    fn uses(&self, candidate: &Candidate<'_>) -> Vec<(Shared, Use)> {
        let needs = self.needs(candidate).into_iter();
        needs.map(|(shared, amount, end)| (shared, Use { start: candidate.time.0, end, amount })).collect()
    }

    /// Returns the amounts that a task needs, each with the instant until which the task holds it.
    fn needs(&self, candidate: &Candidate<'_>) -> Vec<(Shared, i128, Time)> {
        let &Candidate { task, user, processors, time: (_, end) } = candidate;
        let (width, instance) = (processors.len(), self.view.instance);
        let user = position(&self.limits, user).map(Shared::User);
        let counted = self.is_counted.then_some(Shared::Processors);
        let mut needs: Vec<(Shared, i128, Time)> =
            counted.into_iter().chain(user).map(|shared| (shared, i128::from(width), end)).collect();
        let Some(task) = task.filter(|&task| !instance.demands(task).is_empty()) else { return needs };
        let parts = instance.platform().parts(processors);
        for demand in instance.demands(task) {
            let until = if demand.kind == ResourceKind::Consumable { Time::MAX } else { end };
            let each = demand.amounts(&parts, width);
            needs.extend(each.map(|(node, amount)| (Shared::Resource(node, demand.resource), amount.into(), until)));
        }
        needs
    }

    fn total(&self, shared: Shared) -> i128 {
        let platform = self.view.instance.platform();
        match shared {
            Shared::Processors => platform.processors().into(),
            Shared::User(at) => self.limits[at].1.into(),
            Shared::Resource(Some(node), resource) => platform.amount(node, resource).into(),
            Shared::Resource(None, resource) => i128::try_from(platform.total(resource)).unwrap_or(i128::MAX),
        }
    }
}

fn position(limits: &[(&str, u32)], user: &str) -> Option<usize> {
    limits.binary_search_by(|one| one.0.cmp(user)).ok()
}

/// Returns the expected end of a task that starts now on these processors.
pub(super) fn end_of(instance: &Instance, task: TaskId, processors: &ProcSet, now: Time) -> Time {
    instance.try_time(task, processors).map_or(Time::MAX, |time| now + time)
}
