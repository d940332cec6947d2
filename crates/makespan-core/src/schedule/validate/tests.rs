use super::*;
use crate::model::{Job, Platform, Profile, Unavailable};

fn ticks(t: i64) -> Time {
    Time::from_ticks(t)
}

fn instance() -> Instance {
    let table = Profile::table(vec![ticks(10), ticks(6)]).unwrap();
    let jobs = vec![Job::new("a", table), Job::new("b", Profile::rigid(1, ticks(4)).unwrap()).with_release(ticks(2))];
    let period = Unavailable { processors: ProcSet::range(2, 2), start: ticks(5), end: ticks(7) };
    Instance::new(Platform::flat(3).unwrap(), jobs, vec![period]).unwrap()
}

/// Validates placements, given as (task, start, end, processors). `expect` is a part of the text of the only violation,
/// or empty if no violation is expected.
fn check(placements: &[(u64, i64, i64, &str)], expect: &str) {
    let placement = |&(task, start, end, processors): &(u64, i64, i64, &str)| Placement {
        task: TaskId(task),
        start: ticks(start),
        end: ticks(end),
        processors: processors.parse().unwrap(),
    };
    let schedule = Schedule::new(placements.iter().map(placement).collect());
    match validate(&instance(), &schedule) {
        Ok(()) => assert!(expect.is_empty(), "accepted, expected: {expect}"),
        Err(violations) => {
            assert_eq!(violations.len(), 1, "{violations:?}");
            assert!(!expect.is_empty() && violations[0].to_string().contains(expect), "{violations:?}");
        }
    }
}

#[test]
fn accepts_a_correct_schedule() {
    check(&[(0, 0, 6, "0-1"), (1, 7, 11, "2")], "");
}

#[test]
fn best_placement_is_checked_where_it_is_required() {
    let job = Job::new("a", Profile::rigid(3, ticks(4)).unwrap());
    let verdict = |platform: Platform, processors: &str| {
        let instance = Instance::new(platform, vec![job.clone()], vec![]).unwrap();
        let processors = processors.parse().unwrap();
        validate(
            &instance,
            &Schedule::new(vec![Placement { task: TaskId(0), start: ticks(0), end: ticks(4), processors }]),
        )
    };
    let nodes = || Platform::cluster(3, 2).unwrap();
    assert_eq!(verdict(nodes(), "1-3"), Ok(()));
    assert_eq!(verdict(nodes().requiring_compact(), "1-3"), Ok(()));
    assert_eq!(verdict(nodes(), "1-2,4"), Ok(()));
    let scattered = Violation::Scattered { job: "a".into(), nodes: "n0, n1, n2".into() };
    assert_eq!(verdict(nodes().requiring_compact(), "1-2,4"), Err(vec![scattered]));
}

#[test]
fn each_rule_rejects_its_own_violation() {
    check(&[(0, 0, 6, "0-1")], "job `b` is not placed");
    check(&[(0, 0, 6, "0-1"), (1, 7, 11, "2"), (1, 11, 15, "2")], "placed 2 times");
    check(&[(0, 11, 17, "0-2"), (1, 7, 11, "2")], "accepts 1 to 2");
    check(&[(0, 0, 7, "0-1"), (1, 7, 11, "2")], "takes 0.000000006 s");
    check(&[(0, 0, 6, "0-1"), (1, 1, 5, "2")], "before its release");
    check(&[(0, 0, 6, "0-1"), (1, 7, 11, "3")], "processors are numbered from 0 to 2");
    check(&[(0, 0, 6, "0-1"), (1, 5, 9, "1")], "both hold processor 1");
    check(&[(0, 0, 6, "0-1"), (1, 4, 8, "2")], "unavailable from 0.000000005 s");
    check(&[(0, 0, 6, "0-1"), (7, 4, 8, "2")], "task number 7");
}

#[test]
fn times_are_those_of_the_machine() {
    let job = Job::new("a", Profile::on_machines(vec![ticks(4), ticks(9), Profile::CANNOT_RUN]).unwrap());
    let instance = Instance::new(Platform::cluster(3, 2).unwrap(), vec![job], vec![]).unwrap();
    let verdict = |processor: u32, end| {
        let processors = ProcSet::range(processor, processor);
        let placement = Placement { task: TaskId(0), start: ticks(0), end: ticks(end), processors };
        let violations = validate(&instance, &Schedule::new(vec![placement])).err().unwrap_or_default();
        violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(verdict(1, 4), "");
    assert_eq!(verdict(2, 9), "");
    assert_eq!(verdict(2, 4), "job `a` lasts 0.000000004 s, but on processors 2 the job takes 0.000000009 s");
    assert_eq!(verdict(5, 4), "job `a` is placed on processors 5 of n2, on which the job cannot run");
}

#[test]
fn every_task_of_a_bag_is_placed_once() {
    let bag = Job::new("b", Profile::rigid(1, ticks(4)).unwrap()).with_count(3.try_into().unwrap());
    let instance = Instance::new(Platform::flat(3).unwrap(), vec![bag], vec![]).unwrap();
    let check = |tasks: &[u64], expect: &str| {
        let place = |(at, &task): (usize, &u64)| {
            let processors = ProcSet::range(at as u32 % 3, at as u32 % 3);
            let start = ticks(at as i64 / 3 * 4);
            Placement { task: TaskId(task), start, end: start + ticks(4), processors }
        };
        let schedule = Schedule::new(tasks.iter().enumerate().map(place).collect());
        let said = validate(&instance, &schedule)
            .map_err(|violations| violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "));
        assert_eq!(said.err().unwrap_or_default(), expect);
    };
    check(&[2, 0, 1], "");
    check(&[2, 0], "job `b`: 1 of 3 tasks have no placement, the first of these is 1");
    check(&[], "job `b`: 3 of 3 tasks have no placement, the first of these is 0");
    check(&[0, 1, 1, 2], "job `b/1` is placed 2 times");
    check(&[0, 1, 2, 3], "task number 3 does not exist");
}
