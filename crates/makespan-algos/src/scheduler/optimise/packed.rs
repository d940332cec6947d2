//! The search for instances for which it is not enough to count equal processors. If each resource is one pool, a
//! genetic algorithm combines lists, and justifies their schedules. Otherwise, lists on a packing are annealed.

use std::time::Instant;

use makespan_core::{Instance, Objective, Schedule, Time, Unsupported};

use super::front::limits;
use super::machines::{LIGHTEST, MachineOutcome, SHORTEST, proved};
use super::proofs::prove;
use super::{Limit, Optimise, Target};
use crate::plan::Context;
use crate::scheduler::packed::{self, LaggedPools, Moldable, PlanSearch, Pools, SearchAim};
use crate::search::Portfolio;

/// The fraction of the time that is reserved at the end for work that cannot be interrupted: the last schedule and its
/// proof.
const RESERVE: f64 = 0.01;

/// Returns whether this search plans an instance. The other searches support single tasks on equal processors, and
/// graphs of tasks that each run on one processor. If jobs wait for other jobs, the other searches need unequal
/// processors, no bags, and tasks that each run on one processor.
pub(super) fn is_meant(instance: &Instance) -> bool {
    let alike = instance.has_equal_processors() && !instance.has_compound_jobs();
    let parallel = || instance.task_ids().any(|task| !instance.profile(task).is_sequential());
    let ordered = || instance.has_edges_between_jobs() && (instance.has_equal_processors() || instance.has_bags());
    instance.has_demands() || instance.has_lags() || ordered() || (!alike && parallel())
}

/// Returns the best schedules found, and the bounds that were proved.
pub(super) fn minimise(
    optimise: &Optimise,
    instance: &Instance,
    context: &Context,
) -> Result<MachineOutcome, Unsupported> {
    let portfolio = optimise.portfolio(Instant::now(), context);
    let packing = packed::packing(instance)?;
    let objectives = match optimise.target {
        Target::Objective(Objective::Makespan) => vec![Objective::Makespan],
        Target::Objective(objective) => vec![Objective::Makespan, objective],
        Target::Front => vec![Objective::Makespan, Objective::WeightedCompletion],
    };
    let bounds = prove(instance, &portfolio, context, &objectives);
    let value = |objective| {
        let of = bounds.iter().filter(move |bound| bound.objective == objective);
        of.map(|bound| bound.value.integer()).max().unwrap_or(0)
    };
    let floor = Time::from_ticks(value(Objective::Makespan) as i64);
    let limit = Limit::new(optimise.makespan_at_most, floor, context);
    let at = limit.map(|limit| limit.at);
    let floor_of = |objective| value(objective) as f64;
    let target = optimise.target;
    let found = if instance.has_lags() {
        let problem = packed::problem(&packing);
        let pools = LaggedPools::new(problem.as_ref())?;
        let found = Run { search: &pools, portfolio, floor: &floor_of }.plans(target, at);
        Some(found.ok_or_else(packed::no_plan_with_lags)?)
    } else if let Some(moldable) = Moldable::new(&packing) {
        Run { search: &moldable, portfolio, floor: &floor_of }.plans(target, at)
    } else {
        let problem = packed::problem(&packing);
        match problem.as_ref().and_then(|problem| Pools::new(&packing, problem)) {
            Some(pools) => Run { search: &pools, portfolio, floor: &floor_of }.plans(target, at),
            None => Run { search: &packing, portfolio, floor: &floor_of }.plans(target, at),
        }
    };
    let found = found.ok_or_else(|| packed::used_up(&packing))?;
    let points = found.into_iter().map(|schedule| proved(&bounds, schedule)).collect();
    Ok(MachineOutcome { points, bounds, limit })
}

/// The data that the searches share.
struct Run<'p, S> {
    search: &'p S,
    portfolio: Portfolio,
    /// Returns the best proven bound on an objective, or zero if there is none.
    floor: &'p (dyn Fn(Objective) -> f64 + Sync),
}

/// One part of the search: its fraction of the time, its objective and its limit on the makespan.
struct Part {
    objective: Objective,
    limit: Option<Time>,
    from: f64,
    until: f64,
}

impl<S: PlanSearch> Run<'_, S> {
    fn plans(&self, target: Target, limit: Option<Time>) -> Option<Vec<Schedule>> {
        match target {
            Target::Objective(objective) => self.of(objective, limit),
            Target::Front => self.front(limit),
        }
    }

    fn of(&self, objective: Objective, limit: Option<Time>) -> Option<Vec<Schedule>> {
        if limit.is_none() || objective == Objective::Makespan {
            return Some(vec![
                self.search.schedule(&self.find(&Part { objective, limit: None, from: 0.0, until: 1.0 }, &[])?),
            ]);
        }
        // First search for the shortest schedule. This search is most likely to find a schedule within a narrow limit.
        let shortest = Part { objective: Objective::Makespan, limit: None, from: 0.0, until: SHORTEST };
        let short = self.find(&shortest, &[])?;
        let found = self.find(&Part { objective, limit, from: SHORTEST, until: 1.0 }, std::slice::from_ref(&short))?;
        Some(vec![self.search.schedule(&found)])
    }

    /// Returns the shortest schedule, the schedule with the least weighted completion, and some schedules between
    /// them.
    fn front(&self, limit: Option<Time>) -> Option<Vec<Schedule>> {
        let shortest = Part { objective: Objective::Makespan, limit: None, from: 0.0, until: SHORTEST };
        let short = self.find(&shortest, &[])?;
        let objective = Objective::WeightedCompletion;
        let lightest = Part { objective, limit, from: SHORTEST, until: LIGHTEST };
        let light = self.find(&lightest, std::slice::from_ref(&short))?;
        let (short_plan, light_plan) = (self.search.schedule(&short), self.search.schedule(&light));
        let between = limits(short_plan.makespan(), light_plan.makespan());
        let (mut known, mut plans) = (vec![short, light], vec![short_plan, light_plan]);
        let share = (1.0 - LIGHTEST) / between.len().max(1) as f64;
        for (at, &limit) in between.iter().enumerate() {
            let from = LIGHTEST + share * at as f64;
            let found = self.find(&Part { objective, limit: Some(limit), from, until: from + share }, &known)?;
            plans.push(self.search.schedule(&found));
            known.push(found);
        }
        Some(plans)
    }

    /// Returns the best result of all searches.
    fn find(&self, part: &Part, known: &[S::Found]) -> Option<S::Found> {
        let Part { objective, limit, from, until } = *part;
        // If the objective is a mean, the search minimises the sum, for which a bound on the mean is not valid.
        let floor = if objective.is_mean() { f64::NEG_INFINITY } else { (self.floor)(objective) };
        let aim = SearchAim { objective, limit: limit.map(Time::ticks), floor };
        let length = (until - from) * (1.0 - RESERVE);
        let found = self.portfolio.each(|index| {
            let mut course = self.portfolio.course(from + length, |steps| (steps as f64 * length) as u64 + 1);
            // With a limit, or for a mean, the search minimises a quantity other than the objective, so its values are
            // not reported.
            if limit.is_none() && !objective.is_mean() {
                course = course.watched(&self.portfolio.incumbent, objective);
            }
            self.search.search(aim, known, self.portfolio.random(index), &mut course)
        });
        let best = found.into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, found)| found)
    }
}
