//! Tests of the metascheduler on random flows: the logged events happen, and no job is lost.

use std::collections::BTreeMap;

use makespan_algos::policy::policy_for;
use makespan_core::{
    Actual, Failure, Instance, Job, JobId, LogEntry, LoggedDecision, Outcome, ProcSet, Profile, TaskId, Time, validate,
};
use makespan_sim::{FailureModel, Silent, Simulation, SimulationOptions, simulate};
use proptest::prelude::*;

use super::instances::{instance, t};

const SPECS: [&str; 9] = [
    "job-flow[serve=arrival,starts=reserved]",
    "job-flow[serve=consecutive,clock=handover,starts=reserved]",
    "job-flow[serve=arrival,criterion=utilisation,deadline=2]",
    "job-flow[buffer=20ns,starts=reserved]",
    "job-flow[buffer=7ns,clock=handover,flow=finish,cpus=types,start=empty,deadline=3,starts=reserved]",
    "job-flow",
    "job-flow[flow=cost,deadline=1,chains=disjoint,starts=reserved]",
    "job-flow[deadline=2,late=reject]",
    "job-flow[flow=finish,isolated=reserve,criterion=utilisation,same-cpu-transfer=paid,starts=reserved]",
];

fn play(spec: &str, instance: &Instance, actual: &Actual, options: &SimulationOptions) -> (Simulation, Vec<LogEntry>) {
    let mut policy = policy_for(spec, instance, 1).unwrap();
    let simulation = simulate(instance, actual, policy.as_mut(), options, &mut Silent);
    (simulation.unwrap_or_else(|why| panic!("{spec}: {why}")), policy.log())
}

fn job_of(instance: &Instance, entry: &LogEntry) -> JobId {
    instance.job_id(entry.task)
}

/// Returns the end of each job that was not cancelled.
fn ends(instance: &Instance, simulation: &Simulation) -> BTreeMap<JobId, Time> {
    let mut ends = BTreeMap::new();
    for run in simulation.trace.runs.iter().filter(|run| run.outcome == Outcome::Succeeded) {
        let end = ends.entry(instance.job_id(run.task)).or_insert(Time::ZERO);
        *end = (*end).max(run.end);
    }
    ends
}

/// Checks that either every task of a job ended, or the job was cancelled and only interrupted runs occurred.
fn all_or_nothing(spec: &str, instance: &Instance, (simulation, log): &(Simulation, Vec<LogEntry>)) {
    let rejected = |job| {
        let mut own = log.iter().filter(|entry| job_of(instance, entry) == job);
        own.any(|entry| matches!(entry.what, LoggedDecision::Rejected { .. }))
    };
    let succeeded =
        |task: TaskId| simulation.trace.runs.iter().any(|run| run.task == task && run.outcome == Outcome::Succeeded);
    for id in instance.ids() {
        let job = instance.job(id);
        if rejected(id) {
            assert!(job.task_ids().all(|task| !succeeded(task)), "{spec}: {}", job.name);
        } else {
            assert!(job.task_ids().all(succeeded), "{spec}: {}", job.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_is_planned_happens_when_estimates_hold(instance in instance(150)) {
        for spec in SPECS {
            let played = play(spec, &instance, &Actual::AsEstimated, &SimulationOptions::default());
            all_or_nothing(spec, &instance, &played);
            let (simulation, log) = &played;
            let happened = simulation.trace.schedule();
            if simulation.cancelled.is_empty() {
                prop_assert_eq!(validate(&instance, &happened), Ok(()), "{}", spec);
            }
            let mut planned = BTreeMap::new();
            for entry in log {
                if let LoggedDecision::Planned { finish, .. } | LoggedDecision::Fallback { finish, .. } = entry.what {
                    planned.insert(job_of(&instance, entry), finish);
                }
                prop_assert!(!["other_variant", "planned_again"].contains(&entry.what.name()));
                if let LoggedDecision::Rejected { .. } = entry.what {
                    planned.remove(&job_of(&instance, entry));
                }
            }
            let ends = ends(&instance, simulation);
            if !spec.contains("reserved") {
                prop_assert!(ends.iter().all(|(job, end)| planned[job] >= *end), "{}", spec);
            } else if !spec.contains("paid") {
                prop_assert_eq!(&ends, &planned, "{}", spec);
            }
        }
    }

    #[test]
    fn nothing_is_lost_whatever_fails(
        instance in instance(150),
        percents in prop::collection::vec(20_i64..300, 1..20),
        failures in prop::collection::vec((0_u32..4, 0_i64..150, 1_i64..90, any::<bool>()), 0..5),
        (drawn, requeues) in (any::<Option<u16>>(), any::<bool>()),
    ) {
        let real = |(task, percent): (TaskId, &i64)| {
            Profile::rigid(1, t((instance.profile(task).shortest().ticks() * percent / 100).max(1))).unwrap()
        };
        let actual = Actual::Profiles(instance.task_ids().zip(percents.iter().cycle()).map(real).collect());
        let failure = |(id, down, length, known): (u32, i64, i64, bool)| Failure {
            processors: ProcSet::range(id, id),
            down: t(down),
            up: t(down + length),
            expected_up: known.then(|| t(down + length / 2 + 1)),
        };
        let model = |seed: u16| FailureModel::parse("mtbf=300ns,mttr=40ns,processors=1", seed.into()).unwrap();
        let options = SimulationOptions {
            failures: failures.into_iter().map(failure).collect(),
            failure_model: drawn.map(model),
            requeues: if requeues { u32::MAX } else { 0 },
            ..SimulationOptions::default()
        };
        for spec in SPECS {
            // Every task ends or is cancelled, and the simulation does not stall.
            let played = play(spec, &instance, &actual, &options);
            if requeues {
                all_or_nothing(spec, &instance, &played);
            }
            let again = play(spec, &instance, &actual, &options);
            prop_assert_eq!((&played.0.trace, &played.1), (&again.0.trace, &again.1), "{}", spec);
        }
    }

    #[test]
    fn a_buffer_delays_by_its_length_at_most(instance in instance(150), length in 1_i64..60) {
        let spec = format!("job-flow[buffer={length}ns,late=reject]");
        let (_, log) = play(&spec, &instance, &Actual::AsEstimated, &SimulationOptions::default());
        let mut first = BTreeMap::new();
        for entry in &log {
            first.entry(job_of(&instance, entry)).or_insert(entry.time);
        }
        prop_assert_eq!(first.len(), instance.jobs().len());
        for (job, handed) in first {
            let wait = handed - instance.job(job).release;
            prop_assert!(wait >= Time::ZERO && wait <= t(length), "{wait:?}");
        }
    }

    /// Checks that every job is handled separately if no job is compound.
    #[test]
    fn single_tasks_are_graphs_of_one_task(
        jobs in prop::collection::vec((1_i64..40, 0_i64..150, 20_i64..300), 1..12),
        failures in prop::collection::vec((0_u32..3, 0_i64..150, 1_i64..90), 0..5),
    ) {
        let job = |(index, &(time, release, _)): (usize, &(i64, i64, i64))| {
            Job::new(index.to_string(), Profile::rigid(1, t(time)).unwrap()).with_release(t(release))
        };
        let platform = makespan_core::Platform::cluster(3, 1).unwrap();
        let instance = Instance::new(platform, jobs.iter().enumerate().map(job).collect(), vec![]).unwrap();
        let real = |&(time, _, percent): &(i64, i64, i64)| Profile::rigid(1, t((time * percent / 100).max(1))).unwrap();
        let actual = Actual::Profiles(jobs.iter().map(real).collect());
        let failure = |(id, down, length): (u32, i64, i64)| Failure {
            processors: ProcSet::range(id, id), down: t(down), up: t(down + length), expected_up: None,
        };
        let failures = failures.into_iter().map(failure).collect();
        let options = SimulationOptions { failures, requeues: u32::MAX, ..SimulationOptions::default() };
        for spec in SPECS {
            let (simulation, log) = play(spec, &instance, &actual, &options);
            let ended = simulation.trace.runs.iter().filter(|run| run.outcome == Outcome::Succeeded).count();
            prop_assert_eq!(ended + simulation.cancelled.len(), jobs.len(), "{}", spec);
            let rejected = log.iter().filter(|entry| matches!(entry.what, LoggedDecision::Rejected { .. })).count();
            prop_assert_eq!(rejected, simulation.cancelled.len(), "{}", spec);
        }
    }
}
