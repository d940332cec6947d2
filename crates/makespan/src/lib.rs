//! Makespan as a library: plan, prove, verify.
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

pub use makespan_algos::{Entry, SpecError, catalogue, policy, scheduler};
pub use makespan_core::{
    Apart, Bound, Certificate, CertificateError, Context, Decision, Event, Expansion, Guarantee, Instance,
    InstanceError, Job, JobId, Metrics, Objective, Placement, Plan, Platform, Policy, ProcSet, Profile, Schedule,
    ScheduleError, Scheduler, SpeedupLaw, Task, Time, Trace, Unavailable, Unsupported, View, Violation, Weight,
    WeightedTime, validate,
};

use thiserror::Error;

/// A schedule with the proof of how good it is.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The full spec of the algorithm.
    pub algorithm: String,
    /// What runs where and when; it has been validated.
    pub schedule: Schedule,
    /// One bound an objective.
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

/// The value of a schedule over a bound, at least 1; `None` where the bound is zero.
pub fn ratio(instance: &Instance, schedule: &Schedule, bound: &Bound) -> Option<f64> {
    (bound.value > 0).then(|| bound.objective.value(instance, schedule) as f64 / bound.value as f64)
}

/// Plans by the algorithm that `spec` names and proves the standard bounds.
///
/// # Errors
/// [`PlanError`] when the spec is unknown or the algorithm does not handle the instance.
pub fn plan(instance: &Instance, spec: &str, seed: u64) -> Result<Planned, PlanError> {
    let (algorithm, schedule, remarks) = schedule(instance, spec, seed)?;
    Ok(Planned { algorithm, schedule, bounds: bound(instance)?, remarks })
}

/// Plans without proving a bound: the full spec, the validated schedule, and remarks.
///
/// # Errors
/// As [`plan`].
pub fn schedule(instance: &Instance, spec: &str, seed: u64) -> Result<(String, Schedule, Vec<String>), PlanError> {
    let scheduler = scheduler(spec)?;
    let mut context = Context::with_seed(seed);
    let schedule = scheduler.schedule(instance, &mut context)?.into_schedule();
    let algorithm = scheduler.name();
    validate(instance, &schedule).map_err(|mut violations| PlanError::Invalid {
        algorithm: algorithm.clone(),
        violation: violations.swap_remove(0),
    })?;
    Ok((algorithm, schedule, context.remarks))
}

/// The standard bounds, one an objective, each with its certificate.
///
/// # Errors
/// [`PlanError::Unproved`] when the platform is of a kind for which nothing is proved.
pub fn bound(instance: &Instance) -> Result<Vec<Bound>, PlanError> {
    makespan_bounds::standard(instance).map_err(PlanError::Unproved)
}
