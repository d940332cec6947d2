//! Plans and the proofs of how good they are.

use std::time::{Duration, Instant};

use makespan_bounds::Clock;
use makespan_core::tree::{RatesError, TreeProblem};
use makespan_core::{
    Bound, Context, Instance, Objective, Plan, Schedule, ScheduleError, Scheduler, Stop, Unsupported, Violation,
    validate,
};
use thiserror::Error;

use crate::SpecError;
use crate::choice::{default_algorithm, scheduler};

/// A plan with the proof of how good it is.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The full spec of the algorithm.
    pub algorithm: String,
    /// What runs where and when, or at which rates; each of its schedules has been validated.
    pub plan: Plan,
    /// One bound an objective: of schedules the standard ones and what the algorithm minimised, of a steady state its throughput.
    pub bounds: Vec<Bound>,
    /// What the user should know.
    pub remarks: Vec<String>,
}

/// Why there is no plan.
#[derive(Debug, Error)]
pub enum PlanError {
    /// The spec names no algorithm.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The algorithm does not handle this instance.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// The algorithm plans rates, where placements were asked for.
    #[error("{algorithm} plans the rates of a steady state, which has no placements; choose another algorithm")]
    NoSchedule {
        /// The full spec.
        algorithm: String,
    },
    /// The algorithm made rates that are no steady state: a defect of Makespan.
    #[error("{algorithm} made rates that cannot be kept up, which is a defect of Makespan; please report it: {error}")]
    Unsteady {
        /// The full spec.
        algorithm: String,
        /// The first node that would do more than it can.
        error: RatesError,
    },
    /// No bound is proved for this kind of platform.
    #[error("cannot prove a bound: {0}")]
    Unproved(Unsupported),
    /// The algorithm made a schedule that breaks a rule: a defect of Makespan.
    #[error("{algorithm} made an invalid schedule, which is a defect of Makespan; please report it: {violation}")]
    Invalid {
        /// The full spec.
        algorithm: String,
        /// The first rule broken.
        violation: Violation,
    },
}

impl Planned {
    /// How many times worse than the bound the value is, at least 1; `None` where there is no bound, or it is zero.
    pub fn ratio(&self, instance: &Instance, objective: Objective) -> Option<f64> {
        plan_ratio(instance, &self.plan, self.bounds.iter().find(|bound| bound.objective == objective)?)
    }

    /// The schedule that was chosen; `None` of a steady state.
    pub fn schedule(&self) -> Option<&Schedule> {
        self.plan.schedule()
    }

    /// The schedule that was chosen.
    ///
    /// # Errors
    /// [`PlanError::NoSchedule`] of a steady state.
    pub fn into_schedule(self) -> Result<Schedule, PlanError> {
        self.plan.into_schedule().ok_or(PlanError::NoSchedule { algorithm: self.algorithm })
    }
}

/// The value of a schedule over a bound, at least 1, and 1 exactly where both are equal; `None` where the bound is zero
/// or does not speak of the schedule.
pub fn ratio(instance: &Instance, schedule: &Schedule, bound: &Bound) -> Option<f64> {
    bound.ratio(&bound.objective.value(instance, schedule).into()).filter(|_| bound.speaks_of(schedule))
}

/// The same of any plan: how many times worse it is than the bound.
pub fn plan_ratio(instance: &Instance, plan: &Plan, bound: &Bound) -> Option<f64> {
    let speaks = plan.schedule().is_none_or(|schedule| bound.speaks_of(schedule));
    bound.ratio(&plan.value(bound.objective, instance)?).filter(|_| speaks)
}

/// Plans by the algorithm that is meant for such an instance ([`crate::default_algorithm`]), and proves how far the plan is
/// from the best possible at most. [`Planner`] has more to choose.
///
/// # Errors
/// [`PlanError`] when the algorithm does not handle the instance.
pub fn plan(instance: &Instance) -> Result<Planned, PlanError> {
    Planner::new().plan(instance)
}

/// How an instance is planned: by which algorithm, with which seed, until when.
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
    /// The default algorithm with the seed 0, which may search as long as it does.
    pub fn new() -> Self {
        Self::default()
    }

    /// By the algorithm that this spec names, such as `demt[shuffles=5]`.
    #[must_use]
    pub fn algorithm(self, spec: impl Into<String>) -> Self {
        Self { algorithm: Some(spec.into()), ..self }
    }

    /// With random numbers from this seed.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { context: Context { seed, ..self.context }, ..self }
    }

    /// Until it is requested here to stop: an algorithm that searches returns the best that it has.
    #[must_use]
    pub fn stop(self, stop: &Stop) -> Self {
        Self { context: Context { stop: stop.clone(), ..self.context }, ..self }
    }

    /// With so much of a time limit already spent.
    #[must_use]
    pub fn spent(self, spent: Duration) -> Self {
        Self { context: Context { spent, ..self.context }, ..self }
    }

    /// Plans, and proves the standard bounds and one on what the algorithm minimised.
    ///
    /// # Errors
    /// [`PlanError`] when the spec is unknown or the algorithm does not handle the instance.
    pub fn plan(mut self, instance: &Instance) -> Result<Planned, PlanError> {
        self.context.prove = true;
        let (begin, spent, stop) = (Instant::now(), self.context.spent, self.context.stop.clone());
        let time = self.scheduler(instance)?.time_limit();
        let planned = self.plan_unproved(instance)?;
        // What the scheduler left of its time is for the bounds that it did not prove.
        let end = |time: Duration| begin + time.saturating_sub(spent).max(time / 4);
        let clock = time.map_or(Clock::ENDLESS, |time| Clock::until(end(time), &stop));
        let bounds = match planned.plan.schedule() {
            Some(schedule) => bounds_with(instance, schedule, &planned.bounds, &clock)?,
            None => vec![bound_on_throughput(instance, &planned.bounds)?],
        };
        Ok(Planned { bounds, ..planned })
    }

    /// The algorithm that is asked for, or the one that is meant for such an instance.
    fn scheduler(&self, instance: &Instance) -> Result<Box<dyn Scheduler>, SpecError> {
        scheduler(self.algorithm.as_deref().unwrap_or_else(|| default_algorithm(instance)))
    }

    /// Plans without proving anything: the bounds are those that the algorithm proved on its way. What is returned has been
    /// validated.
    ///
    /// # Errors
    /// As [`Planner::plan`].
    pub fn plan_unproved(self, instance: &Instance) -> Result<Planned, PlanError> {
        let scheduler = self.scheduler(instance)?;
        self.plan_unproved_by(scheduler.as_ref(), instance)
    }

    /// The same by a scheduler that need not be in the catalogue. What it returns is validated all the same.
    ///
    /// # Errors
    /// As [`Planner::plan`]; [`PlanError::Invalid`] names the rule that its schedule breaks.
    pub fn plan_unproved_by(self, scheduler: &dyn Scheduler, instance: &Instance) -> Result<Planned, PlanError> {
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
        Ok(Planned { algorithm, plan, bounds: context.bounds, remarks: context.remarks })
    }
}

/// For each objective the best of the known bounds on it; the standard ones are proved where none is known, until the clock is over. What costs less
/// ends later, so the cost is bounded among the schedules that end by the same instant, if this schedule does.
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

/// The least of the known bounds on the throughput; one that is searched for where none is known.
fn bound_on_throughput(instance: &Instance, known: &[Bound]) -> Result<Bound, PlanError> {
    let known = known.iter().filter(|bound| bound.objective == Objective::Throughput);
    match known.min_by(|one, other| one.value.cmp(&other.value)) {
        Some(bound) => Ok(bound.clone()),
        None => makespan_bounds::best(instance, Objective::Throughput).map_err(PlanError::Unproved),
    }
}

/// The bounds on what these plans are measured by: those on the throughput where some plan is of rates, the standard ones where some
/// has placements, or none is of rates.
///
/// # Errors
/// [`PlanError::Unproved`] when the platform is of a kind for which nothing is proved.
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

/// The standard bounds, one an objective, each with its certificate; of bags on a tree that on the throughput, from above.
///
/// # Errors
/// [`PlanError::Unproved`] when the platform is of a kind for which nothing is proved.
pub fn bound(instance: &Instance) -> Result<Vec<Bound>, PlanError> {
    if TreeProblem::is_meant(instance) {
        return bound_on_throughput(instance, &[]).map(|bound| vec![bound]);
    }
    makespan_bounds::standard(instance).map_err(PlanError::Unproved)
}

/// Proves the bounds of [`bound`]. If a longer search may improve these bounds, the function then searches for about
/// ten times the time of the first search, or until the time limit expires.
///
/// # Errors
/// The errors of [`bound`].
pub fn thorough_bound(instance: &Instance, time_limit: Option<Duration>) -> Result<Vec<Bound>, PlanError> {
    if TreeProblem::is_meant(instance) {
        return bound(instance);
    }
    let until = |limit: Duration| Clock::until(Instant::now() + limit, &Stop::default());
    makespan_bounds::thorough(instance, &time_limit.map_or(Clock::ENDLESS, until)).map_err(PlanError::Unproved)
}

/// What every schedule costs at least, whenever it ends.
pub fn cheapest(instance: &Instance) -> Bound {
    makespan_bounds::cost::cheapest(instance)
}

#[cfg(test)]
mod tests {
    use makespan_core::proof::Alone;
    use makespan_core::{Job, JobId, Link, Node, Placement, Platform, ProcSet, Profile, Proof, TaskId, Time};

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
        assert!(refused.contains("no placements; choose another algorithm"), "{refused}");
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
            ratio(&instance, &schedule, &bound)
        };
        assert_eq!((of((1 << 60) + 1), of(0)), (Some(1.0), None));
        assert!(of(1 << 60).unwrap() > 1.0, "one float, two values");
    }
}
