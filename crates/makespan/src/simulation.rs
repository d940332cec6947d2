//! Simulation: a policy named by its spec, and what came of it.

use makespan_algos::policy::{PolicyError, policy_for};
use makespan_core::{Actual, Instance, Job, Measures, Outcome, TaskFlowMeasures, release_area_bound};
use makespan_sim::{Observer, Simulation, SimulationError, SimulationOptions};
use thiserror::Error;

/// What a policy made of a log.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// The spec of the policy.
    pub policy: String,
    /// The trace and the counts.
    pub simulation: Simulation,
    /// Waits, slowdowns, utilisation and the rest.
    pub measures: Measures,
    /// Phases, bound and the like, where the instance is a flow of tasks.
    pub task_flow: Option<TaskFlowMeasures>,
}

/// What is simulated: the same for every policy that is compared.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// Machines and jobs, with the times that the policy is told.
    pub instance: &'a Instance,
    /// How long the jobs really run.
    pub actual: &'a Actual,
    /// Who submitted each job; empty where nobody knows.
    pub users: &'a [Option<u32>],
    /// Walltimes, failures, and the request to stop.
    pub options: &'a SimulationOptions,
    /// Of policies that draw random numbers.
    pub seed: u64,
}

/// Why there is no simulation.
#[derive(Debug, Error)]
pub enum SimulateError {
    /// The spec names no policy, or none that handles this instance.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The simulation did not come to its end.
    #[error("{policy}: {source}")]
    Simulation {
        /// The spec.
        policy: String,
        /// Why.
        source: SimulationError,
    },
}

/// Plays a scene in virtual time as the policy that `spec` names decides: `easy`, `conservative[order=sjf]`,
/// `batch[scheduler=demt]`.
///
/// ```
/// use makespan::{Actual, Instance, Job, Platform, Profile, Scene, SimulationOptions, Time, simulate};
///
/// let job = |name, processors, hours: i64| {
///     Job::new(name, Profile::rigid(processors, Time::from_seconds(3600 * hours)).unwrap())
/// };
/// let jobs = vec![job("running", 2, 4), job("wide", 4, 1), job("narrow", 1, 3)];
/// let instance = Instance::new(Platform::flat(4)?, jobs, vec![])?;
/// let options = SimulationOptions::default();
/// let scene = Scene { instance: &instance, actual: &Actual::AsEstimated, users: &[], options: &options, seed: 1 };
/// let easy = simulate(&scene, "easy", &mut makespan::Silent)?;
/// assert_eq!(easy.measures.backfilled, 1, "the narrow job runs beside the first and delays nobody");
/// assert_eq!(easy.measures.makespan, 3600.0 * 5.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`SimulateError`] when the spec names no policy for this instance, or the simulation fails.
pub fn simulate(scene: &Scene<'_>, spec: &str, observer: &mut dyn Observer) -> Result<Simulated, SimulateError> {
    let Scene { instance, actual, users, options, seed } = *scene;
    let mut policy = policy_for(spec, instance, seed)?;
    let simulation = makespan_sim::simulate(instance, actual, policy.as_mut(), options, observer)
        .map_err(|source| SimulateError::Simulation { policy: spec.to_owned(), source })?;
    let measures = Measures::of(instance, &simulation.trace, users);
    let task_flow = TaskFlowMeasures::suits(instance).then(|| task_flow(scene, &simulation));
    Ok(Simulated { policy: spec.to_owned(), simulation, measures, task_flow })
}

/// The bound is that of the tasks that were done, by their real times.
fn task_flow(scene: &Scene<'_>, simulation: &Simulation) -> TaskFlowMeasures {
    let Scene { instance, actual, .. } = *scene;
    let runs = &simulation.trace.runs;
    let done = runs.iter().filter(|run| run.outcome == Outcome::Succeeded).map(|run| run.job);
    let real = |id| -> Job {
        let mut job = instance.job(id).clone();
        if let Actual::Profiles(profiles) = actual {
            (job.task.profile, job.walltime) = (profiles[id.index()].clone(), None);
        }
        job
    };
    let bound = release_area_bound(&instance.with_jobs(done.map(real).collect()));
    TaskFlowMeasures::of(instance, &simulation.trace, bound)
}
