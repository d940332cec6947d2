//! Where the searches for a low cost begin.

use makespan_bounds::cost::CostSearch;
use makespan_core::{Context, Plan, Schedule, Scheduler};

use super::task::{Task, heft};
use crate::kernel::chains::method::Method;
use crate::kernel::graph::sequence::{Sequence, Solution};
use crate::kernel::graph::{GraphProblem, NEVER, NodeId, Place, ProcessorId};
use crate::scheduler::CriticalJobs;

/// What the critical jobs method, HEFT and the prices of the bound suggest; the best first.
pub(super) fn all(task: &Task, prices: Option<&CostSearch>) -> Vec<Vec<Place>> {
    let mut starts = vec![heft(task.problem)];
    // Each task as early as it can: chains are planned on a grid of instants.
    let earliest = |schedule: &Schedule| sequence(task, &places(task, schedule)).places();
    starts.extend(critical_jobs(task).iter().map(earliest));
    starts.sort_by_cached_key(|places| task.merit(places));
    starts.truncate(1);
    starts.extend(prices.map(|prices| rounded(task, prices)));
    starts
}

/// The variants of the critical jobs method; none where it is too much, or where jobs have no edges and share a deadline, of which
/// it knows nothing.
fn critical_jobs(task: &Task) -> Vec<Schedule> {
    if !task.instance.has_compound_jobs() {
        return Vec::new();
    }
    let method = Method { deadline: task.deadline, ..Method::default() };
    match (CriticalJobs { method }).schedule(task.instance, &mut Context::default()) {
        Ok(Plan::Strategy(strategy)) => strategy.variants().iter().map(|variant| variant.schedule.clone()).collect(),
        _ => Vec::new(),
    }
}

/// A schedule by task.
fn places(task: &Task, schedule: &Schedule) -> Vec<Place> {
    let mut places = vec![Place::default(); task.problem.tasks()];
    for placement in schedule.placements() {
        let processor = ProcessorId(placement.processors.iter().next().unwrap_or_default());
        places[placement.task.index()] = Place { processor, start: placement.start.ticks() };
    }
    places
}

/// Every task on the node on which it pays least, on that of its processors which is the least busy so far, in the order of
/// starts. What overlaps is put apart when the order is read.
fn rounded(task: &Task, prices: &CostSearch) -> Vec<Place> {
    let problem = task.problem;
    let nodes = computing(problem, task);
    let mut busy = vec![0_i64; problem.processors()];
    let mut starts: Vec<i64> = Vec::with_capacity(problem.tasks());
    let choices = prices.choices();
    // After all that it waits for, though prices may say otherwise.
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
        Place { processor, start }
    };
    sequence(task, &starts.into_iter().enumerate().map(place).collect::<Vec<Place>>()).places()
}

/// The tasks by start on their processors, each as early as those before it allow.
pub(super) fn sequence<'a>(task: &Task<'a>, places: &[Place]) -> Sequence<'a> {
    let mut order = task.problem.order().to_vec();
    order.sort_by_key(|&task| places[task as usize].start);
    let wanted = places.iter().map(|place| place.processor).collect();
    Sequence::late(task.problem, &task.dues, Solution { order, wanted })
}

/// For each node of the platform its number among those that compute.
fn computing(problem: &GraphProblem, task: &Task) -> Vec<Option<NodeId>> {
    let mut ids = problem.node_ids();
    let nodes = task.instance.platform().nodes().iter();
    let numbered = nodes.map(|node| if node.processors > 0 { ids.next() } else { None }).collect();
    debug_assert_eq!(ids.next(), None);
    numbered
}
