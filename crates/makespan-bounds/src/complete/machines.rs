//! Sequential tasks on machines that differ: each mode of a task is a class of equal nodes.

use std::cmp::Reverse;

use makespan_core::{Instance, Payload, Placement, ProcSet, Profile, ResourceId, ResourceKind, TaskId, Time};
use rustc_hash::FxHashMap;

use super::supply::Supply;
use super::task::{ModelTask, Wait};
use super::units::{amount, consumable, down, renewable};
use super::unproved::Unproved;
use crate::machines::{NodeColumns, maximise};

/// Maximum number of nodes, and of tasks, with which each node of equal processors is a class. The checker has the same
/// limits.
const MAX_EQUAL: (usize, u64) = (16, 40);

/// Returns true if the modes of tasks are classes of nodes: if processors differ, or if transfers between a few equal
/// nodes take time and few tasks are all sequential.
pub(super) fn are_classes(instance: &Instance) -> bool {
    let nodes = instance.platform().node_count();
    let has_few = (2..=MAX_EQUAL.0).contains(&nodes) && instance.tasks() <= MAX_EQUAL.1;
    !instance.has_equal_processors() || instance.has_transfers() && has_few && has_sequential_tasks(instance)
}

/// Returns true if every task takes exactly one processor.
pub(super) fn has_sequential_tasks(instance: &Instance) -> bool {
    instance.different_task_ids().all(|task| instance.profile(task).is_sequential())
}

/// Nodes on which every task takes the same time. If transfers take time, a class is a single node.
#[derive(Clone, Debug)]
pub(super) struct MachineClass {
    pub(super) nodes: Vec<usize>,
    /// The index of the supply of their processors. The supplies of the resources of the nodes follow.
    supply: usize,
}

/// Returns the classes of nodes, in the order of their first nodes, and adds their supplies to `supplies`.
pub(super) fn classes(
    instance: &Instance,
    grid: i64,
    supplies: &mut Vec<Supply>,
) -> Result<Vec<MachineClass>, Unproved> {
    let platform = instance.platform();
    let mut classes: Vec<Vec<usize>> = Vec::new();
    let mut numbers: FxHashMap<(Vec<Option<Time>>, Option<usize>), usize> = FxHashMap::default();
    for node in (0..platform.node_count()).filter(|&node| platform.nodes()[node].processors > 0) {
        let times = instance.different_task_ids().map(|task| instance.time_on(task, node)).collect();
        let alone = instance.has_transfers().then_some(node);
        let number = *numbers.entry((times, alone)).or_insert(classes.len());
        if number == classes.len() {
            classes.push(Vec::new());
        }
        classes[number].push(node);
    }
    let mut all = Vec::new();
    for nodes in classes {
        all.push(MachineClass { nodes: nodes.clone(), supply: supplies.len() });
        let own = nodes.iter().fold(ProcSet::new(), |all, &node| all.union(&platform.processors_of(node)));
        let closed = instance.availability().classes().iter().flat_map(|class| {
            let count = i64::from(own.intersection(&class.processors).len());
            class.closed.iter().map(move |&(from, until)| (down(from, grid), down(until, grid), count))
        });
        supplies.push(Supply::new(own.len().into(), &closed.collect::<Vec<_>>()));
        for resource in of_nodes(instance) {
            let total = nodes.iter().map(|&node| u128::from(platform.amount(node, resource))).sum::<u128>();
            supplies.push(Supply::new(amount(total)?, &[]));
        }
    }
    Ok(all)
}

/// Replaces the modes of all tasks by the classes on which the tasks can run.
pub(super) fn set_modes(
    tasks: &mut [ModelTask],
    instance: &Instance,
    classes: &[MachineClass],
    grid: i64,
) -> Result<(), Unproved> {
    for (task, model) in instance.task_ids().zip(tasks) {
        let mut modes: Vec<(i64, usize)> = Vec::new();
        for (number, class) in classes.iter().enumerate() {
            modes.extend(instance.time_on(task, class.nodes[0]).map(|time| (down(time, grid), number)));
        }
        modes.sort_by_key(|&(time, number)| (Reverse(time), number));
        let whole: Vec<i64> = needs(instance, task, renewable(instance))?;
        let of_class: Vec<i64> = needs(instance, task, of_nodes(instance))?;
        let used_up: Vec<i64> = needs(instance, task, consumable(instance))?.split_off(1);
        model.used_up = used_up.iter().map(|&need| vec![need; modes.len()]).collect();
        let mut amounts: Vec<Vec<i64>> = whole.iter().map(|&need| vec![need; modes.len()]).collect();
        for number in 0..classes.len() {
            let held = |need: i64| modes.iter().map(|mode| if mode.1 == number { need } else { 0 }).collect();
            amounts.extend(of_class.iter().map(|&need| held(need)));
        }
        (model.allotments, model.until) = (vec![1; modes.len()], vec![2; modes.len()]);
        (model.times, model.machines) = modes.into_iter().unzip();
        model.amounts = amounts;
    }
    Ok(())
}

/// Sets the indices and the minimum delays of all waits with transfers between classes. Returns the field `gaps` of the relaxed problem.
pub(super) fn set_transfers(
    waits: &mut [Wait],
    instance: &Instance,
    (tasks, classes): (&[ModelTask], &[MachineClass]),
    grid: i64,
) -> Vec<Vec<Vec<i64>>> {
    let mut gaps: Vec<Vec<Vec<i64>>> = Vec::new();
    if classes.is_empty() || !instance.has_transfers() {
        return gaps;
    }
    let mut payloads: FxHashMap<(usize, usize), Vec<Payload>> = FxHashMap::default();
    for edge in instance.edges() {
        for from in instance.equal_tasks(edge.from) {
            let pairs = instance.equal_tasks(edge.to).map(|to| (from.index(), to.index()));
            pairs.for_each(|pair| payloads.entry(pair).or_default().push(edge.payload));
        }
    }
    for wait in waits {
        let delay = |from: usize, to: usize| {
            let route = instance.platform().route(classes[from].nodes[0], classes[to].nodes[0]);
            let times = payloads[&(wait.from, wait.to)].iter().map(|&payload| down(route.time(payload), grid));
            times.max().unwrap_or(0).max(0)
        };
        let each = (0..classes.len()).flat_map(|from| (0..classes.len()).map(move |to| (from, to)));
        wait.delay = each.map(|(from, to)| delay(from, to)).min().unwrap_or(0);
        wait.gaps = Some(gaps.len());
        let (first, second) = (&tasks[wait.from], &tasks[wait.to]);
        let row = |(&time, &from): (&i64, &usize)| second.machines.iter().map(|&to| time + delay(from, to)).collect();
        gaps.push(first.times.iter().zip(&first.machines).map(row).collect());
    }
    gaps
}

/// Returns the number 1, for the processor of a sequential task, and then the need of the task for each resource.
fn needs(instance: &Instance, task: TaskId, resources: impl Iterator<Item = ResourceId>) -> Result<Vec<i64>, Unproved> {
    let demand = |resource| instance.demands(task).iter().find(|demand| demand.resource == resource);
    let need = |resource| demand(resource).map_or(Ok(0), |demand| amount(demand.need.total(1)));
    std::iter::once(Ok(1)).chain(resources.map(need)).collect()
}

fn of_nodes(instance: &Instance) -> impl Iterator<Item = ResourceId> + '_ {
    renewable(instance).filter(|&resource| instance.platform().resource_of(resource).kind == ResourceKind::OfNodes)
}

/// Returns a price for each supply, if the modes of tasks are classes of machines. The prices of the processors of the classes
/// nearly maximise the bound on the makespan ([`crate::machines`]), and sum to about 1 over all processors. All other
/// prices are 0.
pub(super) fn prices(tasks: &[ModelTask], supplies: &[Supply], classes: &[MachineClass]) -> Vec<f64> {
    let count = classes.len();
    let most = |class: &MachineClass| supplies[class.supply].most() as f64;
    let columns = NodeColumns { machines: classes.iter().map(most).collect(), ready: vec![0.0; count] };
    let time = |task: usize, class: usize| {
        let mode = tasks[task].machines.iter().position(|&own| own == class);
        mode.map_or(Profile::CANNOT_RUN, |mode| Time::from_ticks(tasks[task].times[mode]))
    };
    let found = maximise(&columns, &vec![1.0; tasks.len()], count, time);
    let mut prices = vec![0.0; supplies.len()];
    classes.iter().zip(found).for_each(|(class, price)| prices[class.supply] = price);
    prices
}

/// Returns the mode of `task` in a placement of a schedule.
pub(super) fn mode_of(
    instance: &Instance,
    classes: &[MachineClass],
    task: &ModelTask,
    placement: &Placement,
) -> Option<usize> {
    let node = instance.platform().node_of(placement.processors.last()?);
    let class = classes.iter().position(|class| class.nodes.contains(&node))?;
    task.machines.iter().position(|&own| own == class)
}
