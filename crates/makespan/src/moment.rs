//! The state of a simulated cluster at an instant, reconstructed from a trace. Also computes when the policy expected,
//! at this instant, to start each waiting task.

use makespan_algos::policy::{ExpectedStart, expected_starts_from, policy_for};
use makespan_core::{
    Cluster, Decision, EndedTasks, Event, Failure, Instance, Outage, Outcome, Policy, ProcSet, Running, Stop, TaskSet,
    Time, Trace, Unavailable, View,
};
use makespan_sim::{Silent, SimulationError, SimulationOptions};

use crate::{SimulateError, Simulated, SimulationInput};

/// The state of the cluster at an instant, after the decisions of the policy at this instant.
#[derive(Clone, Debug)]
pub struct ClusterState {
    now: Time,
    /// The waiting tasks.
    pub waiting: TaskSet,
    running: Vec<Running>,
    free: ProcSet,
    down: Vec<Unavailable>,
}

impl ClusterState {
    /// Returns the state at `now`. A task waits from its release until the start of its last run, but not during its
    /// earlier runs, which failures interrupted. If a task has no run in the whole trace, it was cancelled, and is
    /// never treated as waiting.
    pub fn of(scene: &SimulationInput<'_>, trace: &Trace, now: Time) -> Self {
        let instance = scene.instance;
        let mut failures = scene.options.failures.clone();
        if let Some(model) = &scene.options.failure_model {
            // The simulation also drew failures from the model.
            failures.extend(model.draw(instance.platform(), instance.first_release(), now + Time::TICK));
        }
        Self::seen(instance, trace, &failures, now)
    }

    fn seen(instance: &Instance, trace: &Trace, failures: &[Failure], now: Time) -> Self {
        let mut waiting = TaskSet::new();
        let mut running = Vec::new();
        let started = trace.runs.iter().filter(|run| run.outcome != Outcome::NotStarted);
        for run in started {
            if run.start <= now && now < run.end {
                running.push(Running { task: run.task, start: run.start, processors: run.processors.clone() });
            } else if run.start > now && instance.release(run.task) <= now {
                waiting.insert(run.task);
            }
        }
        for run in &running {
            waiting.remove(run.task);
        }
        let held = running.iter().map(|run| &run.processors);
        let failed = failures.iter().filter(|failure| failure.down <= now && now < failure.up);
        let closed = instance.unavailable().iter().filter(|period| period.start <= now && now < period.end);
        let taken = held.chain(failed.map(|failure| &failure.processors));
        let taken =
            taken.chain(closed.map(|period| &period.processors)).flat_map(|set| set.intervals().iter().copied());
        let free = ProcSet::first(instance.processors()).difference(&ProcSet::from_intervals(taken.collect()));
        Self { now, waiting, running, free, down: down(instance, failures, now) }
    }

    /// Returns the view of this state that a policy receives.
    pub fn view<'a>(&'a self, instance: &'a Instance) -> View<'a> {
        let Self { now, waiting, running, free, down } = self;
        View { now: *now, instance, waiting, running, free, down, ended: EndedTasks::default() }
    }
}

/// Returns the processors that are down at an instant, each with the instant at which a policy expects the repair.
fn down(instance: &Instance, failures: &[Failure], now: Time) -> Vec<Unavailable> {
    let turns =
        (0..).zip(failures).flat_map(|(index, failure)| [(failure.up, false, index), (failure.down, true, index)]);
    // At each instant, repairs come before failures, as in the simulation.
    let mut turns: Vec<(Time, bool, usize)> = turns.filter(|turn| turn.0 <= now).collect();
    turns.sort_unstable();
    let mut cluster = Cluster::new(instance);
    for (at, goes_down, index) in turns {
        let (outage, failure) = (Outage(index as u32), &failures[index]);
        cluster.advance(at);
        if goes_down {
            cluster.fail(outage, &failure.processors, failure.expected_up);
        } else {
            cluster.repair(outage);
        }
    }
    cluster.advance(now);
    cluster.view().down.to_vec()
}

/// For each task that is waiting in `moment`, returns the start that the policy of the simulation expected at that
/// instant. The policy assumes that all tasks take their estimated times and that no further jobs are submitted. The
/// function repeats the simulation up to the instant, so that the policy has its complete state, including reservations
/// and batches.
///
/// # Errors
/// [`SimulateError`] if the simulation fails.
pub fn expected_at(
    scene: &SimulationInput<'_>,
    simulated: &Simulated,
    moment: &ClusterState,
) -> Result<Vec<ExpectedStart>, SimulateError> {
    let SimulationInput { instance, actual, options, seed, .. } = *scene;
    let stop = Stop::default();
    let inner = policy_for(&simulated.policy, instance, seed)?;
    let mut policy = UntilInstant { inner, until: moment.now, wake: None, restated: None, stop: stop.clone() };
    let options = SimulationOptions { stop, ..options.clone() };
    match makespan_sim::simulate(instance, actual, &mut policy, &options, &mut Silent) {
        Ok(_) | Err(SimulationError::Stopped { .. }) => {}
        Err(source) => return Err(SimulateError::Simulation { policy: simulated.policy.clone(), source }),
    }
    let view = moment.view(policy.restated.as_ref().unwrap_or(instance));
    Ok(expected_starts_from(policy.inner.as_mut(), &view, policy.wake))
}

/// A policy that passes all events up to an instant to an inner policy, and then stops the simulation.
struct UntilInstant {
    inner: Box<dyn Policy>,
    until: Time,
    /// The wake-up that the policy requested at its last call.
    wake: Option<Time>,
    /// The instance after the last change of estimates, if estimates changed.
    restated: Option<Instance>,
    stop: Stop,
}

impl Policy for UntilInstant {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        if view.now > self.until {
            self.stop.request();
            return;
        }
        if events.iter().any(|event| matches!(event, Event::Estimated(_))) {
            self.restated = Some(view.instance.clone());
        }
        let before = decisions.len();
        self.inner.on(events, view, decisions);
        let wakes = decisions[before..].iter().filter_map(|decision| match *decision {
            Decision::WakeAt(at) if at < Time::MAX => Some(at.max(view.now + Time::TICK)),
            _ => None,
        });
        self.wake = wakes.min();
    }
}

#[cfg(test)]
mod tests {
    use makespan_core::{Actual, Job, Platform, Profile};
    use proptest::prelude::*;

    use super::*;
    use crate::simulate;

    const SPECS: [&str; 12] = [
        "fcfs",
        "easy",
        "easy[order=sjf]",
        "easy[order=laf,passes=instant]",
        "conservative",
        "conservative[order=sjf]",
        "conservative[order=wfp3]",
        "slurm",
        "moldable-easy",
        "batch",
        "doubling",
        "replan",
    ];

    fn t(ticks: i64) -> Time {
        Time::from_ticks(ticks)
    }

    /// A policy that records, at each call, the processors that are down, and then calls an inner policy.
    struct DownRecorder {
        policy: Box<dyn Policy>,
        down: Vec<(Time, Vec<Unavailable>)>,
    }

    impl Policy for DownRecorder {
        fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
            self.down.push((view.now, view.down.to_vec()));
            self.policy.on(events, view, decisions);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn what_is_down_is_what_the_policy_saw(
            rows in prop::collection::vec((1_u32..9, 1_i64..90, 0_i64..200), 2..10),
            failures in prop::collection::vec((0_u32..8, 1_u32..5, 0_i64..200, 1_i64..200, prop::option::of(1_i64..300)), 1..6),
        ) {
            let seconds = Time::from_seconds;
            let job = |(index, &(width, time, release)): (usize, &(u32, i64, i64))| {
                Job::new(index.to_string(), Profile::rigid(width, seconds(time)).unwrap()).with_release(seconds(release))
            };
            let failure = |(first, number, down, length, said): (u32, u32, i64, i64, Option<i64>)| Failure {
                processors: ProcSet::range(first, (first + number - 1).min(7)),
                down: seconds(down),
                up: seconds(down + length),
                expected_up: said.map(|said| seconds(down + said)),
            };
            let jobs = rows.iter().enumerate().map(job).collect();
            let instance = Instance::new(Platform::flat(8).unwrap(), jobs, vec![]).unwrap();
            let failures: Vec<Failure> = failures.into_iter().map(failure).collect();
            let options = SimulationOptions { failures: failures.clone(), ..SimulationOptions::default() };
            let mut seen = DownRecorder { policy: policy_for("conservative", &instance, 1).unwrap(), down: Vec::new() };
            let actual = Actual::AsEstimated;
            let played = makespan_sim::simulate(&instance, &actual, &mut seen, &options, &mut Silent).unwrap();
            for (now, down) in seen.down {
                prop_assert_eq!(ClusterState::seen(&instance, &played.trace, &failures, now).down, down);
            }
        }

        /// Simulates again without further jobs and with the estimated times of all tasks. In this second simulation,
        /// each waiting task starts at the instant that the policy expected in the first simulation.
        #[test]
        fn what_is_expected_happens_when_nothing_else_does(
            rows in prop::collection::vec((1_u32..9, 1_i64..30, 0_i64..60, 1_i64..250), 2..16), seen in 0_i64..70,
            closed in prop::option::of((0_i64..90, 1_i64..40)),
        ) {
            let job = |(index, &(width, time, release, _)): (usize, &(u32, i64, i64, i64))| {
                Job::new(index.to_string(), Profile::rigid(width, t(time)).unwrap()).with_release(t(release))
            };
            let real = |&(width, time, _, percent): &(u32, i64, i64, i64)| {
                Profile::rigid(width, t((time * percent + 99) / 100)).unwrap()
            };
            let closed = closed.map(|(start, length)| {
                Unavailable { processors: ProcSet::range(2, 4), start: t(start), end: t(start + length) }
            });
            let jobs: Vec<Job> = rows.iter().enumerate().map(job).collect();
            let of = |jobs: Vec<Job>| Instance::new(Platform::flat(8).unwrap(), jobs, closed.clone().into_iter().collect());
            let (instance, real) = (of(jobs.clone()).unwrap(), rows.iter().map(real).collect::<Vec<Profile>>());
            let options = SimulationOptions::default();
            for spec in SPECS {
                let actual = Actual::Profiles(real.clone());
                let scene = SimulationInput { instance: &instance, actual: &actual, options: &options, seed: 1 };
                let simulated = simulate(&scene, spec, &mut Silent).unwrap();
                // If a run was interrupted, skip the comparison, because several runs of one task may differ in length.
                if simulated.measures.interrupted_runs > 0 {
                    continue;
                }
                let moment = ClusterState::of(&scene, &simulated.simulation.trace, t(seen));
                let expected = expected_at(&scene, &simulated, &moment).unwrap();
                let mut expected: Vec<_> = expected.iter().map(|one| (one.task, one.start)).collect();
                // Prepare the second simulation. Up to the instant `seen`, it is equal to the first simulation. After
                // `seen`, all tasks take their estimated times.
                let (mut jobs, mut real) = (jobs.clone(), real.clone());
                for (job, task) in jobs.iter_mut().zip(instance.task_ids()) {
                    if let Some(run) = moment.running.iter().find(|run| run.task == task) {
                        let lasts = run.expected_end(&instance, t(seen)) - run.start;
                        let width = instance.profile(task).min_processors();
                        real[task.index()] = Profile::rigid(width, lasts).unwrap();
                    } else if moment.waiting.contains(task) {
                        real[task.index()] = instance.profile(task).clone();
                    } else if job.release > t(seen) {
                        job.release = t(1_000_000_000_000);
                    }
                }
                let (instance, actual) = (of(jobs).unwrap(), Actual::Profiles(real));
                let scene = SimulationInput { instance: &instance, actual: &actual, ..scene };
                let runs = simulate(&scene, spec, &mut Silent).unwrap().simulation.trace.runs;
                // If an unavailable period interrupts a task that exceeds its estimate, skip the comparison, because
                // policies do not expect this interruption.
                if runs.iter().any(|run| run.outcome == Outcome::Interrupted) {
                    continue;
                }
                let waited = runs.iter().filter(|run| moment.waiting.contains(run.task));
                let mut starts: Vec<_> = waited.map(|run| (run.task, run.start)).collect();
                starts.sort_unstable();
                expected.sort_unstable();
                prop_assert_eq!(expected, starts, "{}", spec);
            }
        }
    }
}
