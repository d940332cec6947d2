//! The scheduler HEFT (heterogeneous earliest finish time).

use makespan_core::{Instance, Objective, Unsupported};

use super::{check_supported, needs_single_processors, remark_parallel};
use crate::kernel::graph::{GraphProblem, TaskPlace, placing::PartialSchedule, rank};
use crate::plan::{Context, Guarantee, Plan, ScheduleError, Scheduler};

/// Heterogeneous earliest finish time: places tasks by decreasing upward rank. Each task runs on the processor on which
/// it ends first, in the earliest gap that is long enough.
///
/// Source: H. Topcuoglu, S. Hariri, M.-Y. Wu, "Performance-effective and low-complexity task scheduling for
/// heterogeneous computing", IEEE Trans. Parallel Distrib. Syst. 13(3), 2002, DOI 10.1109/71.993206, figure 2.
/// Assumptions: every task accepts one processor and runs on one processor. Guarantee: none. Complexity: O((e + n) m)
/// for n tasks with e edges on m processors, plus a step for each gap that is too short. Deviations: ties are broken in
/// favour of the task and the processor with the lowest index, not randomly. Transfer times are averaged over all pairs
/// of different nodes. Several jobs are planned together by one ranking. No task starts before the release of its job
/// or while its processor is unavailable, but the ranks ignore releases and unavailable periods.
///
/// ```
/// use makespan_algos::scheduler::Heft;
/// use makespan_algos::{Context, Scheduler};
/// use makespan_core::{Edge, Graph, Instance, Job, Payload, NamedTask, Platform, Profile, Time};
///
/// let task = |name, seconds| NamedTask::new(name, Profile::rigid(1, Time::from_seconds(seconds)).unwrap());
/// let edge = |from, to| Edge { from, to, payload: Payload::Fixed(Time::from_seconds(2)) };
/// let tasks = vec![task("a", 3), task("b", 4), task("c", 4), task("d", 1)];
/// let graph = Graph::new(tasks, vec![edge(0, 1), edge(0, 2), edge(1, 3), edge(2, 3)]).unwrap();
/// let instance =
///     Instance::new(Platform::cluster(2, 1).unwrap(), vec![Job::compound("diamond", graph)], vec![]).unwrap();
/// let plan = Heft.schedule(&instance, &mut Context::default()).unwrap();
/// // c runs on the other processor. d also runs there: moving the data of b takes longer than waiting for the end of c.
/// assert_eq!(plan.into_schedule().unwrap().makespan(), Time::from_seconds(10));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heft;

impl Scheduler for Heft {
    fn name(&self) -> String {
        "heft".into()
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
        let ranks = rank::upward(&problem, &rank::mean_times(&problem));
        Ok(problem.schedule(&places(&problem, &ranks)).into())
    }
}

/// Returns the place of each task. A task is ready if all its predecessors are placed. The ready task with the highest
/// rank is placed next. Any ranks give a valid schedule.
pub(super) fn places(problem: &GraphProblem, ranks: &[f64]) -> Vec<TaskPlace> {
    let mut placing = PartialSchedule::new(problem);
    for task in rank::ready_first(problem, ranks) {
        placing.place(task, |_, end| end);
    }
    placing.into_places()
}
