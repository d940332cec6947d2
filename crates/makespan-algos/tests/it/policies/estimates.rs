//! Tests of estimates that change during a simulation: every policy still runs every task once, and no policy plans by
//! outdated estimates.

use makespan_algos::Context;
use makespan_algos::policy::{Follow, policies, policy, policy_for};
use makespan_core::{
    Actual, Decision, Estimate, Estimation, Estimator, Event, Failure, Instance, NewTimes, Platform, Policy, ProcSet,
    Profile, Run, Schedule, TaskSet, Time, View, validate,
};
use makespan_sim::{Silent, Simulation, SimulationOptions, simulate};
use proptest::prelude::*;

use super::{Row, all_ended, bags, instance, platforms, rows, run, t};

/// An estimator that replaces times at random after each end.
struct Random {
    state: u64,
    /// After each end, about one in this number of tasks gets a new time.
    one_in: u64,
}

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % most
    }
}

impl Estimator for Random {
    fn ended(&mut self, instance: &Instance, _: &Run) -> Vec<NewTimes> {
        let different = instance.different_task_ids();
        let mut restated = Vec::new();
        for task in different {
            let (taken, ticks) = (self.below(self.one_in) == 0, 1 + self.below(60) as i64);
            if taken {
                let profile = instance.profile(task).clone().lasting(t(ticks));
                restated.push(NewTimes { task, profile, estimate: Estimate::Learned { runs: 1, spread: 0.0 } });
            }
        }
        restated
    }
}

/// An estimator that reports only estimates that are known already.
struct Same;

impl Estimator for Same {
    fn ended(&mut self, instance: &Instance, _: &Run) -> Vec<NewTimes> {
        let same = |task| NewTimes { task, profile: instance.profile(task).clone(), estimate: Estimate::Guessed };
        instance.task_ids().map(same).collect()
    }
}

fn random(seed: u64, one_in: u64) -> Estimation {
    Estimation::new(move |_| Box::new(Random { state: seed, one_in }))
}

/// Returns the instance with all times marked as guesses.
fn guessed(instance: &Instance) -> Instance {
    let mut jobs = instance.all_submitted();
    for job in &mut jobs {
        job.work.tasks_mut().for_each(|task| task.estimate = Estimate::Guessed);
    }
    Instance::new(instance.platform().clone(), jobs, instance.unavailable().to_vec()).unwrap()
}

/// Returns the spec of every policy with default parameters. Also returns some specs with other parameters, with which
/// the policy stores different data.
fn specs() -> Vec<String> {
    let plain = policies().iter().map(|entry| entry.name.to_owned());
    let lists = super::SPECS.into_iter().chain(super::QUEUES).chain(super::PLANNERS).chain(bags::SPECS);
    let mut all: Vec<String> = plain.chain(lists.map(str::to_owned)).collect();
    all.sort_unstable();
    all.dedup();
    // Leave out slow specs, because the other specs of the list execute the same code.
    all.retain(|spec| !["improve", "ptfs", "job-flow"].contains(&spec.as_str()));
    all.push("job-flow[serve=replan]".into());
    all.push("ptfs[mapper=min-min,cycle=event,scheduling-time=zero]".into());
    all
}

/// Returns the instance with the real times, to check the runs.
fn real(instance: &Instance, actual: &Actual) -> Instance {
    let Actual::Profiles(profiles) = actual else { panic!("real times are profiles here") };
    let mut jobs = instance.all_submitted();
    for (job, profile) in jobs.iter_mut().zip(profiles) {
        job.work.task_mut().unwrap().profile = profile.clone();
    }
    Instance::new(instance.platform().clone(), jobs, Vec::new()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Checks that the runs are a valid schedule of all tasks by their real times, and that a repetition gives the same
    /// runs.
    #[test]
    fn every_policy_bears_estimates_that_change(rows in rows(16), seed in any::<u64>(), one_in in 1_u64..5) {
        let options = SimulationOptions { estimation: Some(random(seed, one_in)), ..SimulationOptions::default() };
        for platform in platforms() {
            let (told, actual) = instance(platform, &rows, &[]);
            let told = guessed(&told);
            for spec in specs() {
                let Some(simulation) = run(&spec, &told, &actual, &options) else { continue };
                all_ended(&spec, &told, &simulation)?;
                let happened = simulation.trace.schedule();
                prop_assert_eq!(validate(&real(&told, &actual), &happened), Ok(()), "{}", spec);
                prop_assert_eq!(Some(simulation), run(&spec, &told, &actual, &options), "{}", spec);
            }
        }
    }

    /// Checks that every task ends once with success or is cancelled, and that a repetition gives the same runs. The
    /// instances have bags, graphs, walltimes, machines of unequal speeds, failures and closed processors.
    #[test]
    fn no_task_is_lost_when_estimates_change(
        rows in prop::collection::vec((1_u32..9, 1_i64..30, 0_i64..25, 0_u8..6, 20_i64..250), 1..9),
        widest in prop::sample::select(vec![1_u32, 4]),
        failures in prop::collection::vec((0_u32..4, 0_i64..150, 1_i64..40), 0..2),
        closed in prop::option::of((0_u32..3, 0_i64..80, 1_i64..40)),
        seed in any::<u64>(), one_in in 1_u64..5,
    ) {
        let failure = |&(processor, down, length): &(u32, i64, i64)| Failure {
            processors: ProcSet::range(processor, processor), down: t(down), up: t(down + length), expected_up: None,
        };
        let period = |(first, start, length)| makespan_core::Unavailable {
            processors: ProcSet::range(first, first + 1), start: t(start), end: t(start + length),
        };
        let options = SimulationOptions {
            failures: failures.iter().map(failure).collect(),
            estimation: Some(random(seed, one_in)),
            ..SimulationOptions::default()
        };
        for platform in bags::platforms() {
            let jobs = bags::jobs(&rows, widest, &platform);
            let Ok(told) = Instance::new(platform, jobs, closed.map(period).into_iter().collect()) else { continue };
            let told = guessed(&told);
            let factor = |task: makespan_core::TaskId| 10_000 * rows[told.job_id(task).index()].4 as u64;
            let actual = Actual::Factors(told.task_ids().map(factor).collect());
            for spec in specs() {
                let Some(simulation) = run(&spec, &told, &actual, &options) else { continue };
                let again = run(&spec, &told, &actual, &options);
                prop_assert_eq!(again.map(|again| again.trace), Some(simulation.trace.clone()), "{}", spec);
                let ended = simulation.trace.runs.iter().filter(|run| run.outcome == makespan_core::Outcome::Succeeded);
                let tasks: TaskSet = ended.map(|run| run.task).chain(simulation.cancelled.iter().copied()).collect();
                prop_assert_eq!(tasks.len(), told.tasks() as usize, "{}", spec);
            }
        }
    }

    /// Checks that an estimator that reports nothing new has no effect.
    #[test]
    fn what_is_known_already_changes_nothing(rows in rows(14)) {
        let (told, actual) = instance(Platform::flat(8).unwrap(), &rows, &[(1, 20, 15)]);
        let told = guessed(&told);
        let same = Some(Estimation::new(|_| Box::new(Same)));
        for spec in specs() {
            let without = run(&spec, &told, &actual, &SimulationOptions::default());
            let options = SimulationOptions { estimation: same.clone(), ..SimulationOptions::default() };
            prop_assert_eq!(without, run(&spec, &told, &actual, &options), "{}", spec);
        }
    }

    /// Checks policies that keep only what the view shows. After a change of times of waiting or running tasks, they
    /// decide like a policy that begins at that instant.
    #[test]
    fn nobody_plans_by_what_was_said_before(rows in rows(16), seed in any::<u64>(), one_in in 1_u64..5) {
        let options = SimulationOptions { estimation: Some(random(seed, one_in)), ..SimulationOptions::default() };
        for platform in platforms() {
            let (told, actual) = instance(platform, &rows, &[]);
            let told = guessed(&told);
            for spec in super::QUEUES.into_iter().chain(["replan[keep=none]", "replan[scheduler=list[order=saf],keep=none]"]) {
                let Ok(policy) = policy_for(spec, &told, 1) else { continue };
                let mut beside = Beside { spec, policy, compared: 0 };
                let simulation = simulate(&told, &actual, &mut beside, &options, &mut Silent);
                prop_assert!(simulation.is_ok(), "{}: {:?}", spec, simulation);
            }
        }
    }

    /// Checks that a followed plan keeps its order and its processors, so that the runs do not depend on estimates.
    #[test]
    fn a_followed_plan_keeps_its_order(rows in rows(14), seed in any::<u64>()) {
        let rows: Vec<Row> = rows.into_iter().map(|(width, time, _, percent, moldable)| (width, time, 0, percent, moldable)).collect();
        let (told, actual) = instance(Platform::flat(8).unwrap(), &rows, &[]);
        let told = guessed(&told);
        let scheduler = || makespan_algos::scheduler("list").unwrap();
        let plan: Schedule = scheduler().schedule(&told, &mut Context::with_seed(1)).unwrap().into_schedule().unwrap();
        let play = |estimation: Option<Estimation>| -> Simulation {
            let options = SimulationOptions { estimation, ..SimulationOptions::default() };
            let mut policy = Follow::with_plan(scheduler(), 1, &told, &plan);
            simulate(&told, &actual, &mut policy, &options, &mut Silent).unwrap()
        };
        let (restated, stated) = (play(Some(random(seed, 2))), play(None));
        prop_assert_eq!(restated.trace, stated.trace);
        prop_assert_eq!(stated.restated, 0);
    }
}

/// A policy, compared with a policy that is created anew whenever estimates have changed.
struct Beside<'a> {
    spec: &'a str,
    policy: Box<dyn Policy>,
    compared: u64,
}

impl Policy for Beside<'_> {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        self.policy.on(events, view, decisions);
        let restated = Event::estimated(events, view.instance);
        let runs = view.running.iter().any(|run| restated.contains(run.task));
        if runs || restated.iter().any(|task| view.waiting.contains(task)) {
            let mut fresh = Vec::new();
            policy(self.spec, 1).unwrap().on(&[Event::Wake], view, &mut fresh);
            assert_eq!(*decisions, fresh, "{} at {}", self.spec, view.now);
            self.compared += 1;
        }
    }
}

/// An estimator that gives all tasks of a kind the time of the first task of this kind that ends.
struct First;

impl Estimator for First {
    fn ended(&mut self, instance: &Instance, run: &Run) -> Vec<NewTimes> {
        let took: Time = run.end - run.start;
        let estimate = Estimate::Learned { runs: 1, spread: 0.0 };
        let like = |task| NewTimes { task, profile: Profile::rigid(1, took).unwrap(), estimate };
        // Tasks with even numbers are of one kind.
        let others = instance.task_ids().filter(|task| task.0 % 2 == run.task.0 % 2);
        others.map(like).collect()
    }
}

/// Checks long and short tasks with equal initial estimates. After the first tasks have ended, the remaining short
/// tasks must run first.
#[test]
fn what_is_learned_changes_the_order() {
    let profile = |seconds| Profile::rigid(1, Time::from_seconds(seconds)).unwrap();
    let job = |index: i64| makespan_core::Job::new(index.to_string(), profile(60)).with_estimate(Estimate::Guessed);
    let instance = Instance::new(Platform::flat(2).unwrap(), (0..20).map(job).collect(), vec![]).unwrap();
    let actual = Actual::Profiles((0..20).map(|index| profile(if index % 2 == 0 { 100 } else { 1 })).collect());
    let flow = |spec: &str, estimation: Option<Estimation>| -> i64 {
        let options = SimulationOptions { estimation, ..SimulationOptions::default() };
        let played = run(spec, &instance, &actual, &options).unwrap();
        played.trace.runs.iter().map(|run| run.end.ticks() / Time::TICKS_PER_SECOND).sum()
    };
    for spec in [
        "improve",
        "fcfs[order=sjf]",
        "easy[order=sjf]",
        "conservative[order=sjf]",
        "replan[scheduler=list[order=smith],keep=none]",
    ] {
        let without = flow(spec, None);
        let with = flow(spec, Some(Estimation::new(|_| Box::new(First))));
        // All short tasks run first: from 1 s to 10 s on one processor, while the other processor runs the first long
        // task.
        assert!(with < without - 1000, "{spec}: {with} with, {without} without");
    }
}
