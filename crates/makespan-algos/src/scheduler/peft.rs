//! The scheduler PEFT (predict earliest finish time).

use makespan_core::{Instance, Objective, Unsupported};

use super::{check_supported, needs_single_processors, remark_parallel};
use crate::kernel::graph::{GraphProblem, NEVER, TaskPlace, placing::PartialSchedule, rank};
use crate::plan::{Context, Guarantee, Plan, ScheduleError, Scheduler};

/// Predict earliest finish time: HEFT with lookahead. A table contains the minimum remaining time after each task, for
/// each processor that may run the task.
///
/// Source: H. Arabnejad, J. G. Barbosa, "List scheduling algorithm for heterogeneous systems by an optimistic cost
/// table", IEEE Trans. Parallel Distrib. Syst. 25(3), 2014, DOI 10.1109/TPDS.2013.57, algorithm 1. Assumptions: every
/// task accepts one processor and runs on one processor. Guarantee: none. Complexity: O(e k^2) for the table of e
/// edges on k nodes, plus the complexity of HEFT. Deviations: as in [`super::Heft`]. The table has one column for
/// each node, because the processors of a node are equal.
///
/// ```
/// use makespan_algos::scheduler::Peft;
/// use makespan_algos::{Context, Scheduler};
/// use makespan_core::{Edge, Graph, Instance, Job, Payload, NamedTask, Platform, Profile, Time};
///
/// let task = |name, seconds| NamedTask::new(name, Profile::rigid(1, Time::from_seconds(seconds)).unwrap());
/// let edge = |from, to| Edge { from, to, payload: Payload::Fixed(Time::from_seconds(2)) };
/// let tasks = vec![task("a", 3), task("b", 4), task("c", 3)];
/// let graph = Graph::new(tasks, vec![edge(0, 1), edge(0, 2)]).unwrap();
/// let instance =
///     Instance::new(Platform::cluster(2, 1).unwrap(), vec![Job::compound("fork", graph)], vec![]).unwrap();
/// let plan = Peft.schedule(&instance, &mut Context::default()).unwrap();
/// assert_eq!(plan.into_schedule().unwrap().makespan(), Time::from_seconds(8));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peft;

impl Scheduler for Peft {
    fn name(&self) -> String {
        "peft".into()
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        needs_single_processors(instance)
    }

    fn guarantee(&self, _: &Instance, _: Objective) -> Option<Guarantee> {
        None
    }

    fn schedule(&self, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError> {
        check_supported(self, instance)?;
        remark_parallel(instance, context);
        let problem = GraphProblem::new(instance);
        Ok(problem.schedule(&places(&problem)).into())
    }
}

/// Returns the place of each task.
pub(super) fn places(problem: &GraphProblem) -> Vec<TaskPlace> {
    let table = optimistic_costs(problem);
    let nodes = problem.nodes();
    let row = |task: u32| &table[task as usize * nodes..][..nodes];
    let ranks: Vec<f64> = (0..problem.tasks() as u32).map(|task| mean(problem, task, row(task))).collect();
    let mut placing = PartialSchedule::new(problem);
    for task in rank::ready_first(problem, &ranks) {
        let costs = row(task);
        placing.place(task, |node, end| end as f64 + costs[node.index()]);
    }
    placing.into_places()
}

/// Returns the optimistic cost table: for each task and node, the minimum remaining time after the task if the task
/// runs on the node. For each successor, the node is chosen that minimises the sum of three times: the mean transfer
/// time (zero if this is the node of the task), the run time of the successor on this node, and the entry of the
/// successor for this node. The entry of the task is the maximum of these sums over all successors.
fn optimistic_costs(problem: &GraphProblem) -> Vec<f64> {
    let nodes = problem.nodes();
    let mut table = vec![0.0; problem.tasks() * nodes];
    // The time of the current successor on each node, plus the remaining time after the successor.
    let mut behind = vec![f64::INFINITY; nodes];
    let mut worst = vec![0.0_f64; nodes];
    for &task in problem.order().iter().rev() {
        worst.fill(0.0);
        for to in problem.outgoing(task) {
            let next = to.task as usize * nodes;
            for (node, behind) in problem.node_ids().zip(&mut behind) {
                let time = problem.time(to.task, node);
                *behind = if time == NEVER { f64::INFINITY } else { time as f64 + table[next + node.index()] };
            }
            // After a transfer, the successor may run on its best node. This time does not depend on the node of the
            // task.
            let elsewhere = behind.iter().copied().fold(f64::INFINITY, f64::min) + problem.transfers().mean(to.edge);
            for (worst, &behind) in worst.iter_mut().zip(&behind) {
                *worst = worst.max(behind.min(elsewhere));
            }
        }
        table[task as usize * nodes..][..nodes].copy_from_slice(&worst);
    }
    table
}

/// Returns the mean entry of a task in the table, over all processors that can run the task.
fn mean(problem: &GraphProblem, task: u32, row: &[f64]) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for (node, cost) in problem.node_ids().zip(row) {
        if problem.time(task, node) != NEVER {
            let processors = problem.processors_of(node).len() as f64;
            sum += cost * processors;
            count += processors;
        }
    }
    sum / count
}
