//! The scheduler CPOP (critical path on a processor).

use makespan_core::{Instance, Objective, Unsupported};

use super::{check_supported, needs_single_processors, remark_parallel};
use crate::kernel::graph::{GraphProblem, NEVER, NodeId, ProcessorId, TaskPlace, placing::PartialSchedule, rank};
use crate::plan::{Context, Guarantee, Plan, ScheduleError, Scheduler};

/// Critical path on a processor. All tasks of the critical path of a job run on one processor: the processor on which
/// these tasks have the least total time. Each other task runs on the processor on which it ends first. Tasks are
/// placed by decreasing sum of upward and downward rank.
///
/// Source: H. Topcuoglu, S. Hariri, M.-Y. Wu, "Performance-effective and low-complexity task scheduling for
/// heterogeneous computing", IEEE Trans. Parallel Distrib. Syst. 13(3), 2002, DOI 10.1109/71.993206, figure 4.
/// Assumptions: every task accepts one processor and runs on one processor. Guarantee: none. Complexity: as HEFT.
/// Deviations: as [`super::Heft`]. If there are several jobs, each has a critical path. If no processor can run a whole
/// critical path, the tasks of this path are placed like all other tasks.
///
/// ```
/// use makespan_algos::scheduler::Cpop;
/// use makespan_algos::{Context, Scheduler};
/// use makespan_core::{Edge, Graph, Instance, Job, Payload, NamedTask, Platform, Profile, Time};
///
/// let task = |name, seconds| NamedTask::new(name, Profile::rigid(1, Time::from_seconds(seconds)).unwrap());
/// let edge = |from, to| Edge { from, to, payload: Payload::Fixed(Time::from_seconds(2)) };
/// let tasks = vec![task("a", 3), task("b", 4), task("c", 1)];
/// let graph = Graph::new(tasks, vec![edge(0, 1), edge(0, 2)]).unwrap();
/// let instance =
///     Instance::new(Platform::cluster(2, 1).unwrap(), vec![Job::compound("fork", graph)], vec![]).unwrap();
/// let plan = Cpop.schedule(&instance, &mut Context::default()).unwrap();
/// assert_eq!(plan.into_schedule().unwrap().makespan(), Time::from_seconds(7));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cpop;

impl Scheduler for Cpop {
    fn name(&self) -> String {
        "cpop".into()
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
    let times = rank::mean_times(problem);
    let (up, down) = (rank::upward(problem, &times), rank::downward(problem, &times));
    let priorities: Vec<f64> = up.iter().zip(&down).map(|(up, down)| up + down).collect();
    let fixed = critical_processors(problem, &up);
    let mut placing = PartialSchedule::new(problem);
    for task in rank::ready_first(problem, &priorities) {
        match fixed[task as usize] {
            Some(processor) => placing.place_on(task, processor),
            None => placing.place(task, |_, end| end),
        }
    }
    placing.into_places()
}

/// Returns, for each task of a critical path, the processor that runs this path. Returns `None` for all other tasks.
fn critical_processors(problem: &GraphProblem, up: &[f64]) -> Vec<Option<ProcessorId>> {
    let mut fixed = vec![None; problem.tasks()];
    // Find the entry task (without predecessors) with the highest upward rank. The longest path begins with this task.
    let mut entries: Vec<Option<u32>> = vec![None; problem.jobs()];
    for task in (0..problem.tasks() as u32).filter(|&task| problem.incoming(task).is_empty()) {
        let entry = &mut entries[problem.job_of(task).index()];
        if entry.is_none_or(|entry| up[task as usize] > up[entry as usize]) {
            *entry = Some(task);
        }
    }
    for entry in entries.into_iter().flatten() {
        let path = critical_path(problem, up, entry);
        let total = |node: NodeId| {
            let times = path.iter().map(|&task| problem.time(task, node));
            times.fold(0, |sum: i64, time| if time == NEVER { NEVER } else { sum.saturating_add(time) })
        };
        let node = problem.node_ids().min_by_key(|&node| total(node)).filter(|&node| total(node) < NEVER);
        for task in path {
            fixed[task as usize] = node.map(|node| problem.first_of(node));
        }
    }
    fixed
}

/// Returns the longest path that begins with an entry task. If several edges continue a longest path, the path takes
/// the first of these edges.
fn critical_path(problem: &GraphProblem, up: &[f64], entry: u32) -> Vec<u32> {
    let mut path = vec![entry];
    let mut at = entry;
    loop {
        let mut next: Option<(f64, u32)> = None;
        for to in problem.outgoing(at) {
            let length = problem.transfers().mean(to.edge) + up[to.task as usize];
            if next.is_none_or(|(longest, _)| length > longest) {
                next = Some((length, to.task));
            }
        }
        let Some((_, task)) = next else { return path };
        path.push(task);
        at = task;
    }
}
