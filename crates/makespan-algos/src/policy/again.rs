//! Plans the remaining tasks of a job again.

use makespan_core::{FreeTime, JobId, Placement, ProcSet, TaskId, Time, Unavailable, View};

use super::jobs::as_graph;
use super::openings::expected_arrival;
use crate::free_time::Calendar;
use crate::kernel::chains::tariff::{Purse, Tariff};
use crate::kernel::graph::placing::earliest;
use crate::kernel::graph::together::earliest_together;
use crate::kernel::graph::{GraphProblem, NodeId, TaskPlace, rank};

/// Returns the periods in which each processor is unavailable.
pub(super) fn calendars(processors: u32, taken: &[Unavailable]) -> Vec<Calendar> {
    let mut periods = vec![Vec::new(); processors as usize];
    for period in taken {
        for id in period.processors.iter() {
            periods[id as usize].push((period.start.ticks(), period.end.ticks()));
        }
    }
    periods.iter().map(|periods| Calendar::new(periods)).collect()
}

/// Rules for planning the remaining tasks of a job.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlanAgain<'a> {
    /// The tariff, and the maximum sum of charges for the remaining tasks. `None` if the job has no budget.
    pub limit: Option<(&'a Tariff, i64)>,
    /// The places of all tasks of the job in a variant of its strategy. If set, the tasks are planned in the order of
    /// their starts in the variant. Each task gets its node in the variant, unless another node exceeds the budget
    /// less.
    pub lead: Option<&'a [TaskPlace]>,
}

/// Plans the waiting tasks `tasks` of a job by the rule of HEFT, or on the nodes of a variant, with starts from now on.
/// The tasks of a gang start together, and need not use the nodes of the variant. Each task runs on one processor. The
/// plan respects the edges between tasks, and also the edges from tasks that have started. The planned slots are added
/// to `calendars`. If some plan keeps the budget in `rules`, this plan does.
///
/// Source: H. Topcuoglu, S. Hariri, M.-Y. Wu, IEEE Trans. Parallel Distrib. Syst. 13(3), 2002, DOI 10.1109/71.993206.
/// The ranks are computed on the whole graph, including tasks that have started. Complexity: O((e + n) m) for n tasks
/// with e edges on m processors.
pub(super) fn again(
    view: &View<'_>,
    job: JobId,
    tasks: &[TaskId],
    calendars: &mut [Calendar],
    rules: PlanAgain<'_>,
) -> Vec<Placement> {
    let PlanAgain { limit, lead } = rules;
    let own = view.instance.job(job);
    let alone = view.instance.with_jobs(vec![as_graph(view.instance, job)]);
    let problem = GraphProblem::new(&alone);
    let ranks = rank::upward(&problem, &rank::mean_times(&problem));
    let mut placed: Vec<Option<(Time, ProcSet)>> = vec![None; problem.tasks()];
    for run in view.running.iter().filter(|run| own.has_task(run.task)) {
        let end = run.expected_end(view.instance, view.now);
        placed[view.instance.number(run.task) as usize] = Some((end, run.processors.clone()));
    }
    let mut purse = limit.map(|(tariff, budget)| {
        let left: Vec<u32> = tasks.iter().map(|&task| view.instance.number(task)).collect();
        Purse::new(&alone, &problem, tariff, budget, &left)
    });
    let mut places = Vec::with_capacity(tasks.len());
    let mut order = rank::ready_first(&problem, &ranks);
    if let Some(lead) = lead {
        // The sort is stable, so tasks with equal starts stay in a topological order.
        order.sort_by_key(|&number| lead[number as usize].start);
    }
    for number in order {
        let task = own.task(number);
        if tasks.binary_search(&task).is_err() || placed[number as usize].is_some() {
            continue;
        }
        let is_left = |number: &u32| tasks.binary_search(&own.task(*number)).is_ok();
        let gang: Vec<u32> = problem.gang_of(number).unwrap_or(&[]).iter().copied().filter(is_left).collect();
        if gang.len() > 1 {
            let arrival =
                |at: usize, node| arrival(view, own.task(gang[at]), &problem.first_of(node).alone(), &placed).ticks();
            let found = earliest_together(&problem, &gang, calendars, arrival);
            for (&number, TaskPlace { processor, start }) in gang.iter().zip(found.into_iter().flatten()) {
                let end = start + problem.time(number, problem.node_of(processor));
                calendars[processor.index()].hold(1, start, end);
                let (start, end, processors) = (Time::from_ticks(start), Time::from_ticks(end), processor.alone());
                placed[number as usize] = Some((end, processors.clone()));
                places.push(Placement { task: own.task(number), start, end, processors });
            }
            continue;
        }
        let arrival = |node: NodeId| arrival(view, task, &problem.first_of(node).alone(), &placed).ticks();
        let key = |node: NodeId, end: i64| {
            let strays = lead.is_some_and(|lead| problem.node_of(lead[number as usize].processor) != node);
            (purse.as_ref().map_or(0, |purse| purse.excess(number, node)), strays, end)
        };
        let best = earliest(&problem, number, calendars, arrival, key);
        // Each task of an instance can run on some node, so `earliest` always returns a slot.
        let Some((TaskPlace { processor, start }, end)) = best else { continue };
        if let Some(purse) = &mut purse {
            purse.pay(number, problem.node_of(processor));
        }
        calendars[processor.index()].hold(1, start, end);
        let (start, end, processors) = (Time::from_ticks(start), Time::from_ticks(end), processor.alone());
        placed[number as usize] = Some((end, processors.clone()));
        places.push(Placement { task, start, end, processors });
    }
    places
}

/// Returns the instant at which the data of a task are expected to arrive on a processor, or now if the data have
/// arrived. `placed` contains the end and the processors of each task of the job that runs or is planned.
fn arrival(view: &View<'_>, task: TaskId, on: &ProcSet, placed: &[Option<(Time, ProcSet)>]) -> Time {
    let arrivals = view.instance.incoming(task).filter_map(|edge| {
        let from = placed[view.instance.number(edge.from) as usize].as_ref();
        expected_arrival(view, edge, on, from.map(|(end, from)| (*end, from)))
    });
    arrivals.fold(view.now, Time::max)
}
