//! The relaxed problem that a complete search examines, in units of the time grid.
//!
//! `docs/refutation.md` defines this problem for the certificate `refutation`. The checker in `makespan-verify` creates
//! the problem from the instance independently. So an error in this file may prevent a proof, but never makes a bound
//! wrong.

use std::ops::Range;

use makespan_core::{Instance, Objective, ResourceId, ResourceKind, Route, TaskId};
use makespan_verify::proof::Refutation;

use super::machines::{self, MachineClass};
use super::supply::Supply;
use super::support::unsupported;
use super::task::{ModelTask, Wait};
use super::units::{amount, consumable, down, renewable};
use super::unproved::{DIGITS, Unproved};

/// Upper limit for values of the objective, and for instants in units of the time grid. The byte format of the
/// certificate requires this limit.
const LIMIT: i64 = 1 << 58;
/// Maximum total number of modes of all tasks.
const MAX_MODES: usize = 4096;
/// Maximum number of dominated allotments after an allotment for which the dominated allotments can be separate modes.
/// The checker has the same limit.
const MAX_DOMINATED: u32 = 7;
/// Maximum number of processors of a task.
const MAX_PROCESSORS: u32 = 1 << 16;
/// Maximum number of nodes on which lifted scales distribute tasks. The checker has the same limit.
const MAX_NODES: usize = 64;
/// Maximum number of resources, including the processors.
const MAX_SUPPLIES: usize = 64;

/// The relaxed problem: tasks that need amounts of renewable resources.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) objective: Objective,
    /// Length of the unit of time, in ticks.
    pub(super) grid: i64,
    pub(super) tasks: Vec<ModelTask>,
    /// The processors, then the renewable resources, then the dual-feasible scales.
    pub(super) supplies: Vec<Supply>,
    /// The number of supplies without scales.
    pub(super) own: usize,
    /// The amount of each consumable.
    pub(super) consumables: Vec<i64>,
    /// The index of the first lifted scale.
    pub(super) lifted: usize,
    /// For each node, the amount of each supply on this node. Empty if the platform has only one node, or if processors
    /// differ.
    pub(super) nodes: Vec<Vec<i64>>,
    /// The classes of nodes on which every task takes the same time. Empty if all processors are equal.
    pub(super) classes: Vec<MachineClass>,
    pub(super) waits: Vec<Wait>,
    /// For each wait with transfers between classes: the time from start to start for each mode of the first task and
    /// each mode of the second task.
    pub(super) gaps: Vec<Vec<Vec<i64>>>,
    /// True if the objective is a sum of weighted ends or of weighted tardinesses.
    pub(super) is_sum: bool,
    /// The sum over all tasks of the cost of their earliest ends: a lower bound on each objective that is a sum over
    /// jobs.
    base: i128,
    horizon: i64,
}

impl Model {
    /// Returns the relaxed problem of an instance in units of `grid` ticks, or the reason why the search does not
    /// support the instance or the objective.
    pub(super) fn new(instance: &Instance, objective: Objective, grid: i64) -> Result<Self, Unproved> {
        if let Some(reason) = unsupported(instance, objective) {
            return Err(reason);
        }
        let mut tasks = tasks(instance, objective, grid)?;
        let mut supplies = supplies(instance, grid)?;
        let (mut nodes, mut classes) = (nodes(instance), Vec::new());
        if machines::are_classes(instance) {
            nodes.clear();
            classes = machines::classes(instance, grid, &mut supplies)?;
            machines::set_modes(&mut tasks, instance, &classes, grid)?;
        }
        if supplies.len() > MAX_SUPPLIES {
            let most = MAX_SUPPLIES - 1;
            return Err(Unproved::feature(format!("more than {most} resources and classes of different machines")));
        }
        let mut waits = waits(instance, grid);
        let gaps = machines::set_transfers(&mut waits, instance, (&tasks, &classes), grid);
        let is_sum = Refutation::is_sum(objective);
        let (own, lifted) = (supplies.len(), supplies.len());
        let total = |resource| amount(instance.platform().total(resource));
        let consumables = consumable(instance).map(total).collect::<Result<Vec<_>, _>>()?;
        if consumables.len() > MAX_SUPPLIES {
            return Err(Unproved::feature(format!("more than {MAX_SUPPLIES} consumables")));
        }
        let most = tasks.iter().flat_map(|task| &task.used_up).filter_map(|used| used.iter().max());
        if most.map(|&most| i128::from(most)).sum::<i128>() > i128::from(i64::MAX / 4) {
            return Err(Unproved::feature("amounts of consumables with this many digits"));
        }
        let mut model = Self {
            objective,
            grid,
            tasks,
            supplies,
            own,
            consumables,
            lifted,
            nodes,
            classes,
            waits,
            gaps,
            is_sum,
            base: 0,
            horizon: 0,
        };
        model.find_heads();
        model.horizon = model.find_horizon().ok_or_else(|| Unproved::feature(DIGITS))?;
        model.base = model.tasks.iter().map(least).sum();
        if is_sum && model.tasks.iter().all(|task| task.weight == 0) {
            return Err(Unproved::feature("jobs that all have weight 0"));
        }
        Ok(model)
    }

    /// Sets the latest start of each task in each mode, such that the objective can still be at most `value`. Returns
    /// false if the longest paths alone prove that the objective exceeds `value`.
    pub(super) fn limit(&mut self, value: i64) -> bool {
        let left = i128::from(value) - self.base;
        let due = |task: &ModelTask| match self.objective {
            Objective::Makespan => value,
            Objective::MaxTardiness => task.due.map_or(self.horizon, |due| due.saturating_add(value)).min(self.horizon),
            _ if task.weight == 0 => self.horizon,
            _ => {
                let due = (left + least(task)).div_euclid(task.weight.into()) + i128::from(task.free_until);
                due.clamp(-i128::from(LIMIT), self.horizon.into()) as i64
            }
        };
        let mut dues: Vec<i64> = self.tasks.iter().map(due).collect();
        loop {
            let mut is_changed = false;
            for wait in &self.waits {
                let by = dues[wait.to] - self.tasks[wait.to].shortest() - wait.delay;
                is_changed |= by < dues[wait.from];
                dues[wait.from] = dues[wait.from].min(by);
            }
            if !is_changed {
                break;
            }
        }
        for (task, due) in self.tasks.iter_mut().zip(dues) {
            task.latest = task.times.iter().map(|time| due - time).collect();
        }
        !(self.is_sum && left < 0) && self.tasks.iter().all(|task| task.head <= task.latest[task.modes() - 1])
    }

    /// Returns the supplies that are too small for all tasks to run at the same time.
    pub(super) fn scarce(&self) -> Vec<usize> {
        let most = |task: &ModelTask, supply: usize| task.amounts[supply].iter().copied().max().unwrap_or(0);
        let all = |supply: usize| self.tasks.iter().map(|task| most(task, supply)).sum::<i64>();
        (0..self.supplies.len()).filter(|&supply| all(supply) > self.supplies[supply].least()).collect()
    }

    /// Returns the largest end that the latest starts allow, over all tasks and modes.
    pub(super) fn last_end(&self) -> i64 {
        let ends =
            self.tasks.iter().flat_map(|task| task.latest.iter().zip(&task.times).map(|(start, time)| start + time));
        ends.max().unwrap_or(0)
    }

    /// Returns true if two tasks are equal in all fields and take part in no wait.
    pub(super) fn are_equal(&self, first: usize, second: usize) -> bool {
        let near = |task: usize| self.waits.iter().any(|wait| wait.from == task || wait.to == task);
        !near(first) && !near(second) && self.tasks[first] == self.tasks[second]
    }

    /// Returns true if reversing the time turns each valid schedule into a valid schedule.
    pub(super) fn is_symmetric(&self) -> bool {
        self.objective == Objective::Makespan
            && self.waits.is_empty()
            && self.tasks.iter().all(|task| task.release == 0)
            && self.supplies.iter().all(Supply::is_constant)
    }

    fn find_heads(&mut self) {
        loop {
            let mut is_changed = false;
            for wait in &self.waits {
                let start = self.tasks[wait.from].head + self.tasks[wait.from].shortest() + wait.delay;
                is_changed |= start > self.tasks[wait.to].head;
                self.tasks[wait.to].head = self.tasks[wait.to].head.max(start);
            }
            if !is_changed {
                return;
            }
        }
    }

    fn find_horizon(&self) -> Option<i64> {
        let last = self.tasks.iter().map(|task| task.release).chain(self.supplies.iter().flat_map(Supply::changes));
        let gaps = self.gaps.iter().map(|gaps| gaps.iter().flatten().copied().max().unwrap_or(0));
        let delays = self.waits.iter().map(|wait| wait.delay).chain(gaps);
        let times = self.tasks.iter().map(|task| task.times[0]).chain(delays);
        let end = times.fold(i128::from(last.max().unwrap_or(0)), |sum, time| sum + i128::from(time));
        // The last instant times the largest amount must fit into 64 bits, with a margin.
        let most = self.supplies.iter().map(Supply::most).max().unwrap_or(1).max(1);
        i64::try_from(end).ok().filter(|end| i128::from(*end) * i128::from(most) * 4 < i128::from(i64::MAX))
    }
}

fn least(task: &ModelTask) -> i128 {
    i128::from(task.weight) * i128::from((task.head + task.shortest() - task.free_until).max(0))
}

/// Returns, for each node, the amount of each supply on this node. Returns no nodes if the platform has only one node or
/// too many nodes.
fn nodes(instance: &Instance) -> Vec<Vec<i64>> {
    let platform = instance.platform();
    if !(2..=MAX_NODES).contains(&platform.node_count()) {
        return Vec::new();
    }
    let amount = |node: usize, resource| match platform.resource_of(resource).kind {
        ResourceKind::OfNodes => i64::try_from(platform.amount(node, resource)).unwrap_or(i64::MAX),
        _ => i64::MAX,
    };
    let amounts = |node: usize| {
        let processors = i64::from(platform.processors_of(node).len());
        std::iter::once(processors).chain(renewable(instance).map(|resource| amount(node, resource))).collect()
    };
    (0..platform.node_count()).map(amounts).collect()
}

fn tasks(instance: &Instance, objective: Objective, grid: i64) -> Result<Vec<ModelTask>, Unproved> {
    let weights = Refutation::weights(objective, instance).0;
    let (mut tasks, mut modes): (Vec<ModelTask>, usize) = (Vec::new(), 0);
    for (task, weight) in instance.task_ids().zip(weights) {
        let profile = instance.profile(task);
        let ranges = mode_ranges(instance, task);
        modes += ranges.len();
        if modes > MAX_MODES || profile.max_processors() > MAX_PROCESSORS {
            return Err(Unproved::feature(format!(
                "more than {MAX_PROCESSORS} processors for a task or {MAX_MODES} allotments in all"
            )));
        }
        let of = |resource| ranges.iter().map(|range| need(instance, task, resource, range.own.clone())).collect();
        let allotments: Vec<u32> = ranges.iter().map(|range| range.own.start).collect();
        let processors = allotments.iter().copied().map(i64::from).collect();
        let amounts = std::iter::once(Ok(processors)).chain(renewable(instance).map(of)).collect::<Result<_, _>>()?;
        let used_up = consumable(instance).map(of).collect::<Result<_, _>>()?;
        let release = down(instance.release(task), grid);
        let due = instance.job_of(task).deadline.map(|due| -(-due.ticks()).div_euclid(grid));
        let times = ranges.iter().map(|range| down(profile.time(range.all.start), grid)).collect();
        let free_until = due.filter(|_| objective.is_tardiness()).unwrap_or(0);
        tasks.push(ModelTask {
            release,
            head: release,
            weight,
            due,
            free_until,
            allotments,
            until: ranges.iter().map(|range| range.all.end).collect(),
            machines: Vec::new(),
            times,
            latest: Vec::new(),
            amounts,
            used_up,
        });
    }
    if tasks.iter().any(|task| task.release < 0 || task.shortest() < 0) {
        return Err(Unproved::feature("times before 0"));
    }
    Ok(tasks)
}

/// The allotments of a mode.
struct ModeRange {
    /// The allotments over which the needs of the mode are minimised.
    own: Range<u32>,
    /// An allotment that is not dominated, and the dominated allotments that follow it. All modes of these allotments
    /// share this range.
    all: Range<u32>,
}

/// Returns the allotments of each mode of a task. If at most `MAX_DOMINATED` dominated allotments follow an allotment,
/// each dominated allotment that needs less of some resource is a separate mode.
fn mode_ranges(instance: &Instance, task: TaskId) -> Vec<ModeRange> {
    let (profile, demands) = (instance.profile(task), instance.demands(task));
    let firsts: Vec<u32> = profile.allotments().take(MAX_MODES + 1).collect();
    let ends = firsts.iter().skip(1).copied().chain([profile.max_processors() + 1]);
    let mut ranges: Vec<ModeRange> = Vec::new();
    for (&first, end) in firsts.iter().zip(ends) {
        let all = first..end;
        if end - first > MAX_DOMINATED + 1 {
            ranges.push(ModeRange { own: all.clone(), all });
            continue;
        }
        let begin = ranges.len();
        for processors in all.clone() {
            let needs_no_more = |kept: &ModeRange| {
                demands.iter().all(|demand| demand.need.total(kept.own.start) <= demand.need.total(processors))
            };
            if !ranges[begin..].iter().any(needs_no_more) {
                ranges.push(ModeRange { own: processors..processors + 1, all: all.clone() });
            }
        }
    }
    ranges
}

/// Returns the minimum amount of a resource that a task needs on any number of processors in a range.
fn need(instance: &Instance, task: TaskId, resource: ResourceId, range: Range<u32>) -> Result<i64, Unproved> {
    let Some(demand) = instance.demands(task).iter().find(|demand| demand.resource == resource) else { return Ok(0) };
    amount(range.map(|processors| demand.need.total(processors)).min().unwrap_or(0))
}

fn supplies(instance: &Instance, grid: i64) -> Result<Vec<Supply>, Unproved> {
    let mut closed = Vec::new();
    for class in instance.availability().classes() {
        let count = class.processors.len() as i64;
        closed.extend(class.closed.iter().map(|&(start, end)| (down(start, grid), down(end, grid), count)));
    }
    let mut supplies = vec![Supply::new(instance.processors().into(), &closed)];
    for resource in renewable(instance) {
        let total = amount(instance.platform().total(resource))?;
        let held = instance.held().iter().filter(|held| held.resource == resource);
        let held = held.map(|held| Ok((0, down(held.until, grid), amount(held.amount)?)));
        supplies.push(Supply::new(total, &held.collect::<Result<Vec<_>, _>>()?));
    }
    Ok(supplies)
}

fn waits(instance: &Instance, grid: i64) -> Vec<Wait> {
    let platform = instance.platform();
    let is_delayed = platform.has_local_transfers() && platform.node_count() == 1;
    let route = if is_delayed { platform.route(0, 0) } else { Route::LOCAL };
    let mut waits: Vec<Wait> = Vec::new();
    for edge in instance.edges() {
        let delay = down(route.time(edge.payload), grid).max(0);
        for from in instance.equal_tasks(edge.from) {
            for to in instance.equal_tasks(edge.to) {
                waits.push(Wait { from: from.index(), to: to.index(), delay, gaps: None, after_end: true });
            }
        }
    }
    waits.sort_unstable_by_key(|wait| (wait.from, wait.to, -wait.delay));
    waits.dedup_by_key(|wait| (wait.from, wait.to));
    waits
}
