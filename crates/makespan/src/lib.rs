//! Makespan as a library: plan, prove, verify, simulate.
//!
//! ```
//! use makespan::{Job, Instance, Objective, Platform, Profile, Time};
//!
//! let times = [10, 6, 4].map(Time::from_seconds).to_vec();
//! let jobs = ["a", "b", "c"].map(|name| Job::new(name, Profile::table(times.clone()).unwrap())).to_vec();
//! let instance = Instance::new(Platform::flat(4)?, jobs, vec![])?;
//! let planned = makespan::plan(&instance, "demt", 1)?;
//! for bound in &planned.bounds {
//!     bound.verify(&instance)?;
//! }
//! assert!(planned.ratio(&instance, Objective::Makespan).unwrap() < 2.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod choice;
mod moment;
mod network;
mod simulation;

pub use makespan_algos::{Entry, SpecError, catalogue, policy, scheduler};
pub use makespan_bounds::tree::{Part, Upgrade, upgrades};
pub use makespan_core::tree::SteadyState;
pub use makespan_core::{
    Actual, Apart, Bound, CertificateError, Context, Decision, Event, Expansion, Front, FrontPoint, Guarantee,
    Instance, InstanceError, Job, JobId, Measures, Metrics, Objective, Placement, Plan, Platform, Policy, ProcSet,
    Profile, Proof, Schedule, ScheduleError, Scheduler, SpeedupLaw, Stop, Strategy, Task, Time, Trace, Unavailable,
    Unsupported, Value, Variant, View, Violation, Weight, WeightedTime, validate,
};

pub use choice::{STEADY_STATE, compared, default_algorithm};
pub use makespan_sim::network::{Change, Changed, NetworkOptions, NetworkRun, Until};
pub use makespan_sim::{Deviation, FailureModel, Observer, Silent, Simulation, SimulationError, SimulationOptions};
pub use moment::{Moment, expected_at};
pub use network::{TreeRun, TreeRunError, TreeScene};
pub use simulation::{Scene, SimulateError, Simulated, simulate, simulate_policy};

use makespan_core::tree::{RatesError, TreeProblem};
use thiserror::Error;

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

/// Plans by the algorithm that `spec` names and proves the standard bounds, and one on what the algorithm minimises.
///
/// # Errors
/// [`PlanError`] when the spec is unknown or the algorithm does not handle the instance.
pub fn plan(instance: &Instance, spec: &str, seed: u64) -> Result<Planned, PlanError> {
    plan_until(instance, spec, seed, &Stop::default())
}

/// The same; an algorithm that searches returns the best that it has when `stop` is requested.
///
/// # Errors
/// As [`plan`].
pub fn plan_until(instance: &Instance, spec: &str, seed: u64, stop: &Stop) -> Result<Planned, PlanError> {
    plan_in(instance, spec, Context { stop: stop.clone(), ..Context::with_seed(seed) })
}

/// The same in a context, with a seed and perhaps time that the caller has spent within a time limit.
///
/// # Errors
/// As [`plan`].
pub fn plan_in(instance: &Instance, spec: &str, mut context: Context) -> Result<Planned, PlanError> {
    let (algorithm, plan) = unproved(instance, spec, &mut context)?;
    let bounds = match plan.schedule() {
        Some(schedule) => bounds_with(instance, schedule, &context.bounds)?,
        None => vec![bound_on_throughput(instance, &context.bounds)?],
    };
    Ok(Planned { algorithm, plan, bounds, remarks: context.remarks })
}

/// Plans without proving a bound: the full spec, the validated schedule, and remarks.
///
/// # Errors
/// As [`plan`]; [`PlanError::NoSchedule`] where the plan has no placements.
pub fn schedule(instance: &Instance, spec: &str, seed: u64) -> Result<(String, Schedule, Vec<String>), PlanError> {
    let mut context = Context::with_seed(seed);
    let (algorithm, plan) = unproved(instance, spec, &mut context)?;
    match plan.into_schedule() {
        Some(schedule) => Ok((algorithm, schedule, context.remarks)),
        None => Err(PlanError::NoSchedule { algorithm }),
    }
}

/// A plan of any shape without a bound, each of its schedules validated. In the context, remarks and the bounds that the algorithm
/// proved are left.
///
/// # Errors
/// As [`plan`].
pub fn unproved(instance: &Instance, spec: &str, context: &mut Context) -> Result<(String, Plan), PlanError> {
    let scheduler = scheduler(spec)?;
    let plan = scheduler.schedule(instance, context)?;
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
    Ok((algorithm, plan))
}

/// For each objective the best of the known bounds on it; the standard ones are proved where none is known. What costs less
/// ends later, so the cost is bounded among the schedules that end by the same instant, if this schedule does.
fn bounds_with(instance: &Instance, schedule: &Schedule, known: &[Bound]) -> Result<Vec<Bound>, PlanError> {
    let mut bounds = Vec::with_capacity(Objective::OF_SCHEDULES.len());
    for objective in Objective::OF_SCHEDULES {
        let any = |bound: &Bound| bound.makespan_at_most.is_none();
        let speaks = |bound: &&Bound| {
            bound.objective == objective && (any(bound) || objective == Objective::Cost && bound.speaks_of(schedule))
        };
        match known.iter().filter(speaks).max_by_key(|bound| bound.value.integer()) {
            Some(bound) => bounds.push(bound.clone()),
            None if Objective::STANDARD.contains(&objective) => {
                bounds.push(makespan_bounds::best(instance, objective).map_err(PlanError::Unproved)?);
            }
            None => {}
        }
    }
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

/// What every schedule costs at least, whenever it ends.
pub fn cheapest(instance: &Instance) -> Bound {
    makespan_bounds::cost::cheapest(instance)
}

#[cfg(test)]
mod tests {
    use makespan_core::proof::Alone;
    use makespan_core::{Job, JobId, Link, Node, Placement, Platform, ProcSet, Profile, Proof, Time};

    use super::*;

    #[test]
    fn rates_are_planned_proved_and_no_schedule() {
        let node = |name: &str, processors, parent: Option<usize>| {
            let link = parent.map(|_| Link { bandwidth: 1.5, latency: Time::ZERO });
            Node { name: name.into(), processors, speed: 1.0, parent, link }
        };
        let nodes = vec![node("root", 0, None), node("a", 1, Some(0)), node("b", 1, Some(0))];
        let job = Job::new("app", Profile::rigid(1, Time::from_seconds(1)).unwrap());
        let jobs = vec![job.with_count(100.try_into().unwrap()).with_data(1)];
        let instance = Instance::new(Platform::new(nodes).unwrap(), jobs, vec![]).unwrap();
        let planned = plan(&instance, default_algorithm(&instance), 1).unwrap();
        assert!(matches!(&planned.plan, Plan::Periodic(state) if state.throughput.to_string() == "3/2"));
        assert_eq!((planned.schedule(), planned.bounds.len()), (None, 1));
        assert_eq!(planned.bounds[0].verify(&instance), Ok(()));
        assert!(planned.ratio(&instance, Objective::Throughput).unwrap() < 1.0 + 1e-9);
        assert_eq!(planned.ratio(&instance, Objective::Makespan), None);
        assert_eq!(bound(&instance).unwrap()[0].objective, Objective::Throughput);
        let refused = schedule(&instance, STEADY_STATE, 1).unwrap_err().to_string();
        assert!(refused.contains("no placements; choose another algorithm"), "{refused}");
    }

    #[test]
    fn the_ratio_is_one_for_equal_values_only() {
        let end = Time::from_ticks((1 << 60) + 1);
        let jobs = vec![Job::new("a", Profile::rigid(1, end).unwrap())];
        let instance = Instance::new(Platform::flat(1).unwrap(), jobs, vec![]).unwrap();
        let placement = Placement { job: JobId(0), task: 0, start: Time::ZERO, end, processors: ProcSet::first(1) };
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
