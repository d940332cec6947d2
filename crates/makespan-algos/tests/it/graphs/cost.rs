//! Tests of the cost of graphs. Accepted bounds are valid for any prices. Plans that meet their deadlines almost always
//! have the least cost.

use makespan_algos::scheduler;
use makespan_algos::{Context, ScheduleError};
use makespan_core::{Instance, Job, JobId, Objective, Schedule, Time, validate};
use makespan_verify::proof::CostPrices;
use makespan_verify::{Bound, Proof};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use super::draft::drafts;
use super::optimum::{costs, least_late, optima};

/// Returns the least cost of a schedule that ends by an instant.
fn least(front: &[(Time, i128)], horizon: Time) -> Option<i128> {
    front.iter().rev().find(|(end, _)| *end <= horizon).map(|&(_, cost)| cost)
}

fn check(instance: &Instance, front: &[(Time, i128)], certificate: CostPrices) -> TestCaseResult {
    let horizon = certificate.horizon.unwrap();
    let Ok(bound) = Bound::proved_by(Objective::Cost, Proof::CostPrices(certificate), instance) else {
        return Ok(());
    };
    let least = least(front, horizon);
    prop_assert!(least.is_none_or(|least| bound.value.integer() <= least), "{:?} is above {:?}", bound, least);
    prop_assert_eq!(bound.verify(instance), Ok(()));
    let higher = Bound { value: (bound.value.integer() + 1).into(), ..bound.clone() };
    prop_assert!(higher.verify(instance).is_err());
    for makespan_at_most in [None, Some(horizon + Time::TICK)] {
        let other = Bound { makespan_at_most, ..bound.clone() };
        prop_assert!(other.verify(instance).is_err());
    }
    Ok(())
}

/// Returns the instance with a deadline for every compound job, and the instant by which each job must end: its
/// deadline, or 1.5 times its shortest time.
fn with_deadlines(instance: &Instance, deadlines: &[i64]) -> (Instance, Vec<Time>) {
    let given = |(id, &deadline): (JobId, &i64)| {
        let job = instance.submitted(id);
        let deadline = instance.job(id).is_compound().then(|| job.release + Time::from_ticks(deadline));
        Job { deadline, ..job }
    };
    let jobs: Vec<Job> = instance.ids().zip(deadlines).map(given).collect();
    let instance = Instance::new(instance.platform().clone(), jobs, instance.unavailable().to_vec()).unwrap();
    let end = |id: JobId| {
        let job = instance.job(id);
        let nodes = 0..instance.platform().nodes().len();
        let shortest = || nodes.filter_map(|node| instance.time_on(job.first(), node)).min().unwrap();
        let half_more = || job.release + Time::from_ticks((shortest().ticks() as f64 * 1.5).ceil() as i64);
        job.deadline.unwrap_or_else(half_more)
    };
    let ends = instance.ids().map(end).collect();
    (instance, ends)
}

fn late(instance: &Instance, schedule: &Schedule, ends: &[Time]) -> usize {
    let is_late = |id: &JobId| {
        let job = instance.job(*id);
        let own = schedule.placements().iter().filter(|placement| job.has_task(placement.task));
        own.map(|placement| placement.end).max() > Some(ends[id.index()])
    };
    instance.ids().filter(is_late).count()
}

/// Returns a limit of `percent` hundredths of the bound on the makespan, and the result of a search under this limit.
fn limited(instance: &Instance, percent: u32) -> (Time, Result<Schedule, ScheduleError>) {
    let floor = makespan_bounds::best(instance, Objective::Makespan).unwrap().value.integer();
    let factor = f64::from(percent) / 100.0;
    let spec = format!("optimise[objective=cost,makespan-at-most={factor},steps=4000,searches=2]");
    let plan = scheduler(&spec).unwrap().schedule(instance, &mut Context::with_seed(1));
    (Time::from_ticks((floor as f64 * factor) as i64), plan.map(|plan| plan.into_schedule().unwrap()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::cases(200), ..ProptestConfig::default() })]

    #[test]
    fn plans_are_in_time_and_stand_above_the_optimum(draft in drafts(), deadlines in prop::collection::vec(8_i64..120, 2)) {
        let (instance, ends) = with_deadlines(&draft.instance(1), &deadlines);
        let (least_late, least) = least_late(&instance, &ends);
        let planned = |spec: &str| {
            let mut context = Context::with_seed(1);
            let schedule = scheduler(spec).unwrap().schedule(&instance, &mut context).unwrap().into_schedule().unwrap();
            (schedule, context)
        };
        let (schedule, context) = planned("optimise[objective=cost,steps=4000,searches=2]");
        prop_assert_eq!(validate(&instance, &schedule), Ok(()));
        let (cost, late_jobs) = (Objective::Cost.value(&instance, &schedule), late(&instance, &schedule, &ends));
        for bound in context.bounds.iter().filter(|bound| bound.speaks_of(&schedule)) {
            prop_assert_eq!(bound.verify(&instance), Ok(()));
            prop_assert!(bound.value.integer() <= bound.objective.value(&instance, &schedule));
        }
        prop_assert!(late_jobs >= least_late);
        if late_jobs == 0 {
            prop_assert!(cost >= least, "{cost} of {least}, {draft:?}");
        }
        let (other, _) = planned("critical-jobs");
        prop_assert!(late_jobs <= late(&instance, &other, &ends));
        let remarked = context.remarks.iter().any(|remark| remark.starts_with("no schedule was found that meets all \
                                                                               stated and assumed deadlines"));
        prop_assert_eq!(remarked, late_jobs > 0);
    }

    #[test]
    fn a_limit_on_the_makespan_is_kept_or_refused(draft in drafts(), percent in 100_u32..300) {
        let instance = draft.instance(1);
        let (limit, plan) = limited(&instance, percent);
        let least = least(&costs(&instance), limit);
        match plan {
            Ok(schedule) => {
                prop_assert!(schedule.makespan() <= limit);
                prop_assert!(least.is_some_and(|least| Objective::Cost.value(&instance, &schedule) >= least));
            }
            Err(ScheduleError::NotFound { limit: stated, floor, reached, .. }) => {
                let [shortest, ..] = optima(&instance);
                prop_assert!(stated == limit && reached > limit && i128::from(floor.ticks()) <= shortest);
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::cases(300), ..ProptestConfig::default() })]

    #[test]
    fn bounds_under_a_horizon_are_true(draft in drafts()) {
        let instance = draft.instance(1);
        let front = costs(&instance);
        let horizons = front.iter().flat_map(|&(end, _)| [end - Time::TICK, end, end + Time::from_ticks(3)]);
        for horizon in horizons {
            let bound = makespan_bounds::cost::within(&instance, horizon, 60);
            prop_assert!(bound.is_some() || least(&front, horizon).is_none());
            let Some(Bound { proof: Proof::CostPrices(prices), .. }) = bound else { continue };
            prop_assert_eq!(prices.horizon, Some(horizon));
            check(&instance, &front, prices)?;
        }
    }

    #[test]
    fn no_prices_prove_too_much(
        draft in drafts(),
        which in any::<prop::sample::Index>(),
        instants in prop::collection::btree_set(0_i64..80, 1..5),
        drawn in prop::collection::vec(prop_oneof![Just(0_i64), 0_i64..900], 24),
        more in 0_i64..5,
    ) {
        let instance = draft.instance(1);
        let front = costs(&instance);
        let horizon = front[which.index(front.len())].0 + Time::from_ticks(more);
        let edges = instance.edges().len();
        let instants: Vec<Time> = instants.into_iter().map(Time::from_ticks).collect();
        let mut drawn = drawn.into_iter().cycle();
        let mut take = |count: usize| -> Vec<i64> { drawn.by_ref().take(count).collect() };
        let prices = (0..instance.platform().nodes().len()).map(|_| take(instants.len() - 1)).collect();
        check(&instance, &front, CostPrices { horizon: Some(horizon), instants, prices, edges: take(edges), scale: 2 })?;
    }
}

/// Checks many small instances with feasible deadlines. All plans meet their deadlines, and all but a few have the
/// least cost.
#[test]
fn nearly_all_plans_in_time_are_as_cheap_as_can_be() {
    use proptest::strategy::{Strategy, ValueTree};
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let drawn = (drafts(), prop::collection::vec(8_i64..120, 2));
    let (mut dear, mut all) = (0, 0);
    let spec = scheduler("optimise[objective=cost,steps=4000,searches=2]").unwrap();
    for _ in 0..600 {
        let (draft, deadlines) = drawn.new_tree(&mut runner).unwrap().current();
        let (instance, ends) = with_deadlines(&draft.instance(1), &deadlines);
        let (0, least) = least_late(&instance, &ends) else { continue };
        let schedule = spec.schedule(&instance, &mut Context::with_seed(1)).unwrap().into_schedule().unwrap();
        assert_eq!(late(&instance, &schedule, &ends), 0, "{draft:?}");
        all += 1;
        dear += usize::from(Objective::Cost.value(&instance, &schedule) > least);
    }
    assert!(all > 300 && dear * 200 <= all, "{dear} of {all} are dearer than they must be");
}

/// Checks many small instances with a limit that can be kept. All but a few plans keep the limit.
#[test]
fn nearly_every_limit_that_can_be_kept_is_kept() {
    use proptest::strategy::{Strategy, ValueTree};
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let drawn = (drafts(), 100_u32..300);
    let (mut missed, mut all) = (0, 0);
    for _ in 0..600 {
        let (draft, percent) = drawn.new_tree(&mut runner).unwrap().current();
        // Deadlines of the jobs would increase the cost.
        let instance = draft.instance(1);
        let jobs = instance.all_submitted().into_iter().map(|job| Job { deadline: None, ..job });
        let instance = instance.with_jobs(jobs.collect());
        let (limit, plan) = limited(&instance, percent);
        let Some(least) = least(&costs(&instance), limit) else { continue };
        all += 1;
        let good = |schedule: &Schedule| 10 * Objective::Cost.value(&instance, schedule) <= 15 * least;
        missed += usize::from(!plan.is_ok_and(|schedule| good(&schedule)));
    }
    assert!(all > 300 && missed * 200 <= all, "{missed} of {all} limits are missed, or kept at half as much again");
}
