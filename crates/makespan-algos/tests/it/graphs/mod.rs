//! The property harness for graphs of tasks. Every scheduler of graphs makes valid schedules, which are no shorter than
//! the optimum of the brute force and no shorter than any verified bound. The seed and the names only have their
//! documented effects. If all times are scaled, the plan is scaled by the same factor.

mod cost;
mod critical_jobs;
pub mod draft;
mod optimum;

use draft::{Draft, drafts};
use makespan_algos::{Context, Scheduler};
use makespan_algos::{catalogue, scheduler};
use makespan_core::{Instance, Objective, Placement, Schedule, Time, validate};
use makespan_verify::{Bound, Proof};
use optimum::optima;
use proptest::prelude::*;

/// Returns the schedulers of the catalogue that plan graphs. They can plan the smallest graph, but perhaps not all
/// other graphs.
fn schedulers() -> Vec<Box<dyn Scheduler>> {
    let specs = catalogue().iter().flat_map(|entry| entry.kind.representatives);
    let all = specs.map(|spec| scheduler(spec).unwrap_or_else(|error| panic!("{spec}: {error}")));
    let graph = draft::smallest().instance(1);
    all.filter(|scheduler| scheduler.supports(&graph).is_ok()).collect()
}

/// Returns the schedulers that plan an instance.
fn schedulers_of(instance: &Instance) -> impl Iterator<Item = Box<dyn Scheduler>> {
    schedulers().into_iter().filter(|scheduler| scheduler.supports(instance).is_ok())
}

fn plan(scheduler: &dyn Scheduler, instance: &Instance, seed: u64) -> (Schedule, Vec<Bound>) {
    let mut context = Context::with_seed(seed);
    let plan = scheduler.schedule(instance, &mut context).unwrap_or_else(|error| panic!("{error}"));
    let schedule = plan.into_schedule().unwrap();
    assert_eq!(validate(instance, &schedule), Ok(()), "{}\n{schedule:?}", scheduler.name());
    (schedule, context.bounds)
}

#[test]
fn the_schedulers_of_graphs_are_here() {
    let names: Vec<String> = schedulers().iter().map(|scheduler| scheduler.name()).collect();
    for name in ["heft", "cpop", "peft", "list[order=smith]", "sequential", "gang", "demt"] {
        assert!(names.iter().any(|other| other == name), "{names:?}");
    }
    assert!(names.iter().any(|name| name.starts_with("optimise")), "{names:?}");
    for name in ["dual", "shelves"] {
        assert!(!names.iter().any(|other| other.starts_with(name)), "{name} knows nothing of edges");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::cases(300), ..ProptestConfig::default() })]

    #[test]
    fn values_stand_between_the_bounds_and_the_optimum(draft in drafts()) {
        let instance = draft.instance(1);
        let optima = optima(&instance);
        for (objective, optimum) in Objective::OF_SCHEDULES.into_iter().zip(optima) {
            let bound = makespan_bounds::best(&instance, objective).unwrap();
            prop_assert_eq!(bound.verify(&instance), Ok(()));
            prop_assert!(bound.value.integer() <= optimum, "{:?} is above the optimum {}", bound, optimum);
            let higher = Bound { value: (bound.value.integer() + 1).into(), ..bound };
            prop_assert!(higher.verify(&instance).is_err());
        }
        for scheduler in schedulers_of(&instance) {
            let (schedule, bounds) = plan(scheduler.as_ref(), &instance, 1);
            for bound in bounds {
                prop_assert_eq!(bound.verify(&instance), Ok(()));
            }
            for (objective, optimum) in Objective::OF_SCHEDULES.into_iter().zip(optima) {
                let value = objective.value(&instance, &schedule);
                prop_assert!(value >= optimum, "{}: {objective} {value} below {optimum}", scheduler.name());
            }
        }
        let of_ends = |(objective, _): &(Objective, i128)| *objective != Objective::Cost;
        for (objective, optimum) in Objective::OF_SCHEDULES.into_iter().zip(optima).filter(of_ends) {
            let name = objective.name().replace('_', "-");
            let spec = format!("optimise[objective={name},steps=3000,searches=2]");
            let (schedule, _) = plan(scheduler(&spec).unwrap().as_ref(), &instance, 1);
            prop_assert_eq!(objective.value(&instance, &schedule), optimum, "{} on {:?}", spec, draft);
        }
    }

    #[test]
    fn a_plan_depends_on_figures_and_seed_only(draft in drafts(), seed in any::<u64>()) {
        let instance = draft.instance(1);
        let renamed = draft.renamed().instance(1);
        for scheduler in schedulers_of(&instance) {
            let (first, _) = plan(scheduler.as_ref(), &instance, seed);
            prop_assert_eq!(&first, &plan(scheduler.as_ref(), &instance, seed).0, "{}", scheduler.name());
            prop_assert_eq!(&first, &plan(scheduler.as_ref(), &renamed, seed).0, "{}: names", scheduler.name());
        }
    }

    #[test]
    fn scaling_all_times_scales_the_plan(draft in drafts(), power in 1_u32..12) {
        let factor = 1_i64 << power;
        for scheduler in schedulers() {
            // Critical jobs are planned on a grid of some hundred steps between two instants. Fronts are planned under
            // limits at quarters between two makespans. Both are rounded to ticks.
            let name = scheduler.name();
            let on_grid = ["critical-jobs", "objective=cost", "objective=pareto"].iter().any(|part| name.contains(part));
            let unit = if on_grid { 1 << 20 } else { 1 };
            let (instance, finer) = (draft.instance(unit), draft.instance(unit * factor));
            if scheduler.supports(&instance).is_err() {
                prop_assert!(scheduler.supports(&finer).is_err(), "{name} supports only one unit of time");
                continue;
            }
            let times = |time: Time| Time::from_ticks(time.ticks() * factor);
            let scale = |placement: &Placement| Placement {
                start: times(placement.start),
                end: times(placement.end),
                ..placement.clone()
            };
            let (schedule, _) = plan(scheduler.as_ref(), &instance, 7);
            let scaled = Schedule::new(schedule.placements().iter().map(scale).collect());
            prop_assert_eq!(scaled, plan(scheduler.as_ref(), &finer, 7).0, "{} by {}", scheduler.name(), factor);
        }
    }

    /// Checks that no accepted certificate proves too high a bound, for any numbers in the certificate.
    #[test]
    fn no_window_proves_too_much(
        draft in drafts(),
        deadline in 0_i64..60,
        (from, until) in (0_i64..60, 0_i64..60),
        prices in proptest::collection::vec(0_u64..9, 3),
    ) {
        let instance = draft.instance(1);
        let prices = prices[..instance.platform().nodes().len().min(3)].to_vec();
        let ticks = Time::from_ticks;
        let window = makespan_verify::proof::TimeWindow {
            deadline: ticks(deadline),
            from: ticks(from),
            until: ticks(until),
            prices,
        };
        if let Ok(value) = Proof::TimeWindow(window).proves(Objective::Makespan, &instance) {
            let [optimum, ..] = optima(&instance);
            prop_assert!(value <= optimum.into(), "{} above {}", value, optimum);
        }
    }
}

/// Checks that each kind of instance occurs. Otherwise the other tests of this file would check little.
#[test]
fn the_instances_are_of_every_kind() {
    use proptest::strategy::{Strategy, ValueTree};
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let instances: Vec<Instance> =
        (0..400).map(|_| Draft::instance(&drafts().new_tree(&mut runner).unwrap().current(), 1)).collect();
    for scheduler in schedulers() {
        let supported = instances.iter().filter(|instance| scheduler.supports(instance).is_ok()).count();
        assert!(supported >= 10, "{} plans only {supported}", scheduler.name());
    }
    let count = |is: &dyn Fn(&Instance) -> bool| instances.iter().filter(|instance| is(instance)).count();
    let kinds = [
        ("two jobs", count(&|instance| instance.jobs().len() == 2)),
        ("five tasks", count(&|instance| instance.tasks() == 5)),
        ("edges", count(&|instance| instance.edges().len() >= 3)),
        ("a network", count(&|instance| instance.platform().interconnect().is_some())),
        ("local transfers", count(&|instance| instance.platform().has_local_transfers())),
        ("speeds", count(&|instance| !instance.platform().has_unit_speed())),
        ("times of machines", count(&Instance::has_machine_times)),
        ("closed periods", count(&|instance| !instance.unavailable().is_empty())),
        ("deadlines", count(&Instance::has_deadlines)),
        ("release dates", count(&Instance::has_release_dates)),
        ("nodes of two", count(&|instance| instance.platform().nodes().iter().any(|node| node.processors == 2))),
    ];
    for (kind, count) in kinds {
        assert!(count >= 20, "{kind}: only {count}");
    }
}
