//! Tests of deadlines that every plan must keep.

use makespan_algos::policy::policy_for;
use makespan_algos::{Context, ScheduleError, catalogue, scheduler};
use makespan_core::{Instance, Job, Objective, Platform, Profile, Time, Weight, validate};
use proptest::prelude::*;

/// The release, the time, the deadline (0: none) and the weight of a job, in seconds.
type Row = (i64, i64, i64, u64);

fn instance(rows: &[Row], processors: u32) -> Instance {
    let second = Time::from_seconds;
    let job = |(at, &(release, time, end, weight)): (usize, &Row)| Job {
        must_end_by: (end > 0).then(|| second(release + time.max(end))),
        weight: Weight::from_millionths(weight * 1_000_000).unwrap(),
        release: second(release),
        ..Job::new(at.to_string(), Profile::rigid(1, second(time)).unwrap())
    };
    let jobs = rows.iter().enumerate().map(job).collect();
    Instance::new(Platform::flat(processors).unwrap(), jobs, vec![]).unwrap()
}

/// Returns the minimum weighted completion of all orders of the jobs on one processor that keep the deadlines, in
/// seconds. Returns `None` if no order keeps them.
fn optimum(instance: &Instance, rows: &[Row]) -> Option<i64> {
    fn next(instance: &Instance, rows: &[Row], used: &mut Vec<bool>, now: i64, cost: i64) -> Option<i64> {
        if used.iter().all(|&used| used) {
            return Some(cost);
        }
        let mut best = None;
        for at in 0..rows.len() {
            let end = now.max(rows[at].0) + rows[at].1;
            let keeps = instance.jobs()[at].must_end_by.is_none_or(|by| Time::from_seconds(end) <= by);
            if !used[at] && keeps {
                used[at] = true;
                let found = next(instance, rows, used, end, cost + end * rows[at].3 as i64);
                used[at] = false;
                best = match (best, found) {
                    (Some(best), Some(found)) => Some(std::cmp::min::<i64>(best, found)),
                    (best, found) => best.or(found),
                };
            }
        }
        best
    }
    next(instance, rows, &mut vec![false; rows.len()], 0, 0)
}

fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec((0_i64..6, 1_i64..6, prop_oneof![Just(0_i64), 1_i64..16], 0_u64..4), 1..=most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(60)))]

    /// Checks that `optimise` finds the best plan of tiny instances on one processor, and proves infeasibility only if
    /// no order of the jobs is feasible.
    #[test]
    fn optimise_keeps_deadlines_if_possible(rows in rows(5)) {
        let instance = instance(&rows, 1);
        let best = optimum(&instance, &rows);
        let spec = "optimise[steps=1000,searches=1]";
        match scheduler(spec).unwrap().schedule(&instance, &mut Context::with_seed(1)) {
            Ok(plan) => {
                let schedule = plan.into_schedule().unwrap();
                prop_assert_eq!(validate(&instance, &schedule), Ok(()));
                let value = Objective::WeightedCompletion.value(&instance, &schedule);
                prop_assert_eq!(Some(value), best.map(|best| i128::from(best) * 1_000_000_000_000_000));
            }
            Err(ScheduleError::Infeasible { .. } | ScheduleError::DeadlineNotKept { .. }) => {
                prop_assert_eq!(best, None);
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    /// Checks that each algorithm and policy keeps deadlines or refuses them.
    #[test]
    fn deadlines_are_kept_or_refused(rows in rows(8), processors in 1_u32..4) {
        let instance = instance(&rows, processors);
        prop_assume!(instance.has_hard_deadlines());
        for entry in catalogue() {
            for spec in entry.kind.representatives {
                let scheduler = scheduler(spec).unwrap();
                let knows = scheduler.for_hard_deadlines().is_some();
                match scheduler.schedule(&instance, &mut Context::with_seed(1)) {
                    Ok(plan) => {
                        prop_assert!(knows, "{spec}");
                        for schedule in plan.schedules() {
                            prop_assert_eq!(validate(&instance, schedule), Ok(()));
                        }
                    }
                    Err(ScheduleError::Unsupported { .. }) => {}
                    Err(other) => prop_assert!(knows, "{other}"),
                }
            }
        }
        prop_assert!(policy_for("easy", &instance, 1).is_err());
    }
}

#[test]
fn messages_state_whether_no_plan_exists() {
    let two = instance(&[(0, 5, 5, 1), (0, 5, 5, 1)], 1);
    let error =
        |spec: &str| scheduler(spec).unwrap().schedule(&two, &mut Context::with_seed(1)).unwrap_err().to_string();
    for spec in ["list", "optimise[steps=50]"] {
        assert!(
            error(spec).contains("a bound proves that in every plan, some job ends at least 5 s too late"),
            "{spec}"
        );
    }
    assert!(error("demt").contains("job `0` states `must_end_by`; plan with `list`"), "{}", error("demt"));
}
