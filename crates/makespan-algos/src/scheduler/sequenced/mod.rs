//! Plans with sequence-dependent setup times ([`makespan_core::Setup`]), in which jobs also keep hard deadlines.

mod decoder;
mod problem;
mod search;

use std::time::Instant;

use makespan_bounds::Clock;
use makespan_core::{Instance, Objective, Schedule, Unsupported};
use makespan_verify::Bound;

use self::decoder::{Sequence, SequenceDecoder};
use self::problem::SequencingProblem;
use self::search::{Evaluation, Rank, SequenceSearch};
use super::hard_deadlines::{keeps, not_kept};
use super::order::Order;
use crate::plan::{Context, Plan, ScheduleError, Scheduler};
use crate::search::{Budget, Portfolio, anneal};

/// Maximum number of tasks for which a first sequence is built by the rule of the earliest end.
const MAX_GREEDY: usize = 2000;
/// The fraction of the time limit for the bound that ends the search early.
const BOUND: f64 = 0.1;

/// Checks that the instance has no property that is not supported together with setup times.
pub(super) fn supports(instance: &Instance) -> Result<(), Unsupported> {
    SequencingProblem::new(instance).map(drop)
}

/// Checks that there are no setup times.
pub(crate) fn needs_no_setups(instance: &Instance) -> Result<(), Unsupported> {
    if !instance.has_setups() {
        return Ok(());
    }
    Err(Unsupported(
        "it does not plan setup times, but the platform states `setups`; plan with `list`, or with `optimise` and an \
         objective other than cost and pareto"
            .into(),
    ))
}

/// Plans a list in the order `order`. `scheduler` is the scheduler of the list, for errors.
///
/// # Errors
/// [`ScheduleError`] if the instance is not supported, or if no plan was found that keeps the hard deadlines.
pub(super) fn list(
    scheduler: &dyn Scheduler,
    order: Order,
    instance: &Instance,
    context: &Context,
) -> Result<Plan, ScheduleError> {
    let problem = problem(scheduler, instance)?;
    kept(scheduler, instance, listed(&problem, order), context)
}

/// Minimises an objective by annealing. `scheduler` is the caller, for errors.
///
/// # Errors
/// The errors of [`list`].
pub(super) fn optimise(
    scheduler: &dyn Scheduler,
    objective: Objective,
    (budget, searches): (Budget, Option<u32>),
    instance: &Instance,
    context: &mut Context,
) -> Result<Plan, ScheduleError> {
    let problem = problem(scheduler, instance)?;
    let schedule = optimised(&problem, objective, (budget, searches), context);
    kept(scheduler, instance, schedule, context)
}

fn problem<'a>(scheduler: &dyn Scheduler, instance: &'a Instance) -> Result<SequencingProblem<'a>, ScheduleError> {
    let unsupported = |reason| ScheduleError::Unsupported { scheduler: scheduler.name(), reason };
    SequencingProblem::new(instance).map_err(unsupported)
}

/// Returns the schedule as a plan if it keeps the hard deadlines.
fn kept(
    scheduler: &dyn Scheduler,
    instance: &Instance,
    schedule: Option<Schedule>,
    context: &Context,
) -> Result<Plan, ScheduleError> {
    let Some(schedule) = schedule else {
        let reason = Unsupported("with setup times, it minimises only objectives that depend on ends of jobs".into());
        return Err(ScheduleError::Unsupported { scheduler: scheduler.name(), reason });
    };
    let plan = Plan::from(schedule);
    if keeps(instance, &plan) { Ok(plan) } else { not_kept(scheduler, instance, &[plan], context) }
}

/// Returns the schedule of a list. If it does not keep the hard deadlines, returns the schedule of another order that keeps
/// them, if there is one.
fn listed(problem: &SequencingProblem<'_>, order: Order) -> Option<Schedule> {
    let mut decoder = SequenceDecoder::new(problem);
    let mut evaluation = Evaluation::new(&decoder, Objective::Makespan)?;
    let others = [Order::Edd, Order::Shelf, Order::Smith, Order::Saf, Order::WeightedLptf];
    let mut best: Option<(Rank, Schedule)> = None;
    for order in std::iter::once(order).chain(others) {
        decoder.decode(&in_order(problem, order));
        let (rank, _) = evaluation.rank(&decoder);
        if best.as_ref().is_none_or(|best| rank.0 < best.0.0) {
            best = Some((rank, decoder.schedule()));
        }
        if best.as_ref().is_some_and(|best| best.0.0 == 0) {
            break;
        }
    }
    best.map(|(_, schedule)| schedule)
}

/// Returns the best schedule that annealing finds.
fn optimised(
    problem: &SequencingProblem<'_>,
    objective: Objective,
    (budget, searches): (Budget, Option<u32>),
    context: &mut Context,
) -> Option<Schedule> {
    let (begin, threads) = (Instant::now(), context.threads());
    let budget = budget.after(context.spent);
    let portfolio = Portfolio {
        budget,
        searches: searches.unwrap_or_else(|| budget.searches(threads)).max(1),
        threads,
        seed: context.seed,
        stop: context.stop.clone(),
        incumbent: context.incumbent.clone(),
        begin,
    };
    let bound = bound(problem.instance, objective, &portfolio.clock(BOUND));
    let is_time = matches!(objective, Objective::Makespan | Objective::MaxTardiness);
    let floor = bound.as_ref().filter(|_| is_time).map(|bound| bound.ticks().ticks() as f64);
    bound.iter().for_each(|bound| context.incumbent.proved(bound));
    context.bounds.extend(bound);
    let first = first(problem, objective)?;
    let found = portfolio.each(|stream| {
        let mut decoder = SequenceDecoder::new(problem);
        let evaluation = Evaluation::new(&decoder, objective)?;
        let aim = (objective, floor);
        let mut search = SequenceSearch::new(&mut decoder, evaluation, aim, first.clone(), portfolio.random(stream));
        let mut course = portfolio.course(1.0, |steps| steps).watched(&portfolio.incumbent, objective);
        anneal(&mut search, &mut course);
        Some(search.best)
    });
    let best = found.into_iter().flatten().reduce(|one, other| if other.0 < one.0 { other } else { one })?;
    let mut decoder = SequenceDecoder::new(problem);
    decoder.decode(&best.1);
    Some(decoder.schedule())
}

/// Returns a bound on the objective. It ignores setup times, so it also holds with them.
fn bound(instance: &Instance, objective: Objective, clock: &Clock) -> Option<Bound> {
    makespan_bounds::best_by(instance, objective, clock).ok()
}

/// Returns the best of the lists, and of the sequence in which the task that can end first is always next.
fn first(problem: &SequencingProblem<'_>, objective: Objective) -> Option<Sequence> {
    let mut decoder = SequenceDecoder::new(problem);
    let mut evaluation = Evaluation::new(&decoder, objective)?;
    let orders = [Order::Shelf, Order::Smith, Order::Edd, Order::Saf];
    let mut starts: Vec<Sequence> = orders.into_iter().map(|order| in_order(problem, order)).collect();
    if problem.tasks() <= MAX_GREEDY {
        starts.push(earliest_first(problem, &mut decoder));
    }
    let ranked = starts.into_iter().map(|sequence| {
        decoder.decode(&sequence);
        (evaluation.rank(&decoder).0, sequence)
    });
    ranked.reduce(|one, other| if other.0 < one.0 { other } else { one }).map(|(_, sequence)| sequence)
}

/// Returns the sequence in which the task that can end first, including the setup before it, is always next.
fn earliest_first(problem: &SequencingProblem<'_>, decoder: &mut SequenceDecoder<'_>) -> Sequence {
    decoder.clear();
    let mut left: Vec<u32> = (0..problem.tasks() as u32).collect();
    let mut order = Vec::with_capacity(left.len());
    let end = |decoder: &SequenceDecoder<'_>, task: u32| {
        let (mode, start) = decoder.earliest(task, None);
        start + problem.modes[task as usize][mode as usize].time
    };
    while let Some(at) =
        (0..left.len()).filter(|&at| decoder.is_ready(left[at])).min_by_key(|&at| (end(decoder, left[at]), left[at]))
    {
        let task = left.swap_remove(at);
        decoder.place(task, None);
        order.push(task);
    }
    Sequence { modes: vec![None; order.len()], order }
}

/// Returns the tasks in the order of a list.
fn in_order(problem: &SequencingProblem<'_>, order: Order) -> Sequence {
    let instance = problem.instance;
    let tasks = 0..problem.tasks() as u32;
    let fastest = |task: u32| {
        let modes = problem.modes[task as usize].iter();
        modes.map(|mode| (mode.time, mode.width)).min().unwrap_or((1, 1))
    };
    let job = |task: u32| instance.job_of(makespan_core::TaskId::at(task as usize));
    let due = |task: u32| {
        let job = job(task);
        let due = job.must_end_by.into_iter().chain(job.deadline).min();
        due.map_or(f64::INFINITY, |due| due.ticks() as f64)
    };
    let density = |task: u32| job(task).weight.as_f64() / fastest(task).0.max(1) as f64;
    let ranks = if order == Order::Shelf { tails(problem) } else { Vec::new() };
    let key = |task: u32| match order {
        Order::Shelf => -ranks[task as usize],
        Order::Smith => -density(task),
        Order::WeightedLptf => density(task),
        Order::Saf => fastest(task).0 as f64 * f64::from(fastest(task).1),
        Order::Edd => due(task),
    };
    let mut list: Vec<u32> = tasks.collect();
    list.sort_by(|&one, &other| key(one).total_cmp(&key(other)));
    Sequence { modes: vec![None; list.len()], order: list }
}

/// Returns, for each task, the longest path from its start to the end of its successors, in ticks.
fn tails(problem: &SequencingProblem<'_>) -> Vec<f64> {
    let own = |task: usize| problem.modes[task].iter().map(|mode| mode.time).min().unwrap_or(0) as f64;
    let mut tails: Vec<f64> = (0..problem.tasks()).map(own).collect();
    let mut decoder = SequenceDecoder::new(problem);
    // This order places each task after its predecessors.
    let order = earliest_first_by_edges(problem, &mut decoder);
    for &task in order.iter().rev() {
        for edge in &problem.before[task as usize] {
            let from = edge.from.index();
            tails[from] = tails[from].max(own(from) + tails[task as usize]);
        }
    }
    tails
}

/// Returns all tasks, each after its predecessors.
fn earliest_first_by_edges(problem: &SequencingProblem<'_>, decoder: &mut SequenceDecoder<'_>) -> Vec<u32> {
    let order = (0..problem.tasks() as u32).collect();
    decoder.decode(&Sequence { order, modes: vec![None; problem.tasks()] });
    let mut tasks: Vec<u32> = (0..problem.tasks() as u32).collect();
    tasks.sort_by_key(|&task| decoder.placed[task as usize].map_or(0, |placed| placed.end));
    tasks
}
