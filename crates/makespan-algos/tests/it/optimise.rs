//! Tests of the properties of `optimise` that other algorithms of the catalogue do not have. The plans of `optimise`
//! are no worse than its initial plans, and optimal on tiny instances. Its bounds are valid. The search keeps limits,
//! and ends on request.

use makespan_algos::scheduler;
use makespan_algos::{Context, Plan, ScheduleError};
use makespan_core::{Instance, Job, Objective, Platform, Profile, Schedule, Stop, Time, validate};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::harness::draft::{Draft, drafts};
use crate::harness::optimum::{optimum, optimum_until};

fn spec(objective: Objective, rest: &str) -> String {
    format!("optimise[objective={},{rest}]", objective.name().replace('_', "-"))
}

/// Returns instances without bags. Competing tasks of bags are planned as separate jobs, and best-effort bags are
/// placed after the plan. So the statements about whole plans only hold for instances without bags.
fn without_bags() -> impl Strategy<Value = Draft> {
    drafts().prop_filter("it has a bag", |draft| !draft.instance(1).has_bags())
}

fn plan(instance: &Instance, spec: &str, context: &mut Context) -> Result<Plan, ScheduleError> {
    scheduler(spec).unwrap().schedule(instance, context)
}

fn schedule(instance: &Instance, spec: &str) -> Schedule {
    plan(instance, spec, &mut Context::with_seed(1)).unwrap().into_schedule().unwrap()
}

#[test]
fn the_mean_flow_counts_a_bag_once() {
    let bag = |name: &str, seconds, count: u64| {
        let profile = Profile::rigid(1, Time::from_seconds(seconds)).unwrap();
        Job::new(name, profile).with_count(count.try_into().unwrap())
    };
    // With short tasks first, the bags end at 10 and 15 s. With the bag of less work first, they end at 5 and 15 s,
    // although its tasks are longer.
    let jobs = vec![bag("short", 1, 20), bag("long", 5, 2)];
    let instance = Instance::new(Platform::flat(2).unwrap(), jobs, vec![]).unwrap();
    let mut context = Context::with_seed(1);
    let plan = plan(&instance, &spec(Objective::MeanFlow, "steps=2000,searches=1"), &mut context).unwrap();
    let reached = Objective::MeanFlow.value(&instance, &plan.into_schedule().unwrap());
    assert_eq!(reached, 10_000_000_000_000);
    let bound = context.bounds.iter().find(|bound| bound.objective == Objective::MeanFlow).unwrap();
    assert_eq!(bound.verify(&instance), Ok(()));
    let value = bound.value.integer();
    assert!(value <= reached && value > 7_000_000_000_000, "{bound:?}");
}

#[test]
fn jobs_without_deadlines_are_never_late_even_next_to_a_bag() {
    let tenths = |tenths: i64| Time::from_ticks(tenths * 100_000_000);
    let job = |name: &str, time| Job::new(name, Profile::rigid(1, tenths(time)).unwrap());
    let bag = job("bag", 5).with_count(1.try_into().unwrap()).with_release(tenths(1)).with_deadline(tenths(11));
    let late = job("late", 8).with_release(tenths(3)).with_deadline(tenths(4));
    // The job `early` ends at 0.4 s, the bag at 0.9 s, and the job `late` at 1.7 s.
    let early = job("early", 4).with_deadline(tenths(14));
    let jobs = vec![bag, early, job("a", 2), job("b", 3), late, job("c", 3)];
    let instance = Instance::new(Platform::flat(1).unwrap(), jobs, vec![]).unwrap();
    let planned = schedule(&instance, &spec(Objective::WeightedTardiness, "steps=2000,searches=1"));
    assert_eq!(Objective::WeightedTardiness.value(&instance, &planned), 1_300_000_000_000_000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::cases(200), ..ProptestConfig::default() })]

    #[test]
    fn it_is_no_worse_than_the_catalogue(draft in without_bags()) {
        let instance = draft.instance(1);
        for objective in Objective::OF_TIME {
            let value = objective.value(&instance, &schedule(&instance, &spec(objective, "steps=1,searches=1")));
            let shelves = scheduler("shelves").unwrap();
            if instance.platform().restricts_placement() && shelves.supports(&instance).is_ok() {
                prop_assert!(value <= objective.value(&instance, &schedule(&instance, "shelves")));
            }
            for other in ["list[order=saf]", "list[order=shelf]", "list[order=smith]", "dual", "gang", "sweep[steps=0]", "demt"] {
                let other_value = objective.value(&instance, &schedule(&instance, other));
                prop_assert!(value <= other_value, "{other} has {objective} {other_value}, optimise {value}");
            }
        }
    }

    #[test]
    fn its_bounds_hold(draft in drafts()) {
        let instance = draft.instance(1);
        for objective in Objective::OF_TIME {
            let mut context = Context::with_seed(1);
            plan(&instance, &spec(objective, "steps=100,searches=1"), &mut context).unwrap();
            for bound in &context.bounds {
                prop_assert_eq!(bound.verify(&instance), Ok(()));
                prop_assert_eq!(bound.makespan_at_most, None);
                prop_assert!(bound.value.integer() <= optimum(&instance, bound.objective));
            }
        }
    }

    /// Checks that each point of a front keeps the limit of its bound, and that the bound holds for all schedules that
    /// keep this limit.
    #[test]
    fn every_point_of_a_front_stands_above_its_bound(draft in without_bags()) {
        let instance = draft.instance(1);
        let plan = plan(&instance, "optimise[objective=pareto,steps=300,searches=1]", &mut Context::with_seed(1)).unwrap();
        let Plan::Front(front) = plan else { panic!("a front is a front") };
        prop_assert!(!front.points().is_empty());
        let mut last: Option<[i128; 2]> = None;
        for point in front.points() {
            prop_assert_eq!(validate(&instance, &point.schedule), Ok(()));
            let figures = [Objective::Makespan, Objective::WeightedCompletion].map(|o| o.value(&instance, &point.schedule));
            if let Some([makespan, weighted]) = last {
                prop_assert!(makespan < figures[0] && weighted > figures[1], "no point beats another");
            }
            last = Some(figures);
            let Some(bound) = &point.bound else { continue };
            prop_assert_eq!(bound.verify(&instance), Ok(()));
            prop_assert!(bound.speaks_of(&point.schedule));
            let most = bound.makespan_at_most.unwrap_or(makespan_core::Time::MAX);
            let least = optimum_until(&instance, bound.objective, most).expect("the point itself keeps the limit");
            prop_assert!(bound.value.integer() <= least);
        }
    }

    #[test]
    fn a_limit_on_the_makespan_is_kept_or_nothing_is_returned(
        draft in without_bags(), percent in 100_u32..160,
        objective in prop::sample::select(vec!["weighted-completion", "mean-flow", "max-tardiness", "weighted-tardiness"]),
    ) {
        let instance = draft.instance(1);
        let factor = f64::from(percent) / 100.0;
        let spec = format!("optimise[objective={objective},makespan-at-most={factor},steps=100,searches=1]");
        let mut context = Context::with_seed(1);
        let floor = makespan_bounds::makespan(&instance).value.integer();
        match plan(&instance, &spec, &mut context) {
            Ok(plan) => {
                let makespan = i128::from(plan.into_schedule().unwrap().makespan().ticks());
                prop_assert!(makespan * 100 <= floor * i128::from(percent), "{makespan} against {floor}");
            }
            Err(ScheduleError::NotFound { limit, reached, .. }) => prop_assert!(reached > limit),
            Err(error) => panic!("{error}"),
        }
    }

    /// Checks that a stop request before the search begins leaves at least the plan of the quickest algorithm.
    #[test]
    fn stopped_at_once_it_still_has_a_plan(draft in drafts()) {
        let instance = draft.instance(1);
        let stop = Stop::default();
        stop.request();
        for objective in ["makespan", "weighted-completion", "mean-flow", "pareto"] {
            let mut context = Context { stop: stop.clone(), ..Context::with_seed(1) };
            let spec = format!("optimise[objective={objective},time-limit=1h,searches=2]");
            let schedule = plan(&instance, &spec, &mut context).unwrap().into_schedule().unwrap();
            prop_assert_eq!(validate(&instance, &schedule), Ok(()));
        }
    }
}

proptest! {
    // The instances are the same in each run, because a search may miss the optimum of other instances.
    #![proptest_config(ProptestConfig { cases: 100, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    /// Checks platforms that are always open and allow any set of processors. With closed periods or best placement, it
    /// matters which processors are held, and a serial insertion chooses among them by a fixed rule.
    #[test]
    fn it_is_optimal_on_tiny_instances(draft in without_bags()) {
        let instance = draft.instance(1);
        if instance.availability().is_always_open() && !instance.platform().restricts_placement() {
            for objective in Objective::OF_TIME {
                let schedule = schedule(&instance, &spec(objective, "steps=6000,searches=1"));
                prop_assert_eq!(objective.value(&instance, &schedule), optimum(&instance, objective), "{}", objective);
            }
        }
    }
}
