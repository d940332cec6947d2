//! Tests of the policy `improve`. The policy must follow a given plan exactly, must not delay any task forever, and
//! must improve its plan during a run.

use makespan_core::{
    Cluster, Decision, Event, Instance, Job, Objective, Placement, Platform, Policy, Profile, Schedule, SpeedupLaw,
    Time, Weight, validate,
};
use proptest::prelude::*;

use super::alike::are_alike;
use super::*;
use crate::plan::Context;
use crate::policy::play::{PolicySimulation, WIDE, a_wide_job_among_narrow_ones};

/// A job: its width or parallelism, its time, its weight, and whether it is moldable.
type Row = (u32, i64, u64, bool);

fn instance(rows: &[Row]) -> Instance {
    let job = |(index, &(width, time, weight, moldable)): (usize, &Row)| {
        let time = Time::from_ticks(time);
        let law = SpeedupLaw::Downey { parallelism: f64::from(width), sigma: 0.5 };
        let profile = if moldable { Profile::law(time, law, 1, 8) } else { Profile::rigid(width, time) };
        let weight = Weight::from_millionths(weight * Weight::MILLIONTHS).unwrap();
        Job::new(index.to_string(), profile.unwrap()).with_weight(weight)
    };
    Instance::new(Platform::flat(8).unwrap(), rows.iter().enumerate().map(job).collect(), vec![]).unwrap()
}

fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec((1_u32..9, 1_i64..400, 1_u64..9, any::<bool>()), 1..most)
}

fn played(instance: &Instance, policy: &mut Improve) -> Vec<Placement> {
    PolicySimulation::starts(instance, policy, &|task, on| instance.time(task, on))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Checks that if estimates are exact, the execution of a given plan is not worse than the plan, with or without a
    /// search.
    #[test]
    fn a_plan_that_is_followed_gets_no_worse(rows in rows(14), steps in prop::sample::select(vec![0_u64, 40, 400])) {
        let instance = instance(&rows);
        let objective = Objective::WeightedCompletion;
        for spec in ["list[order=smith]", "demt[shuffles=2]", "optimise[steps=60,searches=1]"] {
            let plan = crate::scheduler(spec).unwrap().schedule(&instance, &mut Context::with_seed(1)).unwrap();
            let plan = plan.into_schedule().unwrap();
            let mut policy = Improve::following(Improving { steps, ..Improving::default() }, 1, &plan);
            let happened = Schedule::new(played(&instance, &mut policy));
            prop_assert_eq!(validate(&instance, &happened), Ok(()), "{}", spec);
            let (before, after) = (objective.value(&instance, &plan), objective.value(&instance, &happened));
            prop_assert!(after <= before, "{}: {} after {}", spec, after, before);
        }
    }

    /// Checks that with a background thread, the result is a schedule of all tasks. The plans of the thread, and the
    /// times at which the thread finds them, must not matter.
    #[test]
    fn a_search_in_the_background_loses_nothing(rows in rows(20)) {
        let instance = instance(&rows);
        let mut policy = Improve::new(Improving { steps: 5, ..Improving::default() }, 1).in_background(1.0);
        let happened = Schedule::new(played(&instance, &mut policy));
        prop_assert_eq!(validate(&instance, &happened), Ok(()));
    }
}

#[test]
fn a_wide_job_is_not_put_off_for_ever() {
    let seconds = Time::from_seconds;
    let instance = a_wide_job_among_narrow_ones();
    let start = |keep: KeptStart| {
        let mut policy = Improve::new(Improving { keep, steps: 200, ..Improving::default() }, 1);
        played(&instance, &mut policy).iter().find(|at| at.task == WIDE).unwrap().start
    };
    assert!(start(KeptStart::Oldest) <= seconds(150), "{}", start(KeptStart::Oldest));
    assert!(start(KeptStart::None) > seconds(450), "{}", start(KeptStart::None));
}

/// Checks that the policy requests a wake-up although no event will occur, and has a better plan when it wakes up.
#[test]
fn what_is_found_in_the_background_is_taken() {
    let second = Time::from_seconds(1).ticks();
    let time = |at: u32| (1_000 + i64::from(at) * 7919 % 5_000) * second;
    let rows: Vec<Row> = (0..60).map(|at| (1 + at * 5 % 8, time(at), 1 + u64::from(at) % 7, true)).collect();
    let instance = instance(&rows);
    let mut cluster = Cluster::new(&instance);
    assert!(instance.task_ids().all(|task| cluster.submit(task)));
    let mut policy = Improve::new(Improving { steps: 0, ..Improving::default() }, 1).in_background(1.0);
    let mut events: Vec<Event> = instance.task_ids().map(Event::Submitted).collect();
    let mut first = None;
    // The policy has four seconds to find a better plan. Usually a few milliseconds suffice. On the clock of the cluster, each
    // round takes a second, so that the search begins.
    for round in 1..200 {
        let mut decisions = Vec::new();
        policy.on(&events, &cluster.view(), &mut decisions);
        for decision in decisions {
            if let Decision::Start { task, processors } = decision {
                cluster.start(task, processors).unwrap();
            }
        }
        let mut skyline = Outlook::of(&cluster.view(), Time::ZERO).skyline;
        let reserved = policy.kept.schedule(&mut skyline);
        let cost = |(&number, at): (&u32, &Reservation)| {
            policy.kept.residual.wishes[number as usize].weight * at.end.ticks() as f64
        };
        let value: f64 = policy.kept.plan.order.iter().zip(&reserved).map(cost).sum();
        if value < *first.get_or_insert(value) {
            return;
        }
        events = vec![Event::Wake];
        cluster.advance(Time::from_ticks(round * second));
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("nothing better was taken");
}

/// Checks that equal tasks start in their order under any given plan. Checks that the policy plans when one task
/// differs.
#[test]
fn tasks_that_are_alike_start_in_their_order() {
    let alike = [(1, 50, 1, false); 20];
    let mut rows = alike.to_vec();
    rows.push((4, 900, 1, false));
    for (rows, is_alike) in [(alike.to_vec(), true), (vec![(3, 7, 2, false); 9], true), (rows, false)] {
        let instance = instance(&rows);
        let tasks: Vec<TaskId> = instance.task_ids().collect();
        assert_eq!(are_alike(&instance, tasks.iter().copied()), is_alike);
        let plan = crate::scheduler("optimise[steps=60,searches=1]").unwrap();
        let plan = plan.schedule(&instance, &mut Context::with_seed(1)).unwrap().into_schedule().unwrap();
        let mut policy = Improve::following(Improving::default(), 1, &plan);
        let mut placements = played(&instance, &mut policy);
        assert_eq!(policy.kept.has_begun(), !is_alike);
        placements.sort_by_key(|at| (at.start, at.task));
        let order: Vec<TaskId> = placements.iter().map(|at| at.task).collect();
        assert!(!is_alike || order == tasks, "{order:?}");
        assert_eq!(validate(&instance, &Schedule::new(placements)), Ok(()));
    }
    let moldable = instance(&[(4, 50, 1, true); 3]);
    assert!(!are_alike(&moldable, moldable.task_ids()));
}
