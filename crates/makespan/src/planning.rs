//! Plans with proofs of their quality.

use std::time::{Duration, Instant};

use makespan_algos::catalogue::resolved;
use makespan_algos::{Context, Incumbent, Plan, ScheduleError, Scheduler};
use makespan_bounds::Clock;
use makespan_core::tree::{RatesError, TreeProblem};
use makespan_core::{Instance, Objective, Schedule, Stop, Unsupported, Violation, validate};
use makespan_verify::Bound;
use thiserror::Error;

use crate::SpecError;
use crate::choice::{default_algorithm, minimised, scheduler};
use crate::complete::{self, Aim, Effort, Shares};

/// A plan with a proof of its quality.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Full spec of the algorithm: its name with its parameters.
    pub algorithm: String,
    /// The same spec with all its parameters ([`resolved`]).
    pub spec: String,
    /// The schedules, or the rates of a steady state. All schedules have been validated.
    pub plan: Plan,
    /// One bound per objective. A schedule has the standard bounds and a bound on the objective that the algorithm
    /// minimised. A steady state has a bound on its throughput.
    pub bounds: Vec<Bound>,
    /// Remarks of the algorithm for the user.
    pub remarks: Vec<String>,
}

/// The reason why there is no plan.
#[derive(Debug, Error)]
pub enum PlanError {
    /// The spec of the algorithm is invalid.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The algorithm does not support this instance.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// The algorithm returns the rates of a steady state, but the caller requested placements.
    #[error(
        "{algorithm} plans the rates of a steady state, which have no start times or processors; choose another \
         algorithm"
    )]
    NoSchedule {
        /// Full spec of the algorithm.
        algorithm: String,
    },
    /// The algorithm produced rates that the nodes cannot sustain, which is a defect of Makespan.
    #[error(
        "{algorithm} made rates that cannot be sustained, which is a defect of Makespan; please report it: {error}"
    )]
    Unsteady {
        /// Full spec of the algorithm.
        algorithm: String,
        /// The first node at which the rates exceed the capacity, and this capacity.
        error: RatesError,
    },
    /// No bound can be proved for this kind of platform.
    #[error("cannot prove a bound: {0}")]
    Unproved(Unsupported),
    /// The algorithm produced an invalid schedule, which is a defect of Makespan.
    #[error("{algorithm} made an invalid schedule, which is a defect of Makespan; please report it: {violation}")]
    Invalid {
        /// Full spec of the algorithm.
        algorithm: String,
        /// The first violated rule.
        violation: Violation,
    },
}

impl Planned {
    /// Returns the ratio between the value of the plan and the bound on this objective, at least 1. A larger ratio
    /// means a worse plan. Returns `None` if there is no bound on the objective or if the bound is zero.
    pub fn ratio(&self, instance: &Instance, objective: Objective) -> Option<f64> {
        plan_ratio(instance, &self.plan, self.bounds.iter().find(|bound| bound.objective == objective)?)
    }

    /// Returns the chosen schedule of the plan, or `None` if the plan is a steady state.
    pub fn schedule(&self) -> Option<&Schedule> {
        self.plan.schedule()
    }

    /// Converts the plan into its chosen schedule.
    ///
    /// # Errors
    /// [`PlanError::NoSchedule`] for a steady state.
    pub fn into_schedule(self) -> Result<Schedule, PlanError> {
        self.plan.into_schedule().ok_or(PlanError::NoSchedule { algorithm: self.algorithm })
    }
}

/// Returns the ratio between the value of a plan and a bound. See [`Bound::ratio_of`]. The plan consists of placements,
/// or of the rates of a steady state.
pub fn plan_ratio(instance: &Instance, plan: &Plan, bound: &Bound) -> Option<f64> {
    let speaks = plan.schedule().is_none_or(|schedule| bound.speaks_of(schedule));
    bound.ratio(&plan.value(bound.objective, instance)?).filter(|_| speaks)
}

/// Plans an instance with its default algorithm ([`crate::default_algorithm`]), and proves bounds on the optimum.
/// [`Planner`] has more options.
///
/// # Errors
/// [`PlanError`] if the algorithm does not support the instance.
pub fn plan(instance: &Instance) -> Result<Planned, PlanError> {
    Planner::new().plan(instance)
}

/// Options for planning an instance: the algorithm, the seed, and a request to stop.
///
/// ```
/// use makespan::{Instance, Job, Planner, Platform, Profile, Time};
///
/// let job = |name| Job::new(name, Profile::rigid(2, Time::from_seconds(60)).unwrap());
/// let instance = Instance::new(Platform::flat(4)?, vec![job("a"), job("b")], vec![])?;
/// let planned = Planner::new().algorithm("demt[shuffles=5]").seed(7).plan(&instance)?;
/// assert_eq!(planned.schedule().unwrap().makespan(), Time::from_seconds(60));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Planner {
    algorithm: Option<String>,
    context: Context,
}

impl Planner {
    /// Creates a planner with the default algorithm and seed 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the algorithm by its spec, such as `demt[shuffles=5]`.
    #[must_use]
    pub fn algorithm(self, spec: impl Into<String>) -> Self {
        Self { algorithm: Some(spec.into()), ..self }
    }

    /// Sets the seed of random numbers.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { context: Context { seed, ..self.context }, ..self }
    }

    /// Sets the maximum number of threads. The default is the number of cores. The number changes a plan only if the
    /// algorithm has a time limit.
    #[must_use]
    pub fn threads(self, threads: u32) -> Self {
        Self { context: Context { threads: Some(threads), ..self.context }, ..self }
    }

    /// Sets the object by which another thread can stop the planning early. Then an algorithm that searches returns the
    /// best plan that it has found so far.
    #[must_use]
    pub fn stop(self, stop: &Stop) -> Self {
        Self { context: Context { stop: stop.clone(), ..self.context }, ..self }
    }

    /// Sets the object by which another thread can read the best value and the best bound while the algorithm searches.
    #[must_use]
    pub fn incumbent(self, incumbent: &Incumbent) -> Self {
        Self { context: Context { incumbent: incumbent.clone(), ..self.context }, ..self }
    }

    /// Sets the time that was already spent before planning. The time limit of the algorithm includes this time.
    #[must_use]
    pub fn spent(self, spent: Duration) -> Self {
        Self { context: Context { spent, ..self.context }, ..self }
    }

    /// Plans an instance. Proves the standard bounds, and a bound on the objective that the algorithm minimised.
    ///
    /// On small instances, a complete search also runs for the objectives that the algorithm minimises. The complete
    /// search has a part of the time limit. If there is no time limit, it has a fixed number of conflicts (dead ends).
    ///
    /// The schedule of the complete search may replace the plan of the algorithm. This happens only if the algorithm
    /// keeps improving its plan, minimises exactly one objective, and has no limit on the makespan. If the complete
    /// search proves its schedule optimal before the algorithm starts, this schedule is the plan, and the algorithm
    /// does not run. Otherwise, the plan is the better one of the two schedules. If the plan is not proved optimal, a
    /// remark states the reason. The remark is omitted if the instance has too many tasks for the complete search.
    ///
    /// # Errors
    /// [`PlanError`] if the spec is invalid or the algorithm does not support the instance.
    pub fn plan(mut self, instance: &Instance) -> Result<Planned, PlanError> {
        self.context.prove = true;
        let (begin, spent, stop) = (Instant::now(), self.context.spent, self.context.stop.clone());
        let scheduler = self.scheduler(instance)?;
        check_meant(&*scheduler, instance)?;
        let aim = Aim::of(&*scheduler, instance);
        let goal = aim.goal;
        let left = scheduler.time_limit().map(|time| time.saturating_sub(spent).max(time / 4));
        let clock = left.map_or(Clock::ENDLESS, |left| Clock::until(begin + left, &stop));
        let shares = Shares::of(instance, left);
        let before = clock.part(shares.before);
        let mut first = goal.and_then(|goal| complete::first(instance, goal, &self.context, &before));
        let unproved = first.as_mut().and_then(|first| first.unproved.take());
        let mut planned = match first {
            Some(first) if first.is_optimal => Planned {
                spec: resolved(&scheduler.name(), self.context.threads()),
                algorithm: scheduler.name(),
                plan: first.schedule.into(),
                bounds: first.bounds,
                remarks: first.remarks,
            },
            first => {
                let is_promising = first.as_ref().is_some_and(|first| first.is_promising);
                let after = left.filter(|_| is_promising).unwrap_or_default().mul_f64(shares.after);
                self.context.spent += begin.elapsed() + after;
                let mut planned = self.plan_unproved_by(&*scheduler, instance)?;
                if let (Plan::Schedule(schedule), Some(first), Some(goal)) = (&mut planned.plan, first, goal) {
                    if goal.value(instance, &first.schedule) < goal.value(instance, schedule) {
                        *schedule = first.schedule;
                    }
                    planned.bounds.extend(first.bounds);
                }
                planned
            }
        };
        // Use the remaining time for the bounds that the scheduler did not prove.
        planned.bounds = match planned.plan.schedule() {
            Some(schedule) => bounds_with(instance, schedule, &planned.bounds, &clock)?,
            None => vec![bound_on_throughput(instance, &planned.bounds)?],
        };
        let effort = if left.is_some() { Effort::Timed(&clock) } else { Effort::Counted };
        match &mut planned.plan {
            _ if stop.is_requested() => {}
            Plan::Schedule(schedule) => {
                let more = complete::improve(instance, aim, schedule, &mut planned.bounds, effort);
                let remark = complete::remark(instance, aim, schedule, &planned.bounds, [unproved, more]);
                planned.remarks.extend(remark);
            }
            plan => {
                if let Some(mut schedule) = plan.schedule().cloned() {
                    complete::improve(instance, aim, &mut schedule, &mut planned.bounds, effort);
                }
            }
        }
        Ok(planned)
    }

    /// Returns the requested scheduler, or the default scheduler for the instance.
    fn scheduler(&self, instance: &Instance) -> Result<Box<dyn Scheduler>, SpecError> {
        scheduler(self.algorithm.as_deref().unwrap_or_else(|| default_algorithm(instance)))
    }

    /// Plans without proving further bounds. The result contains only the bounds that the algorithm proved. The plan
    /// is validated.
    ///
    /// # Errors
    /// The errors of [`Planner::plan`].
    pub fn plan_unproved(self, instance: &Instance) -> Result<Planned, PlanError> {
        let scheduler = self.scheduler(instance)?;
        self.plan_unproved_by(scheduler.as_ref(), instance)
    }

    /// Like [`Planner::plan_unproved`], but with a scheduler that need not be in the catalogue. The plan is validated.
    ///
    /// # Errors
    /// The errors of [`Planner::plan`]. [`PlanError::Invalid`] names the rule that the schedule violates.
    pub fn plan_unproved_by(self, scheduler: &dyn Scheduler, instance: &Instance) -> Result<Planned, PlanError> {
        check_meant(scheduler, instance)?;
        let Self { mut context, .. } = self;
        let plan = scheduler.schedule(instance, &mut context)?;
        let algorithm = scheduler.name();
        for schedule in plan.schedules() {
            validate(instance, schedule).map_err(|mut violations| PlanError::Invalid {
                algorithm: algorithm.clone(),
                violation: violations.swap_remove(0),
            })?;
        }
        if let Plan::Periodic(state) = &plan {
            let problem =
                TreeProblem::new(instance).map_err(|error| PlanError::Unproved(Unsupported(error.to_string())))?;
            state.check(&problem).map_err(|error| PlanError::Unsteady { algorithm: algorithm.clone(), error })?;
        }
        let spec = resolved(&algorithm, context.threads());
        Ok(Planned { algorithm, spec, plan, bounds: context.bounds, remarks: context.remarks })
    }
}

/// Checks that the instance has the due dates or penalties on which the minimised objective depends.
fn check_meant(scheduler: &dyn Scheduler, instance: &Instance) -> Result<(), ScheduleError> {
    let name = scheduler.name();
    let &[objective] = minimised(&name) else { return Ok(()) };
    if objective.is_meant_for(instance) {
        return Ok(());
    }
    let missing = if objective.needs_penalties() { "penalty" } else { "due date (`deadline`)" };
    let reason =
        format!("it minimises the {objective}, but no job has a {missing}; state it, or choose another objective");
    Err(ScheduleError::Unsupported { scheduler: name, reason: Unsupported(reason) })
}

/// Returns the largest bound in `known` on each objective. For each standard objective without a known bound, proves a
/// bound, until the clock expires. A bound on the cost may hold only for schedules that end by some instant, because
/// schedules that end later can be cheaper. If `schedule` ends later, the bound is ignored.
fn bounds_with(
    instance: &Instance,
    schedule: &Schedule,
    known: &[Bound],
    clock: &Clock,
) -> Result<Vec<Bound>, PlanError> {
    let mut bounds = Vec::with_capacity(Objective::OF_SCHEDULES.len());
    for objective in Objective::OF_SCHEDULES {
        let any = |bound: &Bound| bound.makespan_at_most.is_none();
        let speaks = |bound: &&Bound| {
            bound.objective == objective && (any(bound) || objective == Objective::Cost && bound.speaks_of(schedule))
        };
        match known.iter().filter(speaks).max_by_key(|bound| bound.value.integer()) {
            Some(bound) => bounds.push(bound.clone()),
            None if objective.is_standard(instance) => {
                let bound = makespan_bounds::best_by(instance, objective, &clock.part(0.5));
                bounds.push(bound.map_err(PlanError::Unproved)?);
            }
            None => {}
        }
    }
    makespan_bounds::by_last_job(instance, &mut bounds);
    Ok(bounds)
}

/// Returns the smallest known bound on the throughput. If no bound is known, searches for one.
fn bound_on_throughput(instance: &Instance, known: &[Bound]) -> Result<Bound, PlanError> {
    let known = known.iter().filter(|bound| bound.objective == Objective::Throughput);
    match known.min_by(|one, other| one.value.cmp(&other.value)) {
        Some(bound) => Ok(bound.clone()),
        None => makespan_bounds::best(instance, Objective::Throughput).map_err(PlanError::Unproved),
    }
}

/// Proves the bounds that are necessary to compare these plans. If some plan consists of rates, the result includes a
/// bound on the throughput. If some plan consists of placements, or if there are no plans, the result includes the
/// standard bounds.
///
/// # Errors
/// [`PlanError::Unproved`] if no bound can be proved for this kind of platform.
pub fn bounds_for<'a>(
    instance: &Instance,
    plans: &(impl Iterator<Item = &'a Plan> + Clone),
) -> Result<Vec<Bound>, PlanError> {
    let is_rates = |plan: &Plan| matches!(plan, Plan::Periodic(_));
    let rates = plans.clone().any(is_rates);
    let mut bounds = Vec::new();
    if !rates || plans.clone().any(|plan| !is_rates(plan)) {
        bounds.extend(makespan_bounds::standard(instance).map_err(PlanError::Unproved)?);
    }
    if rates {
        bounds.push(bound_on_throughput(instance, &[])?);
    }
    Ok(bounds)
}

/// Proves bounds with certificates: one for each standard objective and, if jobs have due dates or penalties, one for
/// each other objective about them. For bags on a tree, the result is only an upper bound on the throughput.
///
/// # Errors
/// [`PlanError::Unproved`] if no bound can be proved for this kind of platform.
pub fn bound(instance: &Instance) -> Result<Vec<Bound>, PlanError> {
    if TreeProblem::is_meant(instance) {
        return bound_on_throughput(instance, &[]).map(|bound| vec![bound]);
    }
    let mut bounds = makespan_bounds::standard(instance).map_err(PlanError::Unproved)?;
    for objective in of_data(instance) {
        bounds.push(makespan_bounds::best(instance, objective).map_err(PlanError::Unproved)?);
    }
    Ok(bounds)
}

/// Returns the derived objectives and the objectives about penalties, if the instance has the due dates or penalties on
/// which they depend.
fn of_data(instance: &Instance) -> impl Iterator<Item = Objective> + '_ {
    let all = Objective::DERIVED.into_iter().chain(Objective::PENALTIES);
    all.filter(move |objective| objective.is_meant_for(instance))
}

/// The fraction of the time of a thorough search that the standard bounds get if there are other bounds.
const FIRST_OF_BOUNDS: f64 = 0.6;

/// Proves the same bounds as [`bound`]. If a longer search may improve these bounds, a second search follows. The
/// second search takes about ten times as long as the first search. It ends earlier if the time limit expires.
///
/// # Errors
/// The errors of [`bound`].
pub fn thorough_bound(instance: &Instance, time_limit: Option<Duration>) -> Result<Vec<Bound>, PlanError> {
    if TreeProblem::is_meant(instance) {
        return bound(instance);
    }
    let until = |limit: Duration| Clock::until(Instant::now() + limit, &Stop::default());
    let clock = time_limit.map_or(Clock::ENDLESS, until);
    let is_searched = Objective::standard(instance).any(|objective| complete::is_meant(instance, objective));
    let share = if is_searched { 0.5 } else { 1.0 };
    let others = of_data(instance).count();
    let first = if others == 0 { share } else { share * FIRST_OF_BOUNDS };
    let mut bounds = makespan_bounds::thorough(instance, &clock.part(first)).map_err(PlanError::Unproved)?;
    for (at, objective) in of_data(instance).enumerate() {
        let part = clock.part(share / (others - at) as f64);
        bounds.push(makespan_bounds::best_by(instance, objective, &part).map_err(PlanError::Unproved)?);
    }
    let effort = if time_limit.is_some() { Effort::Timed(&clock) } else { Effort::Counted };
    complete::improve_bounds(instance, &mut bounds, effort);
    Ok(bounds)
}

/// Returns the sum of the least costs of all tasks, with a certificate. No schedule costs less, even if it ends late.
pub fn cheapest(instance: &Instance) -> Bound {
    makespan_bounds::cost::cheapest(instance)
}

#[cfg(test)]
mod tests {
    use makespan_core::{Job, JobId, Link, Node, Placement, Platform, ProcSet, Profile, TaskId, Time};
    use makespan_verify::Proof;
    use makespan_verify::proof::Alone;

    use super::*;

    #[test]
    fn rates_are_planned_proved_and_no_schedule() {
        let node = |name: &str, processors, parent: Option<usize>| {
            let link = parent.map(|_| Link { bandwidth: 1.5, latency: Time::ZERO });
            Node { parent, link, ..Node::new(name, processors) }
        };
        let nodes = vec![node("root", 0, None), node("a", 1, Some(0)), node("b", 1, Some(0))];
        let job = Job::new("app", Profile::rigid(1, Time::from_seconds(1)).unwrap());
        let jobs = vec![job.with_count(100.try_into().unwrap()).with_data(1)];
        let instance = Instance::new(Platform::new(nodes).unwrap(), jobs, vec![]).unwrap();
        let planned = plan(&instance).unwrap();
        assert!(matches!(&planned.plan, Plan::Periodic(state) if state.throughput.to_string() == "3/2"));
        assert_eq!((planned.schedule(), planned.bounds.len()), (None, 1));
        assert_eq!(planned.bounds[0].verify(&instance), Ok(()));
        assert!(planned.ratio(&instance, Objective::Throughput).unwrap() < 1.0 + 1e-9);
        assert_eq!(planned.ratio(&instance, Objective::Makespan), None);
        assert_eq!(bound(&instance).unwrap()[0].objective, Objective::Throughput);
        let refused = planned.into_schedule().unwrap_err().to_string();
        assert!(refused.contains("no start times or processors; choose another algorithm"), "{refused}");
    }

    #[test]
    fn the_ratio_is_one_for_equal_values_only() {
        let end = Time::from_ticks((1 << 60) + 1);
        let jobs = vec![Job::new("a", Profile::rigid(1, end).unwrap())];
        let instance = Instance::new(Platform::flat(1).unwrap(), jobs, vec![]).unwrap();
        let placement = Placement { task: TaskId(0), start: Time::ZERO, end, processors: ProcSet::first(1) };
        let schedule = Schedule::new(vec![placement]);
        let of = |value: i128| {
            let proof = Proof::Alone(Alone { job: JobId(0) });
            let bound = Bound { objective: Objective::Makespan, value: value.into(), makespan_at_most: None, proof };
            bound.ratio_of(&instance, &schedule)
        };
        assert_eq!((of((1 << 60) + 1), of(0)), (Some(1.0), None));
        assert!(of(1 << 60).unwrap() > 1.0, "the ratio is above 1 although both values have the same float");
    }
}
