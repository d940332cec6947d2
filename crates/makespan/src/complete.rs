//! Complete search for the optimum of small instances.

use std::time::Duration;

use makespan_algos::Context;
use makespan_bounds::Clock;
use makespan_bounds::complete::{self, CompleteWork};
use makespan_core::{Instance, Objective, Schedule, Stop, validate};
use makespan_verify::Bound;

use crate::choice::scheduler;

/// The usual shares of the time limit for the searches before and after the main part of planning.
const SHARES: Shares = Shares { before: 0.15, after: 0.2 };
/// The shares for instances with at most `FEW` tasks. The optimum of these instances is nearly always proved, and the
/// main part of planning gains little.
const LARGE_SHARES: Shares = Shares { before: 0.4, after: 0.2 };
const FEW: u64 = 15;
/// The shares for instances with more than `MANY` tasks and no edges between them. The optimum of these instances is
/// seldom proved.
const SMALL_SHARES: Shares = Shares { before: 0.05, after: 0.05 };
const MANY: u64 = 30;
/// The shares instead of `SHARES` for a time limit of at least `LONG`. After some seconds, the main part of planning
/// improves few plans.
const LONG_SHARES: Shares = Shares { before: 0.15, after: 0.5 };
const LONG: Duration = Duration::from_secs(5);
/// The share of a search's time for a first schedule.
const FIRST: f64 = 0.3;
/// The share of the remaining work for an objective, if other objectives follow.
const PART: f64 = 0.7;
/// If there is no time limit, all objectives together have at most `MAX_CONFLICTS` conflicts, and at most
/// `CONFLICTS_TIMES_TASKS` divided by the number of tasks. A conflict takes longer if there are more tasks.
const MAX_CONFLICTS: u64 = 10_000;
const CONFLICTS_TIMES_TASKS: u64 = 60_000;
/// If there is no time limit, the search for a first schedule has at most `STEPS_TIMES_TASKS` steps divided by the
/// number of tasks.
const STEPS_TIMES_TASKS: u64 = 20_000;

/// The objectives that a complete search supports.
const OBJECTIVES: [Objective; 4] =
    [Objective::Makespan, Objective::WeightedCompletion, Objective::MeanFlow, Objective::MaxLateness];

/// The shares of the time limit for the complete searches before and after the main part of planning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares {
    pub(crate) before: f64,
    pub(crate) after: f64,
}

impl Shares {
    pub(crate) fn of(instance: &Instance, time: Option<Duration>) -> Self {
        match instance.tasks() {
            ..=FEW => LARGE_SHARES,
            tasks if tasks > MANY && instance.edges().is_empty() => SMALL_SHARES,
            _ if time.is_some_and(|time| time >= LONG) => LONG_SHARES,
            _ => SHARES,
        }
    }
}

/// The limit of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effort<'a> {
    /// The time of this clock.
    Timed(&'a Clock),
    /// A fixed number of conflicts, so that the result does not depend on the speed of the machine.
    Counted,
}

/// The result of the search before the main part of planning.
#[derive(Debug)]
pub(crate) struct First {
    pub(crate) schedule: Schedule,
    pub(crate) bounds: Vec<Bound>,
    pub(crate) remarks: Vec<String>,
    /// True if the bound on the objective is the value of the schedule.
    pub(crate) is_optimal: bool,
    /// True if the clock ended the search, so that a longer search may succeed.
    pub(crate) is_promising: bool,
}

/// Returns true if a complete search supports the objective, and the size of the instance.
pub(crate) fn is_meant(instance: &Instance, objective: Objective) -> bool {
    complete::is_meant(instance) && OBJECTIVES.contains(&objective)
}

/// Finds a schedule for one objective in the first part of the time until the clock expires. Then searches completely
/// until the clock expires. Returns `None` if no schedule is found.
pub(crate) fn first(instance: &Instance, goal: Objective, seed: u64, stop: &Stop, clock: &Clock) -> Option<First> {
    let time = clock.left()?.mul_f64(FIRST);
    let mut context = Context { stop: stop.clone(), ..Context::with_seed(seed) };
    let mut schedule = first_schedule(instance, goal, Some(time), &mut context)?;
    let (own, mut bounds): (Vec<Bound>, Vec<Bound>) = context.bounds.into_iter().partition(|bound| is_on(goal, bound));
    let best = own.into_iter().max_by(|one, other| one.value.cmp(&other.value));
    let best = search(instance, goal, &mut schedule, best, CompleteWork { clock, conflicts: u64::MAX });
    let is_optimal = best.as_ref().is_some_and(|best| best.value >= goal.value(instance, &schedule).into());
    bounds.extend(best);
    Some(First { schedule, bounds, remarks: context.remarks, is_optimal, is_promising: clock.is_over() })
}

/// Returns true if a complete search can improve a bound.
fn is_open(instance: &Instance, bound: &Bound) -> bool {
    is_meant(instance, bound.objective) && bound.makespan_at_most.is_none()
}

fn is_on(objective: Objective, bound: &Bound) -> bool {
    bound.objective == objective && bound.makespan_at_most.is_none()
}

/// Returns a valid schedule that `optimise` finds for an objective, in a short time or in a fixed number of steps.
fn first_schedule(
    instance: &Instance,
    objective: Objective,
    time: Option<Duration>,
    context: &mut Context,
) -> Option<Schedule> {
    let budget = match time {
        Some(time) => format!("time-limit={:.6}", time.as_secs_f64()),
        None => format!("steps={}", (STEPS_TIMES_TASKS / instance.tasks().max(1)).max(1)),
    };
    let name = objective.name().replace('_', "-");
    let scheduler = scheduler(&format!("optimise[objective={name},{budget},searches=1]")).ok()?;
    let schedule = scheduler.schedule(instance, context).ok()?.into_schedule()?;
    validate(instance, &schedule).is_ok().then_some(schedule)
}

/// Searches completely for one objective. Replaces the schedule by a better one, if one is found. Returns the better one
/// of `bound` and the bound of the search.
fn search(
    instance: &Instance,
    objective: Objective,
    schedule: &mut Schedule,
    bound: Option<Bound>,
    work: CompleteWork,
) -> Option<Bound> {
    let value = objective.value(instance, schedule).into();
    if bound.as_ref().is_some_and(|bound| bound.value >= value) {
        return bound;
    }
    let completed = complete::search(instance, objective, schedule, bound.as_ref(), work);
    if let Some(better) = completed.schedule {
        *schedule = better;
    }
    let is_better = |better: &Bound| bound.as_ref().is_none_or(|bound| better.value > bound.value);
    completed.bound.filter(is_better).or(bound)
}

/// Replaces bounds by better ones. For each objective, a short search for a schedule precedes the complete search.
pub(crate) fn improve_bounds(instance: &Instance, bounds: &mut [Bound], effort: Effort) {
    let mut left = conflicts(instance);
    for at in 0..bounds.len() {
        let objective = bounds[at].objective;
        if !is_open(instance, &bounds[at]) {
            continue;
        }
        let (clock, conflicts) = effort.part(1.0 / (bounds.len() - at) as f64, left);
        left -= conflicts.min(left);
        let time = clock.left().map(|time| time.mul_f64(FIRST));
        let first = first_schedule(instance, objective, time, &mut Context::default());
        if let Some(mut schedule) = first {
            let work = CompleteWork { clock: &clock, conflicts };
            let best = search(instance, objective, &mut schedule, Some(bounds[at].clone()), work);
            replace(instance, bounds, at, best);
        }
    }
}

/// For each bound that is below the value of the schedule, searches for a better bound and replaces it. The objective
/// `goal` comes first. If a better schedule for this objective is found, it replaces the schedule.
pub(crate) fn improve(
    instance: &Instance,
    goal: Option<Objective>,
    schedule: &mut Schedule,
    bounds: &mut [Bound],
    effort: Effort,
) {
    let mut order: Vec<usize> = (0..bounds.len()).filter(|&at| is_open(instance, &bounds[at])).collect();
    order.sort_by_key(|&at| Some(bounds[at].objective) != goal);
    let mut left = conflicts(instance);
    for (place, &at) in order.iter().enumerate() {
        let objective = bounds[at].objective;
        let (clock, conflicts) = effort.part(if place + 1 < order.len() { PART } else { 1.0 }, left);
        let work = CompleteWork { clock: &clock, conflicts };
        left -= conflicts.min(left);
        let bound = Some(bounds[at].clone());
        let best = if goal == Some(objective) {
            search(instance, objective, schedule, bound, work)
        } else {
            search(instance, objective, &mut schedule.clone(), bound, work)
        };
        replace(instance, bounds, at, best);
    }
}

/// Replaces a bound, and other bounds that follow from it.
fn replace(instance: &Instance, bounds: &mut [Bound], at: usize, best: Option<Bound>) {
    if let Some(best) = best.filter(|best| best.value > bounds[at].value) {
        bounds[at] = best;
        makespan_bounds::by_last_job(instance, bounds);
    }
}

/// Returns the maximum number of conflicts of a search that has no time limit.
fn conflicts(instance: &Instance) -> u64 {
    (CONFLICTS_TIMES_TASKS / instance.tasks().max(1)).min(MAX_CONFLICTS)
}

impl Effort<'_> {
    /// Returns the limits of a part of the work. `conflicts` is the number of conflicts that remain. Without a time
    /// limit, the part may use the fraction `share` of them.
    fn part(self, share: f64, conflicts: u64) -> (Clock, u64) {
        match self {
            Self::Timed(clock) => (clock.part(share), u64::MAX),
            Self::Counted => (Clock::ENDLESS, (conflicts as f64 * share) as u64),
        }
    }
}
