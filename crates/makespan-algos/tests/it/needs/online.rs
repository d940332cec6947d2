//! Tests of policies in simulated time: the simulated cluster refuses tasks that would need more than is available.

use makespan_algos::Context;
use makespan_algos::policy::{Improve, Improving, PolicyError, policies, policy_for};
use makespan_algos::scheduler;
use makespan_core::{
    Actual, Estimate, Estimation, Estimator, Failure, Instance, NewTimes, Outcome, Placement, ProcSet, Run, Schedule,
    TaskSet, Time, validate,
};
use makespan_sim::{Silent, Simulation, SimulationOptions, simulate};
use proptest::prelude::*;

use super::draft::draft;

/// Returns every policy of the catalogue. Some policies are also returned with other parameters.
fn specs() -> Vec<String> {
    let plain = policies().iter().map(|entry| entry.name.to_owned());
    let more = [
        "easy[order=sjf,request=fastest]",
        "easy[passes=instant,request=fewest]",
        "conservative[order=laf]",
        "conservative[order=wfp3]",
        "easy[order=unicef]",
        "slurm[weight_age=10,weight_job_size=5,calc_period=1]",
        "batch[scheduler=demt]",
        "doubling[scheduler=sequential]",
        "replan[scheduler=gang]",
        "replan[scheduler=sweep[steps=10]]",
        "improve[steps=8]",
        "improve[objective=makespan,steps=0]",
        "follow[scheduler=list]",
        "follow[scheduler=optimise[steps=20,searches=1]]",
    ];
    plain.chain(more.map(str::to_owned)).collect()
}

fn run(spec: &str, instance: &Instance, actual: &Actual, options: &SimulationOptions) -> Option<Simulation> {
    let mut policy = match policy_for(spec, instance, 1) {
        Ok(policy) => policy,
        Err(PolicyError::Unsupported { .. }) => return None,
        Err(wrong) => panic!("{wrong}"),
    };
    Some(
        simulate(instance, actual, policy.as_mut(), options, &mut Silent).unwrap_or_else(|why| panic!("{spec}: {why}")),
    )
}

/// Returns the runs of a simulation as a schedule.
fn happened(simulation: &Simulation) -> Schedule {
    let placement = |run: &makespan_core::Run| Placement {
        task: run.task,
        start: run.start,
        end: run.end,
        processors: run.processors.clone(),
    };
    Schedule::new(simulation.trace.runs.iter().map(placement).collect())
}

/// Returns times that differ from the estimates by these percentages, task by task.
fn surprising(instance: &Instance, percent: &[u64]) -> Actual {
    Actual::Factors(instance.task_ids().map(|task| 10_000 * percent[task.index() % percent.len()]).collect())
}

/// Returns the instance with all times marked as guesses.
fn guessed(instance: &Instance) -> Instance {
    let mut jobs = instance.all_submitted();
    for job in &mut jobs {
        job.work.tasks_mut().for_each(|task| task.estimate = Estimate::Guessed);
    }
    Instance::new(instance.platform().clone(), jobs, instance.unavailable().to_vec()).unwrap()
}

/// An estimator that gives half of the tasks the time of the task that has just ended.
struct LikeThat;

impl Estimator for LikeThat {
    fn ended(&mut self, instance: &Instance, run: &Run) -> Vec<NewTimes> {
        let others = instance.task_ids().filter(|task| task.0 % 2 == run.task.0 % 2);
        let estimate = Estimate::Learned { runs: 1, spread: 0.0 };
        let like =
            |task| NewTimes { task, profile: instance.profile(task).clone().lasting(run.end - run.start), estimate };
        others.map(like).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// Checks that the runs are a valid schedule if every task takes its estimated time.
    #[test]
    fn what_happens_keeps_needs_and_order(draft in draft()) {
        let instance = draft.instance(1000).unwrap();
        for spec in specs() {
            let Some(simulation) = run(&spec, &instance, &Actual::AsEstimated, &SimulationOptions::default()) else { continue };
            prop_assert_eq!(validate(&instance, &happened(&simulation)), Ok(()), "{}", spec);
        }
    }

    /// Checks that every task ends once, for any real times, changed estimates and failures.
    #[test]
    fn every_task_ends_once(
        draft in draft(), percent in prop::collection::vec(1_u64..250, 1..6),
        failures in prop::collection::vec((0_u32..6, 0_i64..20_000, 1_i64..9_000, any::<bool>()), 0..3),
        restated in any::<bool>(),
    ) {
        let instance = if restated { guessed(&draft.instance(1000).unwrap()) } else { draft.instance(1000).unwrap() };
        let failure = |(processor, down, length, known): (u32, i64, i64, bool)| Failure {
            processors: ProcSet::range(processor % instance.processors(), processor % instance.processors()),
            down: Time::from_ticks(down),
            up: Time::from_ticks(down + length),
            expected_up: known.then(|| Time::from_ticks(down + length / 2 + 1)),
        };
        let options = SimulationOptions {
            failures: failures.into_iter().map(failure).collect(),
            estimation: Some(Estimation::new(|_| Box::new(LikeThat))).filter(|_| restated),
            ..SimulationOptions::default()
        };
        let actual = surprising(&instance, &percent);
        for spec in specs() {
            let Some(simulation) = run(&spec, &instance, &actual, &options) else { continue };
            let ended = simulation.trace.runs.iter().filter(|run| run.outcome == Outcome::Succeeded);
            let tasks: TaskSet = ended.map(|run| run.task).collect();
            prop_assert_eq!(tasks.len(), instance.tasks() as usize, "{}", spec);
        }
    }

    /// Checks that a kept plan is carried out completely, for any real times, with or without improvement in parallel
    /// to the run. If there is no parallel improvement, repeated runs give the same result.
    #[test]
    fn a_plan_that_is_kept_is_carried_out(
        draft in draft(), percent in prop::collection::vec(1_u64..250, 1..6), steps in 0_u64..30,
        objective in prop::sample::select(makespan_core::Objective::OF_TIME.to_vec()), beside in any::<bool>(),
    ) {
        let instance = draft.instance(1000).unwrap();
        if policy_for("improve", &instance, 1).is_err() {
            return Ok(());
        }
        let Ok(plan) = scheduler("list").unwrap().schedule(&instance, &mut Context::with_seed(1)) else { return Ok(()) };
        let plan = plan.into_schedule().unwrap();
        let improving = Improving { objective, steps, ..Improving::default() };
        let played = |beside: bool, actual: &Actual| {
            let mut policy = Improve::following(improving, 1, &plan);
            if beside {
                policy = policy.in_background(1.0);
            }
            simulate(&instance, actual, &mut policy, &SimulationOptions::default(), &mut Silent).unwrap()
        };
        let surprised = surprising(&instance, &percent);
        for actual in [&Actual::AsEstimated, &surprised] {
            let simulation = played(beside, actual);
            let ended = simulation.trace.runs.iter().filter(|run| run.outcome == Outcome::Succeeded);
            let tasks: TaskSet = ended.map(|run| run.task).collect();
            prop_assert_eq!(tasks.len(), instance.tasks() as usize);
        }
        prop_assert_eq!(validate(&instance, &happened(&played(beside, &Actual::AsEstimated))), Ok(()));
        prop_assert_eq!(played(false, &surprised).trace, played(false, &surprised).trace);
    }

    /// Checks that a followed plan is carried out exactly if all estimates are exact.
    #[test]
    fn what_is_simulated_is_what_was_planned(draft in draft()) {
        let instance = draft.instance(1000).unwrap();
        for spec in ["list[order=shelf]", "gang[packed=yes]", "sequential", "optimise[steps=20,searches=1]"] {
            let scheduler = || scheduler(spec).unwrap();
            if scheduler().supports(&instance).is_err() {
                continue;
            }
            let Ok(plan) = scheduler().schedule(&instance, &mut Context::with_seed(1)) else { continue };
            let plan = plan.into_schedule().unwrap();
            let mut policy = makespan_algos::policy::Follow::with_plan(scheduler(), 1, &instance, &plan);
            let options = SimulationOptions::default();
            let simulation = simulate(&instance, &Actual::AsEstimated, &mut policy, &options, &mut Silent);
            let simulation = simulation.unwrap_or_else(|why| panic!("{spec}: {why}"));
            prop_assert_eq!(happened(&simulation).makespan(), plan.makespan(), "{}", spec);
            for objective in makespan_core::Objective::OF_TIME {
                let value = |schedule: &Schedule| objective.value(&instance, schedule);
                prop_assert_eq!(value(&happened(&simulation)), value(&plan), "{}", spec);
            }
        }
    }
}
