//! Tests of limits on the makespan and on the time, for any instance and objective.

use makespan_algos::scheduler;
use makespan_algos::{Context, ScheduleError};
use makespan_bounds::{Clock, best_by};
use makespan_core::{Instance, Objective, Placement, Time, validate};
use makespan_verify::Bound;
use proptest::prelude::*;

use super::draft::draft;
use super::filled;

/// The objectives that are minimised under a limit.
const OBJECTIVES: [&str; 6] =
    ["weighted-completion", "mean-flow", "max-tardiness", "weighted-tardiness", "cost", "pareto"];

/// Returns the largest of these bounds on a makespan.
fn largest(bounds: &[Bound]) -> Option<Time> {
    bounds.iter().filter(|bound| bound.objective == Objective::Makespan).map(Bound::ticks).max()
}

/// Returns the largest proven bound on the makespan that is reported with a plan, or that is proved for the competing
/// jobs.
fn told(instance: &Instance, context: &Context) -> Time {
    let filled = filled(instance);
    let others = instance.ids().filter(|id| !filled.contains(id)).map(|id| instance.submitted(id));
    let proved = |instance: &Instance| makespan_bounds::best(instance, Objective::Makespan).unwrap().ticks();
    let of_others = if filled.is_empty() { Time::ZERO } else { proved(&instance.with_jobs(others.collect())) };
    of_others.max(largest(&context.bounds).unwrap_or_else(|| proved(instance)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::cases(300), ..ProptestConfig::default() })]

    /// Checks that every returned schedule is within the limit, which is a multiple of the reported bound. The limit
    /// does not apply to best-effort bags. If there is no such schedule, the error states this.
    #[test]
    fn what_comes_back_keeps_the_limit(draft in draft(), percent in prop::sample::select(vec![100_u32, 105, 110, 130, 200])) {
        let instance = draft.instance(1).unwrap();
        let filled = filled(&instance);
        for objective in OBJECTIVES {
            let factor = f64::from(percent) / 100.0;
            let spec = format!("optimise[objective={objective},makespan-at-most={factor},steps=40,searches=1]");
            let scheduler = scheduler(&spec).unwrap();
            if scheduler.supports(&instance).is_err() {
                continue;
            }
            let mut context = Context::with_seed(3);
            match scheduler.schedule(&instance, &mut context) {
                Ok(plan) => {
                    let told = told(&instance, &context);
                    let counts = |one: &&Placement| !filled.contains(&instance.job_id(one.task));
                    for schedule in plan.schedules() {
                        let end = schedule.placements().iter().filter(counts).map(|one| one.end).max().unwrap_or_default();
                        let within = end.ticks() * 100 <= told.ticks() * i64::from(percent);
                        prop_assert!(within, "{}: {} against {}", spec, end, told);
                    }
                }
                Err(ScheduleError::NotFound { limit, floor, reached, .. }) => {
                    prop_assert!(reached > limit && limit >= floor, "{}: {} {} {}", spec, reached, limit, floor);
                }
                Err(error) => prop_assert!(error.to_string().contains("enough of `budget` for all tasks"), "{}", error),
            }
        }
    }

    /// Checks that a search for bounds ends when its time is over, at any point, and that its bounds are valid. After
    /// this point, the clock is queried at most about as often as in a single pass over the jobs.
    #[test]
    fn bounds_end_with_their_clock(draft in draft(), questions in prop::sample::select(vec![0_u32, 1, 2, 5, 20, 100, 1000])) {
        let instance = draft.instance(1).unwrap();
        let schedule = scheduler("list").unwrap().schedule(&instance, &mut Context::with_seed(1));
        let schedule = schedule.ok().and_then(makespan_algos::Plan::into_schedule);
        for objective in Objective::OF_TIME {
            let clock = Clock::of_questions(questions);
            let bound = best_by(&instance, objective, &clock).unwrap();
            prop_assert_eq!(bound.verify(&instance), Ok(()));
            let late = clock.asked_late();
            prop_assert!(late <= 300 + 10 * instance.jobs().len() as u64, "{}: asked {} times too late", objective, late);
            if let Some(schedule) = &schedule {
                prop_assert!(bound.value.integer() <= objective.value(&instance, schedule));
            }
        }
    }

    /// Checks that there is a valid plan even without any time, and that its bounds hold.
    #[test]
    fn without_time_there_is_a_plan_with_bounds(draft in draft()) {
        let instance = draft.instance(1).unwrap();
        for objective in OBJECTIVES.into_iter().chain(["makespan"]) {
            let scheduler = scheduler(&format!("optimise[objective={objective},time-limit=0.000000001,searches=1]")).unwrap();
            if scheduler.supports(&instance).is_err() {
                continue;
            }
            let mut context = Context { prove: true, ..Context::with_seed(3) };
            let Ok(plan) = scheduler.schedule(&instance, &mut context) else { continue };
            for schedule in plan.schedules() {
                prop_assert_eq!(validate(&instance, schedule), Ok(()));
            }
            for bound in &context.bounds {
                prop_assert_eq!(bound.verify(&instance), Ok(()));
            }
        }
    }
}
