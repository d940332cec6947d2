//! Tests of the complete search for penalties, against all orders of the jobs.

use makespan_core::{
    EndPenalty, Instance, Job, Objective, PenaltyForm, Platform, Profile, ScheduleBuilder, Time, Weight,
};
use proptest::prelude::*;

use super::super::{CompleteWork, search, unsupported};
use crate::Clock;

/// The release, the time, the due date and the weight of a job on one processor.
type Row = (i64, i64, i64, u64);

fn instance(rows: &[Row]) -> Instance {
    let second = Time::from_seconds;
    let job = |(at, &(release, time, due, weight)): (usize, &Row)| {
        let points = vec![(second(due), Weight::ONE), (second(due + 3), Weight::parse("2.5").unwrap())];
        Job::new(at.to_string(), Profile::rigid(1, second(time)).unwrap())
            .with_release(second(release))
            .with_deadline(second(due.max(release)))
            .with_weight(Weight::from_millionths(weight * 1_000_000).unwrap())
            .with_penalty(EndPenalty::new(PenaltyForm::Steps, points).unwrap())
    };
    let jobs = rows.iter().enumerate().map(job).collect();
    Instance::new(Platform::flat(1).unwrap(), jobs, vec![]).unwrap()
}

/// Returns the least value over all orders of the jobs.
fn optimum(instance: &Instance, objective: Objective, order: &mut Vec<usize>) -> i128 {
    let tasks = instance.tasks() as usize;
    if order.len() == tasks {
        let mut builder = ScheduleBuilder::new(instance);
        let mut now = Time::ZERO;
        for &at in order.iter() {
            let task = makespan_core::TaskId::at(at);
            now = now.max(instance.release(task));
            builder.place_earliest(task, 1, now);
            now += instance.profile(task).time(1);
        }
        return objective.value(instance, &builder.finish());
    }
    let mut best = i128::MAX;
    for at in 0..tasks {
        if !order.contains(&at) {
            order.push(at);
            best = best.min(optimum(instance, objective, order));
            order.pop();
        }
    }
    best
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_least_penalty_is_found_and_proved(rows in prop::collection::vec((0_i64..6, 1_i64..6, 2_i64..16, 1_u64..4), 1..=6)) {
        let instance = instance(&rows);
        let mut builder = ScheduleBuilder::new(&instance);
        instance.task_ids().for_each(|task| {
            builder.place_earliest(task, 1, instance.release(task));
        });
        let known = builder.finish();
        let objectives =
            [Objective::TardyJobs, Objective::WeightedTardyJobs, Objective::TotalPenalty, Objective::MaxPenalty];
        for objective in objectives {
            prop_assert_eq!(unsupported(&instance, objective), None);
            let work = CompleteWork { clock: &Clock::ENDLESS, conflicts: 100_000 };
            let completed = search(&instance, objective, &known, None, work);
            let best = optimum(&instance, objective, &mut Vec::new());
            let value = objective.value(&instance, completed.schedule.as_ref().unwrap_or(&known));
            prop_assert_eq!(value, best, "{}", objective);
            if best > 0 {
                let bound = completed.bound.unwrap();
                prop_assert_eq!((bound.value.integer(), bound.verify(&instance)), (best, Ok(())), "{}", objective);
            }
        }
    }
}
