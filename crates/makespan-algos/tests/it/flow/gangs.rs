//! Tests of gangs: tasks of a compound job that start together.

use makespan_algos::policy::{PolicyError, policies, policy_for};
use makespan_algos::{Context, catalogue};
use makespan_core::{Actual, Failure, Graph, Instance, Job, Outcome, ProcSet, Profile, TaskId, Work, validate};
use makespan_sim::{Silent, SimulationOptions, simulate};
use proptest::prelude::*;

use super::instances::{instance, t};

/// Returns the instance with gangs of two or three tasks. A gang is left out if its tasks wait for each other.
fn with_gangs(instance: &Instance, picks: &[(u8, u8, u8)]) -> Instance {
    let mut picks = picks.iter().cycle();
    let mut gangs = |graph: Graph| {
        let (edges, mut tasks) = (graph.edges().to_vec(), graph.tasks().to_vec());
        for (name, &(first, second, third)) in ["g", "h"].into_iter().zip(picks.by_ref()) {
            let mut changed = tasks.clone();
            for pick in [first, second, third] {
                let at = usize::from(pick) % changed.len();
                changed[at].task.gang = Some(name.into());
            }
            if Graph::new(changed.clone(), edges.clone()).is_ok() {
                tasks = changed;
            }
        }
        Graph::new(tasks, edges).unwrap()
    };
    let with = |job: Job| match job.work {
        Work::Graph(graph) => Job { work: Work::Graph(gangs(graph)), ..job },
        work => Job { work, ..job },
    };
    let jobs = instance.all_submitted().into_iter().map(with).collect();
    Instance::new(instance.platform().clone(), jobs, instance.unavailable().to_vec()).unwrap()
}

fn picks() -> impl Strategy<Value = Vec<(u8, u8, u8)>> {
    prop::collection::vec(any::<(u8, u8, u8)>(), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(150)))]

    /// Checks that each algorithm makes valid plans with gangs or refuses them.
    #[test]
    fn plans_start_gangs_together(instance in instance(60), picks in picks()) {
        let instance = with_gangs(&instance, &picks);
        for entry in catalogue() {
            let scheduler = makespan_algos::scheduler(entry.name).unwrap();
            let is_one = entry.name == "critical-jobs";
            prop_assert_eq!(scheduler.supports_gangs(), is_one, "{}", entry.name);
            if !is_one && !instance.has_gangs() {
                continue;
            }
            let planned = scheduler.schedule(&instance, &mut Context::with_seed(1));
            if is_one {
                let schedule = planned.unwrap().into_schedule().unwrap();
                prop_assert_eq!(validate(&instance, &schedule), Ok(()));
            } else {
                prop_assert!(planned.is_err(), "{}", entry.name);
            }
        }
    }

    /// Checks that simulated gangs start together, for any real times and failures. The simulation checks each start.
    #[test]
    fn job_flow_starts_gangs_together(
        instance in instance(150),
        picks in picks(),
        spec in prop::sample::select(vec!["job-flow", "job-flow[starts=auto]", "job-flow[serve=arrival,starts=reserved]"]),
        percents in prop::collection::vec(20_i64..300, 1..20),
        failures in prop::collection::vec((0_u32..4, 0_i64..150, 1_i64..40), 0..3),
    ) {
        let instance = with_gangs(&instance, &picks);
        let mut policy = policy_for(spec, &instance, 1).unwrap();
        let options = SimulationOptions::default();
        let played = simulate(&instance, &Actual::AsEstimated, policy.as_mut(), &options, &mut Silent).unwrap();
        prop_assert_eq!(validate(&instance, &played.trace.schedule()), Ok(()), "{}", spec);

        let real = |(task, percent): (TaskId, &i64)| {
            Profile::rigid(1, t((instance.profile(task).shortest().ticks() * percent / 100).max(1))).unwrap()
        };
        let actual = Actual::Profiles(instance.task_ids().zip(percents.iter().cycle()).map(real).collect());
        let failure = |(id, down, length): (u32, i64, i64)| Failure {
            processors: ProcSet::range(id, id),
            down: t(down),
            up: t(down + length),
            expected_up: None,
        };
        let options = SimulationOptions { failures: failures.into_iter().map(failure).collect(), ..options };
        let mut policy = policy_for(spec, &instance, 1).unwrap();
        let played = simulate(&instance, &actual, policy.as_mut(), &options, &mut Silent)
            .unwrap_or_else(|why| panic!("{spec}: {why}"));
        let ended = played.trace.runs.iter().filter(|run| run.outcome == Outcome::Succeeded).count();
        prop_assert_eq!(ended, instance.tasks() as usize, "{}", spec);
        // If a task is interrupted, all running tasks of its gang are interrupted.
        for run in played.trace.runs.iter().filter(|run| run.outcome == Outcome::Interrupted) {
            for mate in instance.gang_mates(run.task) {
                let continues = |other: &&makespan_core::Run| {
                    other.task == mate && other.start < run.end && run.end < other.end
                };
                prop_assert_eq!(played.trace.runs.iter().find(continues), None, "{:?}", run);
            }
        }
    }

    #[test]
    fn other_policies_refuse_gangs(instance in instance(60), picks in picks()) {
        let instance = with_gangs(&instance, &picks);
        prop_assume!(instance.has_gangs());
        for entry in policies().iter().filter(|entry| entry.name != "job-flow") {
            let refused = matches!(policy_for(entry.name, &instance, 1), Err(PolicyError::Unsupported { .. }));
            prop_assert!(refused, "{}", entry.name);
        }
    }
}
