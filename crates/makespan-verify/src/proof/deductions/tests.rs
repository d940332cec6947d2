use super::*;
use makespan_core::{
    Edge, Graph, Job, NamedTask, Need, Needs, Payload, Platform, ProcSet, Profile, Resources, Unavailable,
};

use crate::proof::Proof;

const UNIT: i64 = 10;

/// Returns a project. Each activity is a task on one processor, with a time in units and a need for the resource
/// `crew`. There are three units of `crew`.
fn project(activities: &[(i64, u64)], edges: &[(u32, u32)], closed: Vec<Unavailable>) -> Instance {
    let task = |(at, &(time, crew)): (usize, &(i64, u64))| {
        let mut task = NamedTask::new(at.to_string(), Profile::rigid(1, Time::from_ticks(time * UNIT)).unwrap());
        task.task.needs = Needs::new([("crew", Need::whole(crew))]).unwrap();
        task
    };
    let edge = |&(from, to): &(u32, u32)| Edge { from, to, payload: Payload::Bytes(0) };
    let graph =
        Graph::new(activities.iter().enumerate().map(task).collect(), edges.iter().map(edge).collect()).unwrap();
    let platform = Platform::flat(8).unwrap().with_licences(Resources::new([("crew", 3)]).unwrap()).unwrap();
    Instance::new(platform, vec![Job::compound("job", graph)], closed).unwrap()
}

fn deductions(deadline: i64, steps: Vec<Step>) -> Deductions {
    let held = vec![
        LimitedAmount::Resource("crew".into()),
        LimitedAmount::Processors(vec![1]),
        LimitedAmount::OneAtATime(vec![0, 1]),
    ];
    Deductions { deadline: Time::from_ticks(deadline), unit: UNIT, held, steps }
}

fn proves(instance: &Instance, deadline: i64, steps: Vec<Step>) -> Result<i128, CertificateError> {
    deductions(deadline, steps).proves(instance)
}

fn invalid_at(step: &str, problem: &str) -> Result<i128, CertificateError> {
    let reason = Box::new(CertificateError::Unproved(problem.into()));
    Err(CertificateError::InvalidStep { step: step.into(), reason })
}

#[test]
fn windows_of_what_is_held_refute() {
    // Three activities of 4 units of time need two units of the crew each, so they run one after the other.
    let instance = project(&[(4, 2), (4, 2), (4, 2)], &[], Vec::new());
    assert_eq!(proves(&instance, 79, vec![Step::Full(0, 0, 7)]), Ok(80), "24 of 21");
    let there = proves(&instance, 80, vec![Step::Full(0, 0, 8)]);
    let reason = CertificateError::NotRefuted { deadline: Time::from_ticks(80), needed: 240, available: 240 };
    assert_eq!(there, Err(CertificateError::InvalidStep { step: "1".into(), reason: reason.into() }));
    assert!(matches!(proves(&instance, 80, Vec::new()), Err(CertificateError::Unproved(_))));
}

#[test]
fn pairs_and_paths_refute() {
    // No two of the three tasks can run at the same time. Task 0 runs before task 1, and task 1 ends at 9 at the
    // latest.
    let instance = project(&[(4, 2), (4, 2), (4, 2)], &[(0, 1)], Vec::new());
    let second = |reason| Step::Start(2, 4, reason);
    // Task 2 cannot end before the latest start of task 0, so it runs after task 0. It also cannot end before the
    // latest start of task 1, so it runs last and ends too late.
    let steps = vec![second(Reason::Pair(0)), Step::Start(2, 8, Reason::Pair(1))];
    assert_eq!(
        proves(&instance, 119, Vec::new()),
        Err(CertificateError::Unproved(
            "after the last step of the certificate, every task still has a feasible window".into()
        ))
    );
    assert_eq!(proves(&instance, 109, steps), Ok(110));
}

#[test]
fn a_supposition_may_have_steps_of_its_own() {
    let instance = project(&[(4, 2), (4, 2), (4, 2)], &[(0, 1)], Vec::new());
    let nested = Reason::Steps(vec![Step::Full(0, 0, 11)]);
    let proven = proves(&instance, 119, vec![Step::Start(2, 8, nested)]);
    let is_first = |step: &str, reason| step == "1.1" && matches!(reason, CertificateError::NotRefuted { .. });
    let Err(CertificateError::InvalidStep { step, reason }) = &proven else { panic!("{proven:?}") };
    assert!(is_first(step, *reason.clone()), "task 2 can be first: {proven:?}");
    let together = Reason::Steps(vec![Step::End(2, 4, Reason::Pair(0))]);
    assert!(proves(&instance, 119, vec![Step::Start(2, 8, together)]).is_err(), "a window is left");
}

#[test]
fn tasks_that_exclude_each_other_are_checked() {
    let instance = project(&[(4, 2), (4, 2), (4, 1)], &[(1, 2)], Vec::new());
    let with = |tasks: &[u32], step| {
        let held = vec![LimitedAmount::OneAtATime(tasks.to_vec())];
        Deductions { deadline: Time::from_ticks(79), unit: UNIT, held, steps: vec![step] }.proves(&instance)
    };
    assert_eq!(with(&[0, 1], Step::Full(0, 0, 7)), Ok(80));
    assert_eq!(with(&[1, 2], Step::Full(0, 0, 7)), Ok(80), "one waits for the other");
    for wrong in [&[0, 2][..], &[0, 0], &[0, 3], &[u32::MAX]] {
        assert!(with(wrong, Step::Full(0, 0, 7)).is_err(), "{wrong:?}");
    }
}

#[test]
fn closed_periods_count_and_bind_the_unit() {
    let closed = |end| {
        let [start, end] = [0, end].map(Time::from_ticks);
        vec![Unavailable { processors: ProcSet::range(0, 6), start, end }]
    };
    let activities = [(4, 2), (4, 2)];
    let full = || vec![Step::Full(1, 0, 7)];
    assert_eq!(proves(&project(&activities, &[], closed(70)), 79, full()), Ok(80), "one processor is left until 7");
    assert!(proves(&project(&activities, &[], Vec::new()), 79, full()).is_err());
    assert!(matches!(proves(&project(&activities, &[], closed(75)), 79, full()), Err(CertificateError::Unproved(_))));
}

#[test]
fn a_run_lasts_from_its_last_start_to_its_first_end() {
    let window = TaskWindow { start: 0, last_start: 1, first_end: 6, end: 8 };
    assert_eq!(window.within(2, 2, 5), Some(3), "the run starts by 1 and ends at 6 or later");
    assert_eq!(window.within(2, 0, 9), Some(5));
    assert_eq!(window.within(7, 0, 9), Some(7));
    assert_eq!(window.within(7, 2, 5), Some(3));
    assert_eq!(window.within(2, 7, 9), Some(0));
    assert_eq!(window.within(9, 2, 5), None);
    assert_eq!(
        TaskWindow { last_start: 8, first_end: 0, ..window }.within(2, 2, 5),
        Some(0),
        "a run avoids this period"
    );
}

#[test]
fn what_an_inner_supposition_changed_is_taken_back() {
    let instance = project(&[(4, 2), (4, 2), (4, 2)], &[], Vec::new());
    // Suppose that the last task starts by 3 and ends at 6 or later. Then both other tasks run after it, between 6 and
    // 12.
    let behind = |task| Step::Start(task, 6, Reason::Pair(2));
    let inner = Step::End(2, 5, Reason::Steps(vec![behind(0), behind(1), Step::Full(2, 6, 12)]));
    assert_eq!(
        proves(&instance, 129, vec![Step::Start(2, 4, Reason::Steps(vec![inner.clone()]))]),
        invalid_at("1", "the supposition is not refuted, because every task still has a feasible window"),
        "the run may start at 0 and end at 4"
    );
    assert_eq!(
        proves(&instance, 129, vec![inner]),
        invalid_at("1.1", "both tasks can run one after the other"),
        "the first may come before a last one that ends at 6 or later"
    );
}

#[test]
fn what_is_deduced_of_one_task_of_a_bag_holds_for_all() {
    let ticks = Time::from_ticks;
    let bag = |width, time, count: u64| {
        Job::new("bag", Profile::rigid(width, ticks(time)).unwrap()).with_count(count.try_into().unwrap())
    };
    let one = Job::new("one", Profile::rigid(2, ticks(40)).unwrap());
    let instance = Instance::new(Platform::flat(2).unwrap(), vec![bag(1, 40, 2), one], Vec::new()).unwrap();
    let with = |held, steps| Deductions { deadline: ticks(79), unit: UNIT, held, steps }.proves(&instance);
    let prices = || vec![LimitedAmount::Processors(vec![1])];
    assert_eq!(with(prices(), vec![Step::Full(0, 0, 7)]), Ok(80), "all tasks of the bag count");
    // The job `one` and a task of the bag cannot run at the same time. The later one of the two would end at 80 or
    // later. So with the deadline 79, the task that the step names has no window left.
    for step in [Step::Start(0, 4, Reason::Pair(1)), Step::Start(1, 4, Reason::Pair(0))] {
        assert_eq!(with(prices(), vec![step]), Ok(80));
    }
    let supposed = Step::End(0, 1, Reason::Steps(vec![]));
    assert_eq!(with(prices(), vec![supposed]), invalid_at("1", "a supposition is about a bag of tasks"));
    assert!(with(vec![LimitedAmount::OneAtATime(vec![0, 1])], vec![Step::Full(0, 0, 7)]).is_err());
    // Both processors are closed from 60 to 130. Tasks of 80 ticks do not fit before this period, so they run one
    // after the other after it.
    let closed = Unavailable { processors: ProcSet::first(2), start: ticks(60), end: ticks(130) };
    let instance = Instance::new(Platform::flat(2).unwrap(), vec![bag(2, 80, 3)], vec![closed]).unwrap();
    let behind =
        |deadline, steps| Deductions { deadline: ticks(deadline), unit: UNIT, held: prices(), steps }.proves(&instance);
    let late = || Step::Start(0, 13, Reason::Window(0, 6, 13));
    assert_eq!(behind(369, vec![late(), Step::Full(0, 13, 36)]), Ok(370));
    assert!(behind(379, vec![late(), Step::Full(0, 13, 37)]).is_err());
    assert!(behind(369, vec![Step::Start(0, 14, Reason::Window(0, 6, 13))]).is_err(), "the task may start at 13");
    // If one of the two tasks starts at 0, the other can run at the same time.
    let two = Instance::new(Platform::flat(2).unwrap(), vec![bag(1, 40, 2)], Vec::new()).unwrap();
    let second = vec![Step::Start(0, 1, Reason::Window(0, 0, 4))];
    assert!(Deductions { deadline: ticks(59), unit: UNIT, held: prices(), steps: second }.proves(&two).is_err());
}

#[test]
fn the_unit_is_a_tick_where_data_take_time() {
    let task = |name: &str| NamedTask::new(name, Profile::rigid(1, Time::from_ticks(40)).unwrap());
    let with = |transfer: i64, unit| {
        let edge = Edge { from: 0, to: 1, payload: Payload::Fixed(Time::from_ticks(transfer)) };
        let graph = Graph::new(vec![task("a"), task("b")], vec![edge]).unwrap();
        let platform = Platform::cluster(2, 1).unwrap();
        let instance = Instance::new(platform, vec![Job::compound("job", graph)], Vec::new()).unwrap();
        Deductions { deadline: Time::from_ticks(75), unit, held: Vec::new(), steps: Vec::new() }.proves(&instance)
    };
    assert_eq!((with(0, 40), with(0, 10), with(5, 1)), (Ok(80), Ok(80), Ok(76)));
    assert!(matches!(with(5, 10), Err(CertificateError::Unproved(_))));
}

#[test]
fn a_task_takes_one_time_where_it_has_one_way_to_run() {
    let ticks = Time::from_ticks;
    let table = || Job::new("a", Profile::table(vec![ticks(9), ticks(5)]).unwrap());
    let only = |job: Job| {
        let instance = Instance::new(Platform::flat(2).unwrap(), vec![job], Vec::new()).unwrap();
        Runs::new(&instance).only(0)
    };
    assert_eq!(only(table()), None);
    assert_eq!(only(Job { walltime: Some(ticks(5)), ..table() }), Some(5));
    assert_eq!(only(Job::new("a", Profile::rigid(2, ticks(7)).unwrap())), Some(7));
}

#[test]
fn prices_are_stated_for_some_purposes_only() {
    let instance = project(&[(4, 2), (4, 2)], &[], Vec::new());
    let with = |count| {
        let (held, steps) = (vec![LimitedAmount::Processors(vec![1]); count], vec![Step::Full(0, 0, 4)]);
        Deductions { deadline: Time::from_ticks(30), unit: UNIT, held, steps }.proves(&instance)
    };
    assert_eq!(with(16), Ok(40));
    assert!(matches!(with(17), Err(CertificateError::Malformed(_))));
}

#[test]
fn malformed_steps_are_errors() {
    let instance = project(&[(4, 2), (4, 2)], &[(0, 1)], Vec::new());
    let far = [i64::MIN, i64::MIN + 1, -1, i64::MAX / 2, i64::MAX];
    for task in [0, 1, 2, u32::MAX] {
        for at in far {
            for reason in
                [Reason::Window(0, at, i64::MAX), Reason::Window(9, 0, at), Reason::Pair(task), Reason::Steps(vec![])]
            {
                for step in [Step::Start(task, at, reason.clone()), Step::End(task, at, reason), Step::Full(0, at, 5)] {
                    let _ = proves(&instance, 200, vec![step]);
                }
            }
        }
    }
    for unit in [i64::MIN, -1, 0, 3, 7, i64::MAX] {
        let deductions = Deductions { unit, ..deductions(99, vec![]) };
        assert!(matches!(deductions.proves(&instance), Err(CertificateError::Unproved(_))), "{unit}");
    }
    let mut deep = Reason::Steps(vec![]);
    for _ in 0..100 {
        deep = Reason::Steps(vec![Step::Start(0, 4, deep)]);
    }
    assert!(matches!(proves(&instance, 99, vec![Step::Start(0, 4, deep)]), Err(CertificateError::Malformed(_))));
}

#[test]
fn they_are_short_in_a_file() {
    let steps = vec![
        Step::Start(3, 8, Reason::Window(0, 4, 9)),
        Step::End(2, 5, Reason::Steps(vec![Step::Start(1, 2, Reason::Pair(0))])),
        Step::Full(2, 0, 7),
    ];
    let text = serde_json::to_string(&Proof::Deductions(deductions(79, steps.clone()))).unwrap();
    let expect = r#""steps":[{"start":[3,8,{"window":[0,4,9]}]},{"end":[2,5,{"steps":[{"start":[1,2,{"pair":0}]}]}]},{"full":[2,0,7]}]"#;
    assert!(text.contains(expect), "{text}");
    let Ok(Proof::Deductions(read)) = serde_json::from_value(serde_json::from_str(&text).unwrap()) else {
        panic!("{text}")
    };
    assert_eq!(read.steps, steps);
}
