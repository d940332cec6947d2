//! One property harness over the whole catalogue. An algorithm that is added to the catalogue is tested here without
//! further work.
//!
//! The harness takes every representative of every entry, on random small instances of every kind. Every supported
//! instance must get a valid plan. No value of the plan may be below a verified bound, or above the guaranteed multiple
//! of the exact optimum. `harness::optimum` finds this optimum by brute force. The seed, the number of threads and the
//! names may only have their documented effects. If all times are scaled, the plan must be scaled by the same factor.

use crate::harness;

use harness::draft::{Draft, drafts, exact_drafts};
use harness::optimum::optimum;
use harness::{plan, representatives};
use makespan_algos::Scheduler;
use makespan_core::{Instance, Job, Objective, Placement, Schedule, SimpleJob, Time, validate};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

fn check_validity(scheduler: &dyn Scheduler, instance: &Instance, schedule: &Schedule) -> TestCaseResult {
    let verdict = validate(instance, schedule);
    prop_assert!(verdict.is_ok(), "{}: {:?}\n{schedule:?}", scheduler.name(), verdict);
    Ok(())
}

/// Checks that a plan is valid, and that each of its values is at least the optimum and within the guarantee.
fn check_values(scheduler: &dyn Scheduler, instance: &Instance, optima: &[i128]) -> TestCaseResult {
    let name = scheduler.name();
    let (schedule, _) = plan(scheduler, instance, 1);
    check_validity(scheduler, instance, &schedule)?;
    for (&objective, &optimum) in Objective::OF_TIME.iter().zip(optima) {
        let value = objective.value(instance, &schedule);
        prop_assert!(value >= optimum, "{name}: {objective} {value} is below the optimum {optimum} of the brute force");
        if let Some(guarantee) = scheduler.guarantee(instance, objective) {
            prop_assert!(
                guarantee.holds(value, optimum),
                "{name}: {objective} {value} is above {guarantee} times the optimum {optimum}\n{schedule:?}"
            );
        }
    }
    Ok(())
}

fn check_bounds(instance: &Instance, optima: &[i128]) -> TestCaseResult {
    for bound in harness::bounds::all(instance) {
        prop_assert_eq!(bound.verify(instance), Ok(()));
        let at = Objective::OF_TIME.iter().position(|&objective| objective == bound.objective).unwrap();
        prop_assert!(bound.value.integer() <= optima[at], "{:?} is above the optimum {}", bound, optima[at]);
    }
    Ok(())
}

fn check_repeatable(scheduler: &dyn Scheduler, instance: &Instance, renamed: &Instance, seed: u64) -> TestCaseResult {
    let name = scheduler.name();
    let first = plan(scheduler, instance, seed);
    let together: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| plan(scheduler, instance, seed))).collect();
        threads.into_iter().map(|thread| thread.join().expect("the plan is made without a panic")).collect()
    });
    for again in together {
        prop_assert_eq!(&first, &again, "{}: the same seed gives the same plan on any thread", name);
    }
    let (other, _) = plan(scheduler, renamed, seed);
    prop_assert_eq!(&first.0, &other, "{}: a name changes nothing", name);
    // Another seed may give another plan, but the plan must be valid.
    check_validity(scheduler, instance, &plan(scheduler, instance, seed.wrapping_add(1)).0)
}

fn renamed(instance: &Instance, which: usize) -> Instance {
    let mut jobs: Vec<Job> = instance.ids().map(|id| instance.submitted(id)).collect();
    let which = which % jobs.len();
    jobs[which].name = "~ renamed; sorts after all others".into();
    instance.with_jobs(jobs)
}

fn scaled(schedule: &Schedule, factor: i64) -> Schedule {
    let times = |time: Time| Time::from_ticks(time.ticks() * factor);
    let scale = |placement: &Placement| Placement {
        start: times(placement.start),
        end: times(placement.end),
        ..placement.clone()
    };
    Schedule::new(schedule.placements().iter().map(scale).collect())
}

fn supported<'a>(
    schedulers: &'a [Box<dyn Scheduler>],
    instance: &'a Instance,
) -> impl Iterator<Item = &'a dyn Scheduler> {
    schedulers.iter().map(AsRef::as_ref).filter(|scheduler| scheduler.supports(instance).is_ok())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::cases(500), ..ProptestConfig::default() })]

    #[test]
    fn values_stand_between_the_bounds_and_the_guarantees(draft in drafts()) {
        let instance = draft.instance(1);
        let optima = Objective::OF_TIME.map(|objective| optimum(&instance, objective));
        check_bounds(&instance, &optima)?;
        for scheduler in supported(&representatives(), &instance) {
            check_values(scheduler, &instance, &optima)?;
        }
    }

    #[test]
    fn a_plan_depends_on_figures_and_seed_only(draft in drafts(), seed in any::<u64>(), which in 0_usize..6) {
        let instance = draft.instance(1);
        let renamed = renamed(&instance, which);
        for scheduler in supported(&representatives(), &instance) {
            check_repeatable(scheduler, &instance, &renamed, seed)?;
        }
    }

    /// Checks that the choice of the unit of time does not matter. If values are rounded to ticks, the results may
    /// differ for finer ticks. So the exact statement holds for instances without rounding: all halves and means that
    /// an algorithm computes are whole (`EXACT_UNIT`), and a power of two changes only the exponent of a float. Then
    /// each comparison has the same result, and the plan in finer ticks is the same plan, placement by placement.
    #[test]
    fn scaling_all_times_scales_the_plan(draft in exact_drafts(), power in 1_u32..12) {
        let factor = 1 << power;
        let (instance, finer) = (draft.instance(1), draft.instance(factor));
        for scheduler in supported(&representatives(), &instance) {
            let (schedule, _) = plan(scheduler, &instance, 7);
            let (in_finer, _) = plan(scheduler, &finer, 7);
            let scaled = scaled(&schedule, factor);
            prop_assert_eq!(scaled.placements(), in_finer.placements(), "{} by {}", scheduler.name(), factor);
            let groups = |schedule: &Schedule| -> Vec<Option<String>> {
                (0..schedule.placements().len()).map(|at| schedule.group(at).map(str::to_owned)).collect()
            };
            prop_assert_eq!(groups(&schedule), groups(&in_finer), "{} by {}", scheduler.name(), factor);
        }
    }

    /// Checks scaled instances with rounding. Each plan scales to a valid plan, and the plan in finer ticks is within
    /// the same guarantee.
    #[test]
    fn scaled_instances_are_planned_as_well(draft in drafts(), factor in 2_i64..1000) {
        let (instance, finer) = (draft.instance(1), draft.instance(factor));
        for scheduler in supported(&representatives(), &instance) {
            let (schedule, _) = plan(scheduler, &instance, 7);
            if draft.is_measured() {
                check_validity(scheduler, &finer, &scaled(&schedule, factor))?;
            }
            prop_assert!(scheduler.supports(&finer).is_ok(), "{} supports only one unit of time", scheduler.name());
            check_validity(scheduler, &finer, &plan(scheduler, &finer, 7).0)?;
            let makespan = |instance| scheduler.guarantee(instance, Objective::Makespan);
            prop_assert_eq!(makespan(&instance).is_some(), makespan(&finer).is_some());
        }
    }

    /// Checks that best-effort bags do not affect the other jobs: all other jobs have the placements of a plan without
    /// these bags.
    #[test]
    fn best_effort_delays_nobody(draft in drafts()) {
        let instance = draft.instance(1);
        let others = competing(&instance);
        if others.jobs().len() < instance.jobs().len() {
            for scheduler in supported(&representatives(), &instance) {
                let (with, _) = plan(scheduler, &instance, 5);
                let (without, _) = plan(scheduler, &others, 5);
                let (with, without) = (competing_placements(&instance, &with), competing_placements(&others, &without));
                prop_assert_eq!(with, without, "{}", scheduler.name());
            }
        }
    }

    #[test]
    fn the_least_makespan_scales_in_the_brute_force(draft in exact_drafts()) {
        for objective in Objective::OF_TIME {
            prop_assert_eq!(optimum(&draft.instance(1), objective) * 8, optimum(&draft.instance(8), objective));
        }
    }
}

/// Returns the instance of the jobs that are not best-effort bags.
fn competing(instance: &Instance) -> Instance {
    let competing = instance.ids().filter(|&id| !instance.job(id).is_best_effort());
    instance.with_jobs(competing.map(|id| instance.submitted(id)).collect())
}

fn competing_placements(instance: &Instance, schedule: &Schedule) -> Vec<(String, Time, Time, String)> {
    let kept = schedule.placements().iter().filter(|placement| !instance.job_of(placement.task).is_best_effort());
    let one = |placement: &Placement| {
        let name = instance.name(placement.task).into_owned();
        (name, placement.start, placement.end, placement.processors.to_string())
    };
    kept.map(one).collect()
}

/// Checks that each kind of instance occurs. Otherwise, the properties above would be tested on too few kinds.
#[test]
fn the_instances_are_of_every_kind() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut draw = || drafts().new_tree(&mut runner).unwrap().current();
    let instances: Vec<Instance> = (0..600).map(|_| Draft::instance(&draw(), 1)).collect();
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    let mut count = |kind, is: &dyn Fn(&Instance) -> bool| {
        kinds.push((kind, instances.iter().filter(|instance| is(instance)).count()));
    };
    let all = |instance: &Instance, is: &dyn Fn(SimpleJob<'_>) -> bool| instance.simple_jobs().all(is);
    let any = |instance: &Instance, is: &dyn Fn(SimpleJob<'_>) -> bool| instance.simple_jobs().any(is);
    count("monotone", &|instance| all(instance, &|job| job.profile().is_monotone()));
    count("no monotone job", &|instance| !any(instance, &|job| job.profile().is_monotone()));
    count("all rigid", &|instance| all(instance, &|job| job.profile().is_rigid()));
    count("dominated allotments", &|instance| any(instance, &|job| job.profile().dominated() > 0));
    count("laws", &|instance| any(instance, &|job| job.profile().speedup().is_some()));
    count("weightless", &|instance| any(instance, &|job| job.weight.millionths() == 0));
    count("deadlines", &Instance::has_deadlines);
    count("release dates", &Instance::has_release_dates);
    count("all late", &|instance| instance.first_release() > Time::ZERO && !instance.has_release_dates());
    count("closed periods", &|instance| !instance.availability().is_always_open());
    let compact = |instance: &Instance| instance.platform().restricts_placement();
    count("best placement", &compact);
    count("best placement, monotone, offline", &|instance| {
        let offline = !instance.has_release_dates() && instance.availability().is_always_open();
        compact(instance) && offline && all(instance, &|job| job.profile().is_monotone())
    });
    count("best-effort bags", &|instance| any(instance, &|job| job.is_best_effort() && job.tasks() > 1));
    count("competing bags", &|instance| any(instance, &|job| job.tasks() > 1 && !job.is_best_effort()));
    count("bags only", &|instance| all(instance, &|job| job.is_bag()));
    count("six jobs", &|instance| instance.jobs().len() == 6);
    count("one processor", &|instance| instance.processors() == 1);
    let schedulers = representatives();
    for scheduler in &schedulers {
        let supported = instances.iter().filter(|instance| scheduler.supports(instance).is_ok()).count();
        assert!(supported > 0, "{} supports none of the instances, so nothing tests it", scheduler.name());
    }
    for (kind, count) in kinds {
        assert!(count >= 20, "{kind}: only {count} of {}", instances.len());
    }
}
