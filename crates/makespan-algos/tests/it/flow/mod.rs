//! Tests of policies on compound jobs in simulated time: tasks run as planned, and no task waits forever.

mod domains;
mod gangs;
mod instances;
mod job_flow;
mod moves;
mod owners;
mod two_jobs;

use instances::{instance, t};
use makespan_algos::Context;
use makespan_algos::policy::{Follow, PolicyError, policies, policy_for};
use makespan_core::{Actual, Failure, Outcome, Placement, ProcSet, Profile, Schedule, TaskId, validate};
use makespan_sim::{Silent, SimulationOptions, simulate};
use proptest::prelude::*;

fn sorted(schedule: &Schedule) -> Vec<Placement> {
    let mut placements = schedule.placements().to_vec();
    placements.sort_by_key(|placement| placement.task);
    placements
}

const SCHEDULERS: [&str; 3] = ["heft", "cpop", "peft"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(200)))]

    #[test]
    fn plans_of_list_schedulers_happen_exactly_when_estimates_hold(instance in instance(100)) {
        for spec in SCHEDULERS {
            let scheduler = makespan_algos::scheduler(spec).unwrap();
            let plan = scheduler.schedule(&instance, &mut Context::with_seed(1)).unwrap().into_schedule().unwrap();
            let mut policy = Follow::with_plan(scheduler, 1, &instance, &plan);
            let options = SimulationOptions::default();
            let simulation =
                simulate(&instance, &Actual::AsEstimated, &mut policy, &options, &mut Silent).unwrap();
            let happened = simulation.trace.schedule();
            prop_assert_eq!(sorted(&happened), sorted(&plan), "{}", spec);
        }
    }

    #[test]
    fn jobs_that_come_together_are_planned_together(instance in instance(0)) {
        let scheduler = makespan_algos::scheduler("heft").unwrap();
        let plan = scheduler.schedule(&instance, &mut Context::with_seed(1)).unwrap().into_schedule().unwrap();
        let mut policy = policy_for("follow", &instance, 1).unwrap();
        let options = SimulationOptions::default();
        let simulation =
            simulate(&instance, &Actual::AsEstimated, policy.as_mut(), &options, &mut Silent).unwrap();
        let happened = simulation.trace.schedule();
        prop_assert_eq!(sorted(&happened), sorted(&plan));
    }

    /// Checks that every policy of the catalogue runs every task once, for any real times and failures. Policies that
    /// do not support transfers must refuse the instance.
    #[test]
    fn every_task_ends_once(
        instance in instance(150),
        percents in prop::collection::vec(20_i64..300, 1..20),
        failures in prop::collection::vec((0_u32..4, 0_i64..150, 1_i64..40), 0..3),
    ) {
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
        let options =
            SimulationOptions { failures: failures.into_iter().map(failure).collect(), ..SimulationOptions::default() };
        for entry in policies() {
            let mut policy = match policy_for(entry.name, &instance, 1) {
                Ok(policy) => policy,
                Err(PolicyError::Unsupported { .. }) => {
                    prop_assert!(!["follow", "job-flow"].contains(&entry.name));
                    // The queues of nodes do not support periods in which a node is closed.
                    let queues = ["flow", "immediate", "interval", "ptfs"].contains(&entry.name);
                    let closed = queues && !instance.unavailable().is_empty();
                    let ours = instance.has_transfers() || !instance.platform().has_unit_speed();
                    prop_assert!(closed || ours, "{}", entry.name);
                    continue;
                }
                Err(wrong) => panic!("{wrong}"),
            };
            let simulation = simulate(&instance, &actual, policy.as_mut(), &options, &mut Silent)
                .unwrap_or_else(|why| panic!("{}: {why}", entry.name));
            let ended = simulation.trace.runs.iter().filter(|run| run.outcome == Outcome::Succeeded).count();
            prop_assert_eq!(ended, instance.tasks() as usize, "{}", entry.name);
        }
    }

    #[test]
    fn what_follows_a_plan_is_valid_when_estimates_hold(instance in instance(150)) {
        let options = SimulationOptions::default();
        for spec in SCHEDULERS {
            let mut policy = policy_for(&format!("follow[scheduler={spec}]"), &instance, 1).unwrap();
            let simulation =
                simulate(&instance, &Actual::AsEstimated, policy.as_mut(), &options, &mut Silent).unwrap();
            let happened = simulation.trace.schedule();
            prop_assert_eq!(validate(&instance, &happened), Ok(()), "{}", spec);
        }
    }
}
