//! Simulation of a policy, and its results.

use std::sync::LazyLock;

use makespan_algos::policy::{PolicyError, policy_for};
use makespan_bounds::release_area_bound;
use makespan_core::{
    Actual, CompoundMeasures, Instance, Job, LogEntry, Measures, Outcome, Policy, Profile, Task, TaskFlowMeasures,
    TaskId, Time, Work,
};
use makespan_sim::{Observer, Simulation, SimulationError, SimulationOptions};
use thiserror::Error;

/// The results of a simulation under a policy.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// Spec of the policy.
    pub policy: String,
    /// The trace and the numbers of events.
    pub simulation: Simulation,
    /// Waiting times, slowdowns, utilisation and other measures.
    pub measures: Measures,
    /// Phases, a bound on the makespan and other measures, if the instance is a flow of tasks.
    pub task_flow: Option<TaskFlowMeasures>,
    /// The number of jobs in time, the cost, the load and other measures, if the instance has compound jobs or
    /// deadlines.
    pub compound: Option<CompoundMeasures>,
    /// Log entries of the policy about its plans, in order of time. Most policies log nothing.
    pub log: Vec<LogEntry>,
}

/// The input of a simulation. To compare policies, simulate each of them with the same input.
#[derive(Clone, Copy, Debug)]
pub struct SimulationInput<'a> {
    /// The instance that the policy receives, with estimated times.
    pub instance: &'a Instance,
    /// The real run times.
    pub actual: &'a Actual,
    /// Walltimes, failures, and the request to stop.
    pub options: &'a SimulationOptions,
    /// Seed for policies that draw random numbers.
    pub seed: u64,
}

static AS_ESTIMATED: Actual = Actual::AsEstimated;
static PLAIN: LazyLock<SimulationOptions> = LazyLock::new(SimulationOptions::default);

impl<'a> SimulationInput<'a> {
    /// Creates an input with seed 0, with real run times equal to the estimated times, and without failures.
    pub fn new(instance: &'a Instance) -> Self {
        Self { instance, actual: &AS_ESTIMATED, options: &PLAIN, seed: 0 }
    }
}

/// The reason why a simulation fails.
#[derive(Debug, Error)]
pub enum SimulateError {
    /// The spec is not a policy, or the policy does not support this instance.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The simulation ended with an error.
    #[error("{policy}: {source}")]
    Simulation {
        /// Spec of the policy.
        policy: String,
        /// The error that ended the simulation.
        source: SimulationError,
    },
}

/// Simulates an input in virtual time under the policy with this spec, such as `easy`, `conservative[order=sjf]` or
/// `batch[scheduler=demt]`.
///
/// ```
/// use makespan::{Instance, Job, Platform, Profile, SimulationInput, Time, simulate};
///
/// let job = |name, processors, hours: i64| {
///     Job::new(name, Profile::rigid(processors, Time::from_seconds(3600 * hours)).unwrap())
/// };
/// let jobs = vec![job("running", 2, 4), job("wide", 4, 1), job("narrow", 1, 3)];
/// let instance = Instance::new(Platform::flat(4)?, jobs, vec![])?;
/// let easy = simulate(&SimulationInput::new(&instance), "easy", &mut makespan::Silent)?;
/// assert_eq!(easy.measures.backfilled, 1, "the narrow job runs next to the first job and delays no job");
/// assert_eq!(easy.measures.makespan, 3600.0 * 5.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`SimulateError`] if the spec is not a policy for this instance, or if the simulation fails.
pub fn simulate(
    scene: &SimulationInput<'_>,
    spec: &str,
    observer: &mut dyn Observer,
) -> Result<Simulated, SimulateError> {
    let mut policy = policy_for(spec, scene.instance, scene.seed)?;
    simulate_policy(scene, spec, policy.as_mut(), observer)
}

/// Like [`simulate`], but under a policy that need not be in the catalogue. `name` is the name of the policy in the
/// results.
///
/// # Errors
/// [`SimulateError::Simulation`] if the simulation fails.
pub fn simulate_policy(
    scene: &SimulationInput<'_>,
    name: &str,
    policy: &mut dyn Policy,
    observer: &mut dyn Observer,
) -> Result<Simulated, SimulateError> {
    let SimulationInput { instance, actual, options, .. } = *scene;
    let simulation = makespan_sim::simulate(instance, actual, policy, options, observer)
        .map_err(|source| SimulateError::Simulation { policy: name.to_owned(), source })?;
    let measures = Measures::with_failures(instance, &simulation.trace, &simulation.down);
    let task_flow = TaskFlowMeasures::suits(instance).then(|| task_flow(scene, &simulation));
    let log = policy.log();
    let compound = CompoundMeasures::of(instance, &simulation.trace, &log);
    Ok(Simulated { policy: name.to_owned(), simulation, measures, task_flow, compound, log })
}

/// Computes the measures of a flow of tasks. Their bound on the makespan is a bound for the tasks that succeeded, with
/// their real times.
fn task_flow(scene: &SimulationInput<'_>, simulation: &Simulation) -> TaskFlowMeasures {
    let SimulationInput { instance, actual, .. } = *scene;
    let runs = &simulation.trace.runs;
    let done = runs.iter().filter(|run| run.outcome == Outcome::Succeeded).map(|run| run.task);
    let real = |task: TaskId| -> Job {
        let job = instance.alone(task);
        let profile = match actual {
            Actual::AsEstimated => return job,
            Actual::Profiles(profiles) => profiles[task.index()].clone(),
            Actual::Factors(factors) => at_least(instance.profile(task), factors[task.index()]),
        };
        Job { work: Work::Task(Task::new(profile)), walltime: None, ..job }
    };
    let bound = release_area_bound(&instance.with_jobs(done.map(real).collect()));
    TaskFlowMeasures::of(instance, &simulation.trace, bound)
}

/// Returns a sequential profile with the times of `profile`, multiplied by `millionths / 1_000_000` and rounded down.
/// So each real run takes at least the returned time. Therefore, a lower bound for the returned times is also a lower
/// bound for the real runs.
fn at_least(profile: &Profile, millionths: u64) -> Profile {
    let scaled = |time: Time| {
        let ticks = i128::from(time.ticks()) * i128::from(millionths) / 1_000_000;
        Time::from_ticks(i64::try_from(ticks).unwrap_or(i64::MAX).max(1))
    };
    let own = match profile.machine_times() {
        None => Profile::rigid(profile.min_processors(), scaled(profile.shortest())),
        Some(times) => {
            let on = |&time: &Time| if time == Profile::CANNOT_RUN { time } else { scaled(time) };
            Profile::on_machines(times.iter().map(on).collect::<Vec<Time>>())
        }
    };
    own.unwrap_or_else(|_| profile.clone())
}

#[cfg(test)]
mod tests {
    use makespan_core::{Decision, Edge, Event, Graph, LoggedDecision, NamedTask, Payload, ProcSet, StartPlace};
    use makespan_core::{Platform, View};
    use makespan_sim::Silent;

    use super::*;

    /// A policy that writes a log, for tests. The policy starts waiting tasks on the first free processors, and logs
    /// each start as a collision.
    struct Teller(Vec<LogEntry>);

    impl Policy for Teller {
        fn on(&mut self, _: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
            for (task, processor) in view.waiting.iter().zip(view.free.iter()) {
                decisions.push(Decision::Start { task, processors: ProcSet::range(processor, processor) });
                let spot = StartPlace { processor, start: view.now };
                let what = LoggedDecision::Collision { planned: spot, resolved: spot, penalty: 2 };
                self.0.push(LogEntry { time: view.now, task, what });
            }
        }

        fn log(&mut self) -> Vec<LogEntry> {
            std::mem::take(&mut self.0)
        }
    }

    #[test]
    fn figures_of_compound_jobs_have_what_the_policy_tells() {
        let task = |name| NamedTask::new(name, Profile::rigid(1, Time::from_seconds(3)).unwrap());
        let edge = Edge { from: 0, to: 1, payload: Payload::Fixed(Time::ZERO) };
        let job = Job::compound("pair", Graph::new(vec![task("a"), task("b")], vec![edge]).unwrap());
        let job = job.with_deadline(Time::from_seconds(5));
        let instance = Instance::new(Platform::flat(2).unwrap(), vec![job], vec![]).unwrap();
        let options = SimulationOptions::default();
        let scene = SimulationInput { instance: &instance, actual: &Actual::AsEstimated, options: &options, seed: 1 };
        let told = simulate_policy(&scene, "teller", &mut Teller(Vec::new()), &mut Silent).unwrap();
        assert_eq!(told.log.iter().map(|entry| entry.task).collect::<Vec<_>>(), [TaskId(0), TaskId(1)]);
        let flow = told.compound.unwrap().flow;
        assert_eq!((flow.in_time, flow.with_deadline, flow.collisions, flow.penalty), (0, 1, 2, 4));
        let silent = simulate(&scene, "fcfs", &mut Silent).unwrap();
        assert!(silent.log.is_empty() && silent.compound.is_some());
    }
}
