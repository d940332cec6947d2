//! Plans in which jobs keep their hard deadlines ([`Job::must_end_by`]).

use std::time::Instant;

use makespan_bounds::Clock;
use makespan_bounds::complete::{self, CompleteWork};
use makespan_core::{
    EndPenalty, Instance, Job, Objective, PenaltyForm, Rows, Schedule, Time, Unsupported, Weight, validate,
};
use makespan_verify::{Bound, Value};

use super::penalties::Cost;
use crate::plan::{Context, ForHardDeadlines, Incumbent, Plan, ScheduleError, Scheduler};

/// The fraction of the time limit for a first plan that ignores the hard deadlines.
const FIRST: f64 = 0.25;
/// The fraction of the time limit for the last search, if no plan keeps the hard deadlines.
const LAST: f64 = 0.25;
/// The fraction of the time limit for the proof that no plan keeps the hard deadlines.
const PROOF: f64 = 0.1;

/// Maximum number of conflicts of the complete search at the end, and the product of this number and the number of tasks.
const MAX_CONFLICTS: u64 = 5000;
const CONFLICTS_TIMES_TASKS: u64 = 30_000;

/// Checks that a scheduler can plan an instance with hard deadlines.
pub(super) fn supports(scheduler: &dyn Scheduler, instance: &Instance) -> Result<(), Unsupported> {
    if scheduler.for_hard_deadlines().is_some() {
        return scheduler.supports(&instance.without_hard_deadlines());
    }
    needs_no_hard_deadlines(instance)
}

/// Checks that no job has a hard deadline.
pub(crate) fn needs_no_hard_deadlines(instance: &Instance) -> Result<(), Unsupported> {
    let Some(job) = instance.jobs().iter().find(|job| job.must_end_by.is_some()) else { return Ok(()) };
    Err(Unsupported(format!(
        "it does not keep deadlines, but job `{}` states `must_end_by`; plan with `list`, or with `optimise` and an \
         objective other than cost and pareto, or state a due date (`deadline`) instead",
        job.name
    )))
}

/// Plans an instance with hard deadlines. First, the scheduler ignores the hard deadlines. If its plan does not keep
/// them, [`Scheduler::for_hard_deadlines`] plans with penalties or due dates in their place. A bound that is proved
/// without hard deadlines also holds with them.
///
/// # Errors
/// [`ScheduleError::Infeasible`] if a bound proves that no plan keeps the hard deadlines, and
/// [`ScheduleError::DeadlineNotKept`] if no plan was found that keeps them.
pub(super) fn schedule(
    scheduler: &dyn Scheduler,
    instance: &Instance,
    context: &mut Context,
) -> Result<Plan, ScheduleError> {
    let unsupported = |reason| ScheduleError::Unsupported { scheduler: scheduler.name(), reason };
    supports(scheduler, instance).map_err(unsupported)?;
    let Some(ForHardDeadlines { objective, next, last }) = scheduler.for_hard_deadlines() else {
        return Err(unsupported(Unsupported("it does not keep deadlines".into())));
    };
    let (begin, spent, time) = (Instant::now(), context.spent, scheduler.time_limit());
    let free = instance.without_hard_deadlines();
    let incumbent = std::mem::take(&mut context.incumbent);
    let after = |share: f64| spent + begin.elapsed() + time.unwrap_or_default().mul_f64(share);
    let again = objective.is_some() && time.is_some();
    context.spent = after(if again { 1.0 - FIRST } else { 0.0 });
    let mut plans = vec![scheduler.schedule(&free, context)?];
    context.spent = after(if again { PROOF } else { 0.0 });
    if !keeps(instance, &plans[0]) {
        let changed = match objective {
            Some(objective) => with_penalties(instance, objective),
            None => Some(instance.with_hard_deadlines_as_due_dates()),
        };
        let mut own = Context { bounds: Vec::new(), remarks: Vec::new(), prove: false, ..context.clone() };
        own.spent = after(if again { LAST + PROOF } else { 0.0 });
        plans.extend(changed.and_then(|changed| next.schedule(&changed, &mut own).ok()));
        if !plans.iter().any(|plan| keeps(instance, plan)) {
            own.spent = after(if again { PROOF } else { 0.0 });
            plans.extend(last.and_then(|last| last.schedule(instance, &mut own).ok()));
        }
    } else if again {
        let mut own = Context { prove: false, ..context.clone() };
        plans.extend(scheduler.schedule(&free, &mut own).ok());
        context.bounds = own.bounds;
    }
    context.spent = spent;
    context.incumbent = incumbent;
    context.bounds.iter().for_each(|bound| context.incumbent.proved(bound));
    let value = |plan: &Plan| objective.and_then(|objective| plan.value(objective, instance));
    let kept = plans.iter().filter(|plan| keeps(instance, plan));
    match kept.min_by(|one, other| value(one).cmp(&value(other))) {
        Some(plan) => {
            report(&context.incumbent, objective, instance, plan);
            Ok(plan.clone())
        }
        None => not_kept(scheduler, instance, &plans, context),
    }
}

/// Reports the value of the plan and the bounds to the caller. The searches themselves report nothing, because their
/// plans may miss hard deadlines.
fn report(incumbent: &Incumbent, objective: Option<Objective>, instance: &Instance, plan: &Plan) {
    if let (Some(objective), Some(schedule)) = (objective, plan.schedule()) {
        incumbent.found(objective, objective.value(instance, schedule) as f64);
    }
}

/// Returns true if all schedules of the plan keep the hard deadlines.
pub(super) fn keeps(instance: &Instance, plan: &Plan) -> bool {
    plan.schedules().all(|schedule| latest(instance, schedule).is_none_or(|(late, ..)| late <= 0))
}

/// Returns the largest lateness with regard to a hard deadline, in ticks, with the late job and its end.
fn latest<'a>(instance: &'a Instance, schedule: &Schedule) -> Option<(i64, &'a Job<Rows>, Time)> {
    let each = schedule.placements().iter().filter_map(|placement| {
        let job = instance.job_of(placement.task);
        Some((placement.end.ticks() - job.must_end_by?.ticks(), job, placement.end))
    });
    each.max_by_key(|(late, _, end)| (*late, *end))
}

/// Returns a plan that keeps the hard deadlines if a short complete search finds one. `plans` are other plans, which do not
/// keep them.
///
/// # Errors
/// [`ScheduleError::Infeasible`] if a bound proves that there is no such plan, and otherwise
/// [`ScheduleError::DeadlineNotKept`].
pub(super) fn not_kept(
    scheduler: &dyn Scheduler,
    instance: &Instance,
    plans: &[Plan],
    context: &Context,
) -> Result<Plan, ScheduleError> {
    let time = scheduler.time_limit();
    let clock = time.map_or(Clock::ENDLESS, |time| Clock::until(Instant::now() + time.mul_f64(PROOF), &context.stop));
    let due = instance.with_hard_deadlines_as_due_dates();
    let worst = plans.iter().filter_map(|plan| {
        let schedule = plan.schedule()?;
        Some((latest(instance, schedule)?, schedule))
    });
    let worst = worst.min_by_key(|((late, ..), _)| *late);
    let bound = makespan_bounds::best_by(&due, Objective::MaxTardiness, &clock.part(0.3)).ok();
    let is_positive = |bound: &Bound| bound.value > Value::from(0);
    let mut bound = bound.filter(is_positive);
    let is_meant = complete::unsupported(&due, Objective::MaxTardiness).is_none();
    if let Some((_, known)) = worst.filter(|_| bound.is_none() && is_meant) {
        let conflicts = (CONFLICTS_TIMES_TASKS / instance.tasks().max(1)).min(MAX_CONFLICTS);
        let work = CompleteWork { clock: &clock, conflicts };
        let found = complete::search(&due, Objective::MaxTardiness, known, None, work);
        let keeps = |schedule: &Schedule| validate(instance, schedule).is_ok();
        if let Some(schedule) = found.schedule.filter(keeps) {
            return Ok(schedule.into());
        }
        bound = found.bound.filter(is_positive);
    }
    if let Some(bound) = bound {
        return Err(ScheduleError::Infeasible { late: bound.ticks() });
    }
    let (job, end, must_end_by) = worst.map_or((String::new(), Time::ZERO, Time::ZERO), |((_, job, end), _)| {
        (job.name.clone(), end, job.must_end_by.unwrap_or_default())
    });
    Err(ScheduleError::DeadlineNotKept { scheduler: scheduler.name(), job, end, must_end_by })
}

/// Maximum total of all penalties of ends within the hard deadlines, in millionths. The total is small compared with
/// [`Weight`], so that a missed deadline can cost more than all of it.
const TOTAL: f64 = 1e13;

/// Returns the instance with a penalty for each job instead of its hard deadline. If all jobs keep their hard
/// deadlines, the total penalty or the maximum penalty is the objective in another unit. A missed deadline costs more.
/// Returns `None` if the objective does not depend on ends.
fn with_penalties(instance: &Instance, objective: Objective) -> Option<Instance> {
    // A lateness may be negative, but a penalty may not.
    let objective = if objective == Objective::MaxLateness { Objective::MaxTardiness } else { objective };
    let costs = instance.jobs().iter().map(|job| Cost::of(job, objective)).collect::<Option<Vec<Cost>>>()?;
    let latest = |job: &Job<Rows>| job.release.max(job.must_end_by.unwrap_or_default()).ticks();
    let first = instance.jobs().iter().map(latest).max().unwrap_or(0);
    let longest = |task| instance.profile(task).longest().ticks() as f64 * instance.equal_tasks(task).count() as f64;
    let horizon = first as f64 + instance.different_task_ids().map(longest).sum::<f64>() + 2.0;
    let total: f64 = costs.iter().map(|cost| cost.at(horizon)).sum();
    let scale = TOTAL / total.max(1.0);
    let penalties = costs.iter().zip(instance.jobs());
    let penalties = penalties.map(|(cost, job)| penalty(cost, scale, job.must_end_by, horizon));
    Some(instance.with_penalties(&penalties.collect::<Option<Vec<EndPenalty>>>()?))
}

/// Returns the penalty with the values of `cost` times `scale` up to the hard deadline, and larger values after it.
fn penalty(cost: &Cost, scale: f64, must_end_by: Option<Time>, horizon: f64) -> Option<EndPenalty> {
    let mut points: Vec<(i64, f64)> = Vec::new();
    let last = must_end_by.map_or(horizon as i64, Time::ticks);
    points.extend(cost.instants().filter(|&at| at < last).map(|at| (at, scale * cost.at(at as f64))));
    points.push((last, scale * cost.at(last as f64)));
    match must_end_by {
        Some(at) => {
            let from = points[points.len() - 1].1 + 2.0 * TOTAL;
            points.push((at.ticks() + 1, from));
            points.push((at.ticks() + 1 + horizon as i64, from + TOTAL));
        }
        None => points.push((last + horizon as i64, scale * cost.at(2.0 * horizon))),
    }
    let point = |(at, value): (i64, f64)| {
        Some((Time::from_ticks(at), Weight::from_millionths(value.max(0.0).round() as u64).ok()?))
    };
    EndPenalty::new(PenaltyForm::Linear, points.into_iter().map(point).collect::<Option<Vec<_>>>()?).ok()
}
