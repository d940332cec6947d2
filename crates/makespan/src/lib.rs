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

mod moment;
mod network;
mod simulation;
mod steady_state;

pub use steady_state::{Part, SteadyState, Upgrade, steady_state};

pub use makespan_algos::{Entry, SpecError, catalogue, policy, scheduler};
pub use makespan_core::{
    Actual, Apart, Bound, CertificateError, Context, Decision, Event, Expansion, Front, FrontPoint, Guarantee,
    Instance, InstanceError, Job, JobId, Measures, Metrics, Objective, Placement, Plan, Platform, Policy, ProcSet,
    Profile, Proof, Schedule, ScheduleError, Scheduler, SpeedupLaw, Stop, Strategy, Task, Time, Trace, Unavailable,
    Unsupported, Variant, View, Violation, Weight, WeightedTime, validate,
};

pub use makespan_sim::network::{Change, Changed, NetworkOptions, NetworkRun, Until};
pub use makespan_sim::{Deviation, FailureModel, Observer, Silent, Simulation, SimulationError, SimulationOptions};
pub use moment::{Moment, expected_at};
pub use network::{TreeRun, TreeRunError, TreeScene};
pub use simulation::{Scene, SimulateError, Simulated, simulate, simulate_policy};

use thiserror::Error;

/// A schedule with the proof of how good it is.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The full spec of the algorithm.
    pub algorithm: String,
    /// What runs where and when; it has been validated.
    pub schedule: Schedule,
    /// One bound an objective: the standard ones and what the algorithm minimised.
    pub bounds: Vec<Bound>,
    /// The other schedules that the algorithm offers, each validated; `schedule` is the chosen one.
    pub front: Option<Front>,
    /// The variants of `schedule`, each validated, where the algorithm gives a strategy.
    pub strategy: Option<Strategy>,
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
    /// Value over bound, at least 1; `None` where the bound is zero.
    pub fn ratio(&self, instance: &Instance, objective: Objective) -> Option<f64> {
        ratio(instance, &self.schedule, self.bounds.iter().find(|bound| bound.objective == objective)?)
    }
}

/// The value of a schedule over a bound, at least 1, and 1 exactly where both are equal; `None` where the bound is zero
/// or does not speak of the schedule.
pub fn ratio(instance: &Instance, schedule: &Schedule, bound: &Bound) -> Option<f64> {
    if bound.value <= 0 || !bound.speaks_of(schedule) {
        return None;
    }
    let value = bound.objective.value(instance, schedule);
    let ratio = value as f64 / bound.value as f64;
    // Large values that differ may have one float, and would pass for proved optimal.
    Some(if value > bound.value { ratio.max(1.0_f64.next_up()) } else { ratio })
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
    let (algorithm, plan) = carry_out(instance, spec, &mut context)?;
    let front = if let Plan::Front(front) = &plan { Some(front.clone()) } else { None };
    let strategy = if let Plan::Strategy(strategy) = &plan { Some(strategy.clone()) } else { None };
    let schedule = plan.into_schedule();
    let bounds = bounds_with(instance, &schedule, &context.bounds)?;
    Ok(Planned { algorithm, schedule, bounds, front, strategy, remarks: context.remarks })
}

/// Plans without proving a bound: the full spec, the validated schedule, and remarks.
///
/// # Errors
/// As [`plan`].
pub fn schedule(instance: &Instance, spec: &str, seed: u64) -> Result<(String, Schedule, Vec<String>), PlanError> {
    let mut context = Context::with_seed(seed);
    let (algorithm, schedule) = schedule_in(instance, spec, &mut context)?;
    Ok((algorithm, schedule, context.remarks))
}

/// The same with a seed from the context, in which remarks and the bounds that the algorithm proved are left.
///
/// # Errors
/// As [`plan`].
pub fn schedule_in(instance: &Instance, spec: &str, context: &mut Context) -> Result<(String, Schedule), PlanError> {
    let (algorithm, plan) = carry_out(instance, spec, context)?;
    Ok((algorithm, plan.into_schedule()))
}

/// Plans and validates every schedule of the plan.
fn carry_out(instance: &Instance, spec: &str, context: &mut Context) -> Result<(String, Plan), PlanError> {
    let scheduler = scheduler(spec)?;
    let plan = scheduler.schedule(instance, context)?;
    let algorithm = scheduler.name();
    for schedule in plan.schedules() {
        validate(instance, schedule).map_err(|mut violations| PlanError::Invalid {
            algorithm: algorithm.clone(),
            violation: violations.swap_remove(0),
        })?;
    }
    Ok((algorithm, plan))
}

/// For each objective the best of the known bounds on it; the standard ones are proved where none is known. What costs less
/// ends later, so the cost is bounded among the schedules that end by the same instant, if this schedule does.
fn bounds_with(instance: &Instance, schedule: &Schedule, known: &[Bound]) -> Result<Vec<Bound>, PlanError> {
    let mut bounds = Vec::with_capacity(Objective::ALL.len());
    for objective in Objective::ALL {
        let any = |bound: &Bound| bound.makespan_at_most.is_none();
        let speaks = |bound: &&Bound| {
            bound.objective == objective && (any(bound) || objective == Objective::Cost && bound.speaks_of(schedule))
        };
        match known.iter().filter(speaks).max_by_key(|bound| bound.value) {
            Some(bound) => bounds.push(bound.clone()),
            None if Objective::STANDARD.contains(&objective) => {
                bounds.push(makespan_bounds::best(instance, objective).map_err(PlanError::Unproved)?);
            }
            None => {}
        }
    }
    Ok(bounds)
}

/// The standard bounds, one an objective, each with its certificate.
///
/// # Errors
/// [`PlanError::Unproved`] when the platform is of a kind for which nothing is proved.
pub fn bound(instance: &Instance) -> Result<Vec<Bound>, PlanError> {
    makespan_bounds::standard(instance).map_err(PlanError::Unproved)
}

/// What every schedule costs at least, whenever it ends.
pub fn cheapest(instance: &Instance) -> Bound {
    makespan_bounds::cost::cheapest(instance)
}

#[cfg(test)]
mod tests {
    use makespan_core::proof::Alone;
    use makespan_core::{Job, JobId, Placement, Platform, ProcSet, Profile, Proof, Time};

    use super::*;

    #[test]
    fn the_ratio_is_one_for_equal_values_only() {
        let end = Time::from_ticks((1 << 60) + 1);
        let jobs = vec![Job::new("a", Profile::rigid(1, end).unwrap())];
        let instance = Instance::new(Platform::flat(1).unwrap(), jobs, vec![]).unwrap();
        let placement = Placement { job: JobId(0), task: 0, start: Time::ZERO, end, processors: ProcSet::first(1) };
        let schedule = Schedule::new(vec![placement]);
        let of = |value: i128| {
            let proof = Proof::Alone(Alone { job: JobId(0) });
            let bound = Bound { objective: Objective::Makespan, value, makespan_at_most: None, proof };
            ratio(&instance, &schedule, &bound)
        };
        assert_eq!((of((1 << 60) + 1), of(0)), (Some(1.0), None));
        assert!(of(1 << 60).unwrap() > 1.0, "one float, two values");
    }
}
