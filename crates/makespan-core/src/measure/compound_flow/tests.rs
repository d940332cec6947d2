//! Tests with small flows and measures computed by hand.

use std::ops::Range;

use super::*;
use crate::model::{Edge, Graph, NamedTask, Node, Payload, Platform, ProcSet, Profile, TaskId};
use crate::schedule::StartPlace;

fn s(seconds: i64) -> Time {
    Time::from_seconds(seconds)
}

/// Returns an instance on processors of speeds 1 and 2. Two compound jobs each have a task of 10 s and a task of 20 s.
/// The first of these jobs has a deadline at 35 s. A simple job takes 6 s and has a walltime of 8 s.
fn instance() -> Instance {
    let task = |name, seconds| NamedTask::new(name, Profile::rigid(1, s(seconds)).unwrap());
    let edge = Edge { from: 0, to: 1, payload: Payload::Fixed(Time::ZERO) };
    let pair = |name| Job::compound(name, Graph::new(vec![task("a", 10), task("b", 20)], vec![edge]).unwrap());
    let first = pair("first").with_release(s(5)).with_deadline(s(35));
    let simple = Job::new("simple", Profile::rigid(1, s(6)).unwrap()).with_release(s(7)).with_walltime(s(8));
    let node = |name: &str, speed| Node { speed, ..Node::new(name, 1) };
    let platform = Platform::new(vec![node("slow", 1.0), node("fast", 2.0)]).unwrap();
    let jobs = vec![first, pair("second").with_release(s(10)), simple];
    Instance::new(platform, jobs, vec![]).unwrap()
}

fn run(task: u64, seconds: Range<i64>, processor: u32, outcome: Outcome) -> Run {
    let processors = ProcSet::range(processor, processor);
    Run { task: TaskId(task), start: s(seconds.start), end: s(seconds.end), processors, outcome, accounting: None }
}

const DONE: Outcome = Outcome::Succeeded;

#[test]
fn jobs_and_flow_have_the_figures_of_what_really_ran() {
    let runs = vec![
        run(4, 7..10, 1, DONE),
        run(0, 5..15, 0, DONE),
        run(1, 15..20, 1, Outcome::Interrupted),
        run(1, 21..31, 1, DONE),
        run(2, 15..25, 0, DONE),
        run(3, 25..45, 0, DONE),
    ];
    let entry = |time, task, what| LogEntry { time: s(time), task: TaskId(task), what };
    let spot = |processor, start| StartPlace { processor, start: s(start) };
    let collision = LoggedDecision::Collision { planned: spot(0, 15), resolved: spot(1, 15), penalty: 3 };
    let log = [
        // These entries belong to a first plan, which a second plan replaces at the same instant.
        entry(5, 0, LoggedDecision::Planned { variants: 2, finish: s(30), cost: 3000, deadline: s(40), until: None }),
        entry(5, 1, collision),
        entry(5, 0, LoggedDecision::Planned { variants: 2, finish: s(31), cost: 3000, deadline: s(40), until: None }),
        entry(5, 1, collision),
        entry(6, 1, LoggedDecision::Collision { planned: spot(0, 15), resolved: spot(1, 20), penalty: 4 }),
        entry(10, 2, LoggedDecision::Fallback { finish: s(45), deadline: s(44) }),
        entry(20, 0, LoggedDecision::OtherVariant { from: 1, to: 0, until: None }),
    ];
    let instance = instance();
    let found = CompoundMeasures::of(&instance, &Trace { runs }, &log).unwrap();
    let [first, second, simple] = found.jobs.as_slice() else { panic!("three whole jobs") };
    assert_eq!((first.start, first.end, first.stated, first.told), (Some(s(5)), Some(s(31)), Some(s(35)), Some(s(40))));
    assert_eq!((first.deadline(), first.is_in_time()), (Some(s(35)), Some(true)), "the user's deadline applies");
    // A task of 10 s costs 1 at speed 1, and a task of 20 s costs 2 at speed 2. The interrupted run counts as busy
    // time, but it costs nothing.
    assert_eq!((first.cost, first.busy), (3000, s(25).area(1)));
    assert_eq!((second.deadline(), second.is_in_time(), second.cost), (Some(s(44)), Some(false), 2000));
    assert_eq!((simple.deadline(), simple.cost, simple.ending), (None, 2000, JobEnding::Succeeded));
    let flow = &found.flow;
    assert_eq!((flow.in_time, flow.with_deadline, flow.as_told), (1, 2, 1));
    assert_eq!((flow.failed, flow.given_up, flow.cost, flow.span()), (0, 0, 7000, s(40)));
    assert_eq!((flow.collisions, flow.penalty, flow.fallbacks, flow.changes), (2, 7, 1, 1));
    // In 40 s, one processor is busy for 40 s, and the other one for 18 s.
    let LoadBalance { mean, least, most, deviation, balance } = flow.load;
    assert_eq!((mean, least, most, balance), (0.725, 0.45, 1.0, 0.725));
    assert!((deviation - 0.275).abs() < 1e-12);
}

#[test]
fn what_failed_or_was_given_up_is_not_in_time() {
    let runs = vec![
        run(0, 5..9, 0, Outcome::Failed { status: 1 }),
        run(1, 9..9, 0, Outcome::NotStarted),
        run(2, 10..15, 1, DONE),
    ];
    let found = CompoundMeasures::of(&instance(), &Trace { runs }, &[]).unwrap();
    let endings: Vec<JobEnding> = found.jobs.iter().map(|job| job.ending).collect();
    assert_eq!(endings, [JobEnding::Failed, JobEnding::GivenUp, JobEnding::GivenUp]);
    let flow = &found.flow;
    assert_eq!((flow.in_time, flow.with_deadline, flow.failed, flow.given_up), (0, 1, 1, 2));
    assert_eq!((found.jobs[0].cost, found.jobs[0].is_in_time(), found.jobs[1].cost), (0, Some(false), 2000));
}

#[test]
fn nothing_at_all_is_balanced_and_other_instances_have_no_figures() {
    let found = CompoundMeasures::of(&instance(), &Trace::default(), &[]).unwrap();
    assert_eq!((found.flow.load.mean, found.flow.load.balance, found.flow.span()), (0.0, 1.0, Time::ZERO));
    let job = Job::new("a", Profile::rigid(1, s(1)).unwrap());
    let plain = Instance::new(Platform::flat(1).unwrap(), vec![job], vec![]).unwrap();
    assert_eq!(CompoundMeasures::of(&plain, &Trace::default(), &[]), None);
}
