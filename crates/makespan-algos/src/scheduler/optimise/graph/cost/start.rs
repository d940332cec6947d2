//! The initial solutions of the searches for the least cost.

use makespan_bounds::cost::CostSearch;
use makespan_core::Schedule;

use super::task::{CostTask, heft};
use crate::kernel::chains::method::Method;
use crate::kernel::graph::sequence::{Sequence, SequenceSolution};
use crate::kernel::graph::{GraphProblem, NEVER, NodeId, ProcessorId, TaskPlace};
use crate::plan::{Context, Plan, Scheduler};
use crate::scheduler::CriticalJobs;

/// Returns one or two initial solutions. The first solution is the best of HEFT's plan and the variants of the critical
/// jobs method. If there are prices that prove a bound, the second solution is a plan from these prices.
pub(super) fn all(task: &CostTask, prices: Option<&CostSearch>) -> Vec<Vec<TaskPlace>> {
    let mut starts = vec![heft(task.problem)];
    // Start each task as early as possible. Chains are planned on a grid of instants, so their tasks may start later
    // than necessary.
    let earliest = |schedule: &Schedule| sequence(task, &places(task, schedule)).places();
    starts.extend(critical_jobs(task).iter().map(earliest));
    starts.sort_by_cached_key(|places| task.merit(places));
    starts.truncate(1);
    starts.extend(prices.map(|prices| rounded(task, prices)));
    starts
}

/// Returns the variants of the critical jobs method. Returns no variants if the method cannot plan the instance, or if
/// jobs without edges share a deadline, which the method does not support.
fn critical_jobs(task: &CostTask) -> Vec<Schedule> {
    if !task.instance.has_compound_jobs() {
        return Vec::new();
    }
    let method = Method { deadline: task.deadline, ..Method::default() };
    match (CriticalJobs { method }).schedule(task.instance, &mut Context::default()) {
        Ok(Plan::Strategy(strategy)) => strategy.variants().iter().map(|variant| variant.schedule.clone()).collect(),
        _ => Vec::new(),
    }
}

/// Returns the place of each task in a schedule.
fn places(task: &CostTask, schedule: &Schedule) -> Vec<TaskPlace> {
    let mut places = vec![TaskPlace::default(); task.problem.tasks()];
    for placement in schedule.placements() {
        let processor = ProcessorId(placement.processors.iter().next().unwrap_or_default());
        places[placement.task.index()] = TaskPlace { processor, start: placement.start.ticks() };
    }
    places
}

/// Places every task on the node on which it costs least at these prices. Among the processors of this node, the least
/// busy one is used. Tasks are placed in the order of the starts that the prices suggest. Overlaps are resolved when
/// the order is evaluated.
fn rounded(task: &CostTask, prices: &CostSearch) -> Vec<TaskPlace> {
    let problem = task.problem;
    let nodes = computing(problem, task);
    let mut busy = vec![0_i64; problem.processors()];
    let mut starts: Vec<i64> = Vec::with_capacity(problem.tasks());
    let choices = prices.choices();
    // The prices may suggest that a task begins before its predecessors end. Correct such starts.
    let mut begin = vec![0; problem.tasks()];
    for &number in problem.order() {
        let own = choices[number as usize].start.ticks();
        let behind = problem.incoming(number).iter().map(|from| begin[from.task as usize] + 1).max();
        begin[number as usize] = own.max(behind.unwrap_or(own));
    }
    starts.extend(begin);
    let place = |(number, start): (usize, i64)| {
        let number = number as u32;
        let wanted = choices[number as usize].node.and_then(|node| nodes[node]);
        let able = |&node: &NodeId| problem.time(number, node) < NEVER;
        let cheapest = || problem.node_ids().filter(able).min_by_key(|&node| task.cost(number, node));
        let node = wanted.filter(able).or_else(cheapest).unwrap_or_default();
        let processor = problem.processors_of(node).min_by_key(|processor| busy[processor.index()]).unwrap_or_default();
        busy[processor.index()] += problem.time(number, node);
        TaskPlace { processor, start }
    };
    sequence(task, &starts.into_iter().enumerate().map(place).collect::<Vec<TaskPlace>>()).places()
}

/// Returns the sequence of the tasks by start, each on its processor. Each task starts as early as the tasks before it
/// allow.
pub(super) fn sequence<'a>(task: &CostTask<'a>, places: &[TaskPlace]) -> Sequence<'a> {
    let mut order = task.problem.order().to_vec();
    order.sort_by_key(|&task| places[task as usize].start);
    let wanted = places.iter().map(|place| place.processor).collect();
    Sequence::late(task.problem, &task.dues, SequenceSolution { order, wanted })
}

/// Returns, for each node of the platform, its index among the nodes with processors. Returns `None` for a node without
/// processors.
fn computing(problem: &GraphProblem, task: &CostTask) -> Vec<Option<NodeId>> {
    let mut ids = problem.node_ids();
    let nodes = task.instance.platform().nodes().iter();
    let numbered = nodes.map(|node| if node.processors > 0 { ids.next() } else { None }).collect();
    debug_assert_eq!(ids.next(), None);
    numbered
}
