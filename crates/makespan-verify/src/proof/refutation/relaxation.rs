//! The relaxed problem of a refutation.

use makespan_core::{Instance, Objective, ResourceKind, Route, TaskId, Time};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::proof::CertificateError;
use crate::proof::error::unproved;

use super::machines::MachineClasses;
use super::supply::Supply;
use super::task::{Mode, RelaxedTask};
use super::units::{Grid, consumable, renewable};
use super::{LIMIT, MAX_TASKS, Refutation};

/// Maximum number of allotments of all tasks, including dominated ones.
const MAX_ALLOTMENTS: u64 = 1 << 20;
/// Maximum number of amounts: the number of modes of all tasks, multiplied by the number of supplies.
const MAX_AMOUNTS: usize = 1 << 20;
/// Maximum number of edges between tasks. Each task of a bag has its own edges.
const MAX_WAITS: usize = 1 << 16;
/// Maximum of a sum: the number of closed periods, plus the number of amounts that work outside the instance holds.
const MAX_PERIODS: usize = 1 << 12;

/// Maximum number of dominated allotments after an allotment for which the dominated allotments can be separate modes.
const MAX_DOMINATED: u32 = 7;

/// Maximum number of nodes on which lifted scales distribute tasks.
const MAX_NODES: usize = 64;

/// The times of transfers for each pair of tasks in which the second task waits for the first task. Rows belong to the classes of the first
/// task, and columns to the classes of the second task.
type Transfers = FxHashMap<(usize, usize), Vec<Vec<i64>>>;

/// The relaxed problem: tasks that need amounts of renewable resources. The nodes are
/// ignored, except when a lifted scale is checked.
/// Times are in units of the grid. Times, releases, delays and ends of closed periods are rounded down to the grid, and
/// deadlines are rounded up. So every schedule of the instance yields a schedule of this problem in which no task ends
/// later.
#[derive(Clone, Debug)]
pub(super) struct Relaxation {
    pub(super) tasks: Vec<RelaxedTask>,
    /// The supplies, in this order: the processors, the renewable resources of the platform, the supplies of
    /// [`MachineClasses`], and the scales. A scale is an additional supply. The record of the scale states the amount
    /// that each task holds in each mode.
    pub(super) supplies: Vec<Supply>,
    /// The amount of each consumable.
    pub(super) consumables: Vec<i128>,
    /// For each node, the amount of each supply on this node. Licences belong to no node, so no node limits them. Empty
    /// if the platform has only one node, more than [`MAX_NODES`] nodes, or processors that differ.
    pub(super) nodes: Vec<Vec<i128>>,
    /// For each pair of a task and a task that waits for it, the minimum time from the end of the first task to the
    /// start of the second task.
    pub(super) waits: FxHashMap<(usize, usize), i64>,
    /// The times of transfers between classes of machines. Empty if tasks do not run on classes or transfers take no time.
    pub(super) transfers: Transfers,
    /// The largest value that is to be refuted, in the unit of the claim: one less than the claimed bound.
    pub(super) value: i64,
    /// True if the objective is a sum of weighted ends or of weighted tardinesses.
    pub(super) is_sum: bool,
    /// True if the longest paths of tasks refute the claim without any step.
    pub(super) is_refuted: bool,
}

impl Relaxation {
    /// Creates the relaxed problem without deadlines and weights.
    pub(super) fn new(
        instance: &Instance,
        objective: Objective,
        grid: Grid,
        value: i64,
    ) -> Result<Self, CertificateError> {
        if instance.tasks() > MAX_TASKS {
            return unproved(format!("a certificate `refutation` supports at most {MAX_TASKS} tasks"));
        }
        if let Some(job) = instance.jobs().iter().find(|job| job.release < Time::ZERO) {
            let name = &job.name;
            return unproved(format!(
                "a certificate `refutation` supports no release before 0, but job `{name}` has such a release"
            ));
        }
        let machines = MachineClasses::new(instance)?;
        let (mut supplies, mut nodes) = (supplies(instance, grid)?, nodes(instance));
        if let Some(machines) = &machines {
            supplies.extend(machines.supplies(instance, grid)?);
            nodes.clear();
        }
        let tasks = tasks(instance, grid, machines.as_ref(), supplies.len())?;
        let mut waits = waits(instance, grid)?;
        let transfers = match &machines {
            Some(machines) if instance.has_transfers() => {
                machines.check_transfers(waits.len())?;
                transfers(instance, grid, machines)
            }
            _ => FxHashMap::default(),
        };
        for (pair, times) in &transfers {
            waits.insert(*pair, times.iter().flatten().copied().min().unwrap_or(0));
        }
        let is_sum = Refutation::is_sum(objective);
        let total = |resource| i128::try_from(instance.platform().total(resource));
        let consumables = consumable(instance).map(total).collect::<Result<_, _>>();
        let consumables = consumables.map_err(|_| CertificateError::Overflow)?;
        let mut relaxation =
            Self { tasks, supplies, consumables, nodes, waits, transfers, value, is_sum, is_refuted: false };
        relaxation.find_heads();
        Ok(relaxation)
    }

    /// Returns an upper limit for the end of a schedule in which no task could start earlier. Proof: consider an
    /// instant between the last release or change of a supply and the end. At this instant, some task runs, or some
    /// task waits only for the delay after its predecessor. So the remaining time is at most the sum of all times and
    /// delays.
    pub(super) fn horizon(&self) -> Result<i64, CertificateError> {
        let last = self.tasks.iter().map(|task| task.release);
        let last = last.chain(self.supplies.iter().map(Supply::last_change)).max().unwrap_or(0);
        let longest = |(pair, &delay): (&(usize, usize), &i64)| {
            let transfers = self.transfers.get(pair);
            transfers.and_then(|times| times.iter().flatten().copied().max()).unwrap_or(delay)
        };
        let times = self.tasks.iter().map(|task| task.modes[0].time).chain(self.waits.iter().map(longest));
        let end = times.fold(i128::from(last), |sum, time| sum + i128::from(time));
        i64::try_from(end).ok().filter(|end| *end <= LIMIT).ok_or(CertificateError::Overflow)
    }

    fn find_heads(&mut self) {
        loop {
            let mut is_changed = false;
            for (&(from, to), &delay) in &self.waits {
                let start = self.tasks[from].head.saturating_add(self.tasks[from].shortest()).saturating_add(delay);
                is_changed |= start > self.tasks[to].head;
                self.tasks[to].head = self.tasks[to].head.max(start);
            }
            if !is_changed {
                return;
            }
        }
    }
}

/// Returns the supply of processors and of each renewable resource.
fn supplies(instance: &Instance, grid: Grid) -> Result<Vec<Supply>, CertificateError> {
    let (platform, classes) = (instance.platform(), instance.availability().classes());
    let periods: usize = classes.iter().map(|class| class.closed.len()).sum();
    if periods + instance.held().len() > MAX_PERIODS {
        return unproved(format!(
            "a certificate `refutation` supports at most {MAX_PERIODS} unavailable periods and held amounts"
        ));
    }
    let of_class = |class: &makespan_core::availability::Class| {
        let count = i128::from(class.processors.len());
        let period = move |&(start, end): &(Time, Time)| (grid.down(start), grid.down(end), count);
        class.closed.iter().map(period).collect::<Vec<_>>()
    };
    let closed: Vec<(i64, i64, i128)> = classes.iter().flat_map(of_class).collect();
    let mut supplies = vec![Supply::new(platform.processors().into(), &closed)?];
    for resource in renewable(instance) {
        let total = i128::try_from(platform.total(resource)).map_err(|_| CertificateError::Overflow)?;
        let held = instance.held().iter().filter(|held| held.resource == resource);
        let held: Vec<_> = held.map(|held| (0, grid.down(held.until), i128::from(held.amount))).collect();
        supplies.push(Supply::new(total, &held)?);
    }
    Ok(supplies)
}

/// Returns [`Relaxation::nodes`].
fn nodes(instance: &Instance) -> Vec<Vec<i128>> {
    let platform = instance.platform();
    if !(2..=MAX_NODES).contains(&platform.node_count()) {
        return Vec::new();
    }
    let amount = |node: usize, resource| match platform.resource_of(resource).kind {
        ResourceKind::OfNodes => platform.amount(node, resource).into(),
        _ => i128::MAX,
    };
    let amounts = |node: usize| {
        let processors = i128::from(platform.processors_of(node).len());
        std::iter::once(processors).chain(renewable(instance).map(|resource| amount(node, resource))).collect()
    };
    (0..platform.node_count()).map(amounts).collect()
}

/// Returns all tasks, in the order of their numbers, without heads, deadlines and latest starts.
fn tasks(
    instance: &Instance,
    grid: Grid,
    machines: Option<&MachineClasses>,
    supplies: usize,
) -> Result<Vec<RelaxedTask>, CertificateError> {
    let range = |task: TaskId| {
        let profile = instance.profile(task);
        u64::from(profile.max_processors() - profile.min_processors()) + 1
    };
    if instance.task_ids().map(range).sum::<u64>() > MAX_ALLOTMENTS {
        return unproved(format!(
            "the instance is too large for a certificate `refutation`: all tasks together may have at most \
             {MAX_ALLOTMENTS} allotments (possible numbers of processors)"
        ));
    }
    let mut tasks: Vec<RelaxedTask> = Vec::new();
    let mut amounts = 0;
    for task in instance.task_ids() {
        let release = grid.down(instance.release(task));
        let modes = match machines {
            Some(machines) => machines.modes(instance, task, grid)?,
            None => modes(instance, task, grid),
        };
        amounts += modes.len() * (supplies + instance.platform().consumables().iter().count());
        if amounts > MAX_AMOUNTS {
            return unproved(format!(
                "the instance is too large for a certificate `refutation`: the modes of all tasks, times the number of \
                 supplies (processors and resources), may be at most {MAX_AMOUNTS}"
            ));
        }
        tasks.push(RelaxedTask { release, head: release, due: LIMIT, weight: 0, free_until: 0, modes });
    }
    Ok(tasks)
}

/// Returns the modes of a task. A dominated allotment may need less of a resource than the faster allotment before it.
/// If at most `MAX_DOMINATED` dominated allotments follow, each dominated allotment that needs less of some resource is
/// a separate mode. If more follow, these allotments form one mode, and each amount of the mode is the minimum over
/// these allotments.
fn modes(instance: &Instance, task: TaskId, grid: Grid) -> Vec<Mode> {
    let (profile, demands) = (instance.profile(task), instance.demands(task));
    let allotments: Vec<u32> = profile.allotments().collect();
    let ends = allotments.iter().skip(1).copied().chain([profile.max_processors() + 1]);
    let mut modes = Vec::new();
    for (&first, end) in allotments.iter().zip(ends) {
        let mode = |processors: u32, until: u32| {
            let need = |resource| {
                let demand = demands.iter().find(|demand| demand.resource == resource)?;
                (processors..until).map(|processors| i128::from(demand.need.total(processors))).min()
            };
            let needs = renewable(instance).map(|resource| need(resource).unwrap_or(0));
            let amounts = std::iter::once(i128::from(processors)).chain(needs).collect();
            let used_up = consumable(instance).map(|resource| need(resource).unwrap_or(0)).collect();
            let is_on_one_node = processors == 1 && end == 2;
            Mode { time: grid.down(profile.time(first)), latest: LIMIT, amounts, used_up, is_on_one_node, class: 0 }
        };
        if end - first > MAX_DOMINATED + 1 {
            modes.push(mode(first, end));
            continue;
        }
        let mut kept: Vec<u32> = Vec::new();
        for processors in first..end {
            let needs_no_more =
                |&other: &u32| demands.iter().all(|demand| demand.need.total(other) <= demand.need.total(processors));
            if !kept.iter().any(needs_no_more) {
                kept.push(processors);
                modes.push(mode(processors, processors + 1));
            }
        }
    }
    modes
}

/// Returns the delays along the edges between tasks. An edge of a bag applies to all tasks of the bag.
fn waits(instance: &Instance, grid: Grid) -> Result<FxHashMap<(usize, usize), i64>, CertificateError> {
    let platform = instance.platform();
    // If there are several nodes, the delay is zero. With one node, the delay is the time of a transfer in this node.
    let is_delayed = platform.has_local_transfers() && platform.node_count() == 1;
    let route = if is_delayed { platform.route(0, 0) } else { Route::LOCAL };
    let mut waits: FxHashMap<(usize, usize), i64> = FxHashMap::default();
    for edge in instance.edges() {
        let delay = grid.down(route.time(edge.payload)).max(0);
        for from in instance.equal_tasks(edge.from) {
            for to in instance.equal_tasks(edge.to) {
                let known = waits.entry((from.index(), to.index())).or_default();
                *known = delay.max(*known);
            }
        }
        if waits.len() > MAX_WAITS {
            return unproved(format!("a certificate `refutation` supports at most {MAX_WAITS} edges"));
        }
    }
    Ok(waits)
}

/// Returns [`Relaxation::transfers`].
fn transfers(instance: &Instance, grid: Grid, machines: &MachineClasses) -> Transfers {
    let mut all = Transfers::default();
    for edge in instance.edges() {
        let own = machines.transfers(instance, edge.payload, grid);
        for from in instance.equal_tasks(edge.from) {
            for to in instance.equal_tasks(edge.to) {
                let known = all.entry((from.index(), to.index())).or_insert_with(|| own.clone());
                for (known, own) in known.iter_mut().flatten().zip(own.iter().flatten()) {
                    *known = (*own).max(*known);
                }
            }
        }
    }
    all
}

/// Returns true if two tasks are equal except for their numbers, so that they can be exchanged in every schedule. Tasks
/// with transfers are not compared: returns false for them.
pub(super) fn are_equal(relaxation: &Relaxation, first: usize, second: usize) -> bool {
    let (one, other) = (&relaxation.tasks[first], &relaxation.tasks[second]);
    let neighbours = |task: usize| {
        let waits = relaxation.waits.iter();
        let beside = waits.filter_map(move |(&(from, to), &delay)| match (from == task, to == task) {
            (true, _) => Some((true, to, delay)),
            (_, true) => Some((false, from, delay)),
            _ => None,
        });
        beside.collect::<FxHashSet<_>>()
    };
    (one.release, one.due, one.weight, one.free_until) == (other.release, other.due, other.weight, other.free_until)
        && one.modes == other.modes
        && neighbours(first) == neighbours(second)
        && relaxation.transfers.keys().all(|(from, to)| ![first, second].iter().any(|task| task == from || task == to))
}
