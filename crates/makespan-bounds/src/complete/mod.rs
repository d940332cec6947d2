//! Complete search with learning: finds a better schedule, or proves that no better one exists.
//!
//! The search assigns starts and modes (allotments) to tasks, and learns a nogood from each conflict (lazy clause
//! generation, O. Ohrimenko, P. J. Stuckey, M. Codish, Constraints 14(3), 2009, DOI 10.1007/s10601-008-9064-x). A
//! certificate ([`Refutation`]) states the nogoods, and for each nogood the propagations that prove it.
//! `makespan-verify` checks every bound before this module returns the bound.

mod assign;
mod engine;
mod lifted;
mod limits;
mod machines;
mod model;
mod scales;
mod search;
mod supply;
mod support;
mod table;
mod task;
#[cfg(test)]
mod tests;
mod together;
mod trim;
mod units;
mod unproved;

pub use support::unsupported;
pub use unproved::Unproved;

use makespan_core::{DerivedObjective, Instance, Objective, Schedule, ScheduleBuilder, Time, validate};
use makespan_verify::proof::{Derived, Refutation, time_grid, value_grid};
use makespan_verify::{Bound, Proof};

use crate::Clock;
use model::Model;
use scales::Scale;
use search::{Outcome, Search, Solution, Work};
use support::ignored;
use unproved::DIGITS;

/// The fraction of the work that may be used to find a better schedule, or to prove that there is none. The remaining
/// work is used to refute smaller values of the objective.
const WHOLE: f64 = 0.7;
/// Maximum number of scales. The certificate supports 64 scales.
const MAX_SCALES: usize = 60;
/// Maximum number of attempts to refute a smaller value.
const MAX_SMALLER: usize = 8;

/// The limits of a complete search.
#[derive(Clone, Copy, Debug)]
pub struct CompleteWork<'a> {
    /// The time limit.
    pub clock: &'a Clock,
    /// Maximum number of conflicts. If the clock never expires, this limit makes the result independent of the speed
    /// of the machine.
    pub conflicts: u64,
}

/// The result of a complete search.
#[derive(Clone, Debug, Default)]
pub struct Completed {
    /// The best bound that was proved, if any.
    pub bound: Option<Bound>,
    /// The best schedule that was found, if it is better than the known schedule.
    pub schedule: Option<Schedule>,
    /// The number of conflicts of all searches.
    pub conflicts: u64,
    /// The reason why the best schedule is not proved optimal, or `None` if a bound equals the value of this schedule.
    pub unproved: Option<Unproved>,
}

/// Searches for a schedule that is better than `known`, or for a proof that there is none. If the search ends without
/// this proof, tries to prove a weaker bound that is above the bound `floor`.
///
/// ```
/// use makespan_bounds::{Clock, complete};
/// use makespan_core::{Instance, Job, Objective, Platform, Profile, ScheduleBuilder, Time};
///
/// let job = |name: &str, time| Job::new(name, Profile::rigid(1, Time::from_seconds(time)).unwrap());
/// let jobs = vec![job("a", 2), job("b", 2), job("c", 3)];
/// let instance = Instance::new(Platform::flat(2)?, jobs, vec![])?;
/// let mut builder = ScheduleBuilder::new(&instance);
/// for task in instance.task_ids() {
///     builder.place_earliest(task, 1, Time::ZERO);
/// }
/// let work = complete::CompleteWork { clock: &Clock::ENDLESS, conflicts: 100 };
/// let completed = complete::search(&instance, Objective::Makespan, &builder.finish(), None, work);
/// assert_eq!(completed.schedule.map(|better| better.makespan()), Some(Time::from_seconds(4)));
/// assert_eq!(completed.bound.map(|bound| bound.ticks()), Some(Time::from_seconds(4)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn search(
    instance: &Instance,
    objective: Objective,
    known: &Schedule,
    floor: Option<&Bound>,
    work: CompleteWork,
) -> Completed {
    if let Some(derived) = objective.derived(instance) {
        return of_derived(&derived, instance, objective, known, floor, work);
    }
    if objective.needs_penalties() {
        return limits::minimise(instance, objective, known, work);
    }
    // On the grid of the times alone, the deadlines of a tardiness would be rounded. The finer grid of the values
    // avoids this. If its numbers would become too large, the search uses the grid of the times.
    let model = |grid| Model::new(instance, objective, grid);
    let mut completed = match model(value_grid(instance, objective)).or_else(|_| model(time_grid(instance))) {
        Ok(model) => search_in(&model, instance, known, floor, work),
        Err(reason) => Completed { unproved: Some(reason), ..Completed::default() },
    };
    // The value of a schedule in the relaxed problem may be smaller than its value in the instance. So compare bounds
    // with the value in the instance.
    let value = objective.value(instance, completed.schedule.as_ref().unwrap_or(known)).into();
    let is_proved = completed.bound.iter().chain(floor).any(|bound| bound.value >= value);
    let relaxed = || Unproved::Relaxed(ignored(instance, objective));
    completed.unproved = if is_proved { None } else { completed.unproved.or_else(|| Some(relaxed())) };
    completed
}

/// Runs [`search`] for the base of a derived objective, and converts the bound.
fn of_derived(
    derived: &DerivedObjective,
    instance: &Instance,
    objective: Objective,
    known: &Schedule,
    floor: Option<&Bound>,
    work: CompleteWork,
) -> Completed {
    let floor = floor.and_then(|floor| match &floor.proof {
        Proof::Derived(Derived { proof }) => Bound::proved_by(derived.base, (**proof).clone(), &derived.instance).ok(),
        _ => None,
    });
    let completed = search(&derived.instance, derived.base, known, floor.as_ref(), work);
    let bound = completed.bound.and_then(|bound| {
        let proof = Proof::Derived(Derived { proof: Box::new(bound.proof) });
        Bound::proved_by(objective, proof, instance).ok()
    });
    Completed { bound, ..completed }
}

/// Runs [`search`] with the objective and the time grid of `model`.
fn search_in(
    model: &Model,
    instance: &Instance,
    known: &Schedule,
    floor: Option<&Bound>,
    work: CompleteWork,
) -> Completed {
    let (objective, mut completed) = (model.objective, Completed::default());
    let units = Units::new(instance, objective, model.grid);
    let Some(mut upper) = units.of(known) else {
        completed.unproved = Some(Unproved::feature(DIGITS));
        return completed;
    };
    let mut lower = floor.map_or(0, |bound| units.of_bound(bound)).max(0);
    let mut value = objective.value(instance, known);
    let prove = |value: i64, steps: Vec<u8>| {
        let proof = Proof::Refutation(Refutation { value, grid: model.grid, steps });
        Bound::proved_by(objective, proof, instance).ok()
    };
    // The largest value that is not refuted yet.
    let mut open = upper - 1;
    if lower >= upper {
        return completed;
    }
    let mut scales: Vec<Scale> = scales::all(model).into_iter().chain(lifted::best(model)).collect();
    let begin = |scales: &[Scale], schedule: &Schedule, most: i64, attempt: usize, work: &Work| {
        let mut search = Search::begin(model, scales, most, attempt, work)?;
        search.stay_near(starts(instance, model, schedule));
        Ok(search)
    };
    let whole = work.clock.part(WHOLE);
    let all = (work.conflicts as f64 * WHOLE) as u64;
    let mut part = Work { clock: &whole, conflicts: all };
    let mut attempt = 0;
    let mut search = begin(&scales, known, open, attempt, &part);
    completed.unproved = loop {
        let outcome = match &mut search {
            Ok(search) => search.go_on(&mut part),
            Err(outcome) => std::mem::replace(outcome, Outcome::Unfinished),
        };
        completed.conflicts = all - part.conflicts;
        match outcome {
            Outcome::Refuted(steps) => {
                completed.bound = prove(upper, steps);
                completed.unproved = completed.bound.is_none().then_some(Unproved::TooLong);
                return completed;
            }
            Outcome::Found(solution) => {
                let better = built(instance, model, &solution);
                let better = better.filter(|schedule| objective.value(instance, schedule) < value);
                let Some((schedule, reached)) =
                    better.and_then(|better| units.of(&better).map(|units| (better, units)))
                else {
                    // Begin again with a scale that excludes the solution.
                    if scales.len() < MAX_SCALES
                        && let Some(scale) = together::violated(model, &solution.starts)
                    {
                        scales.push(scale);
                        search = begin(&scales, completed.schedule.as_ref().unwrap_or(known), open, attempt, &part);
                        continue;
                    }
                    open = open.min(solution.value);
                    break Some(Unproved::Relaxed(ignored(instance, objective)));
                };
                value = objective.value(instance, &schedule);
                (upper, completed.schedule) = (reached.min(upper - 1), Some(schedule));
                open = upper - 1;
                if lower >= upper {
                    break None;
                }
                if let Ok(found) = &mut search
                    && let Err(outcome) = found.tighten(open, &part)
                {
                    search = Err(outcome);
                }
            }
            // A search with another number of conflicts between restarts may yield a shorter proof.
            Outcome::TooLong if attempt + 1 < search::RESTARTS.len() => {
                attempt += 1;
                search = begin(&scales, completed.schedule.as_ref().unwrap_or(known), open, attempt, &part);
            }
            Outcome::TooLong => break Some(Unproved::TooLong),
            Outcome::Unsupported => break Some(Unproved::feature(DIGITS)),
            Outcome::Unfinished if whole.is_over() => break Some(Unproved::TimeLimit),
            Outcome::Unfinished => break Some(Unproved::ConflictLimit),
        }
    };
    let mut left = work.conflicts - completed.conflicts;
    for _ in 0..MAX_SMALLER {
        if lower >= open || work.clock.is_over() {
            break;
        }
        let most = lower + (open - lower) / 2;
        let half = work.clock.part(0.5);
        let mut part = Work { clock: &half, conflicts: left / 2 };
        let outcome = search::run(model, &scales, most, &mut part);
        let used = left / 2 - part.conflicts;
        left -= used;
        completed.conflicts += used;
        match outcome {
            Outcome::Refuted(steps) => {
                let Some(bound) = prove(most + 1, steps) else { break };
                completed.bound = Some(bound);
                lower = most + 1;
            }
            Outcome::Found(solution) => open = most.min(solution.value),
            Outcome::TooLong | Outcome::Unfinished | Outcome::Unsupported => open = most,
        }
    }
    completed
}

/// Returns the start and the mode of each task of a schedule.
fn starts(instance: &Instance, model: &Model, schedule: &Schedule) -> Vec<(i64, usize)> {
    let mut starts = vec![(0, 0); model.tasks.len()];
    for placement in schedule.placements() {
        let task = placement.task.index();
        let of = &model.tasks[task];
        let mode = if model.classes.is_empty() {
            of.allotments.iter().rposition(|&width| width <= placement.processors.len())
        } else {
            machines::mode_of(instance, &model.classes, of, placement)
        };
        starts[task] = (placement.start.ticks().div_euclid(model.grid), mode.unwrap_or(0));
    }
    starts
}

/// Returns the schedule of a solution, or `None` if the schedule violates a condition of the instance that the relaxed
/// problem ignores.
fn built(instance: &Instance, model: &Model, solution: &Solution) -> Option<Schedule> {
    let is_valid = |schedule: &Schedule| validate(instance, schedule).is_ok();
    let on_nodes = || assign::assigned(instance, model, &solution.starts).filter(is_valid);
    if !model.classes.is_empty() {
        return on_nodes();
    }
    let mut builder = ScheduleBuilder::new(instance);
    let mut order: Vec<_> = instance.task_ids().zip(&solution.starts).collect();
    order.sort_by_key(|&(task, &(start, _))| (start, task));
    for (task, &(start, mode)) in order {
        let allotment = model.tasks[task.index()].allotments[mode];
        builder.place_earliest(task, allotment, Time::from_ticks(start.checked_mul(model.grid)?));
    }
    Some(builder.finish()).filter(is_valid).or_else(on_nodes)
}

/// The unit in which a search counts values of an objective.
struct Units {
    objective: Objective,
    /// The weight of the end of each task, divided by `unit`.
    weights: Vec<i64>,
    /// The greatest common divisor of the weights of the ends, in millionths.
    unit: i64,
    grid: i64,
    dues: Vec<Option<i64>>,
}

impl Units {
    fn new(instance: &Instance, objective: Objective, grid: i64) -> Self {
        let (weights, unit) = Refutation::weights(objective, instance);
        let due = |task| instance.job_of(task).deadline.map(Time::ticks);
        Self { objective, weights, unit, grid, dues: instance.task_ids().map(due).collect() }
    }

    /// Returns the value of a schedule in these units, rounded up.
    fn of(&self, schedule: &Schedule) -> Option<i64> {
        let placements = schedule.placements();
        let ticks = match self.objective {
            Objective::Makespan => i128::from(schedule.makespan().ticks()),
            Objective::MaxTardiness => {
                let late = placements.iter().filter_map(|placement| {
                    Some(i128::from(placement.end.ticks()) - i128::from(self.dues[placement.task.index()]?))
                });
                late.max().unwrap_or(0).max(0)
            }
            _ => {
                let cost = |placement: &makespan_core::Placement| {
                    let task = placement.task.index();
                    let due = self.dues[task].filter(|_| self.objective.is_tardiness()).unwrap_or(0);
                    let late = i128::from(placement.end.ticks()) - i128::from(due);
                    late.max(0) * i128::from(self.weights[task])
                };
                placements.iter().map(cost).sum()
            }
        };
        i64::try_from(ticks.div_euclid(self.grid.into()) + i128::from(ticks.rem_euclid(self.grid.into()) > 0)).ok()
    }

    /// Returns the value of a bound in these units, rounded down. Returns 0 for objectives with bounds in another unit.
    fn of_bound(&self, bound: &Bound) -> i64 {
        let unit = match self.objective {
            Objective::Makespan | Objective::MaxTardiness => 1,
            Objective::WeightedCompletion | Objective::WeightedTardiness => self.unit.max(1),
            _ => return 0,
        };
        let whole = bound.value.integer() / (i128::from(unit) * i128::from(self.grid));
        i64::try_from(whole).unwrap_or(0)
    }
}
