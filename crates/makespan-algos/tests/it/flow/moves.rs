//! Tests of small flows with known results: the processors of each task, and the changes when machines fail.

use makespan_algos::policy::policy_for;
use makespan_core::{
    Actual, Edge, Failure, Graph, Instance, Job, LogEntry, LoggedDecision, NamedTask, Node, Outcome, Payload, Platform,
    Profile, TaskId, Time, Unavailable,
};
use makespan_sim::{Silent, SimulationOptions, simulate};

fn s(seconds: i64) -> Time {
    Time::from_seconds(seconds)
}

/// Returns a job with tasks that run one after the other, without data. Its deadline is `allowed` seconds after the
/// release.
fn chain(name: &str, release: i64, allowed: i64, times: &[i64]) -> Job {
    let task = |(at, &time): (usize, &i64)| NamedTask::new(at.to_string(), Profile::rigid(1, s(time)).unwrap());
    let edge = |to: u32| Edge { from: to - 1, to, payload: Payload::Fixed(Time::ZERO) };
    let edges = (1..times.len() as u32).map(edge).collect();
    let job = Job::compound(name, Graph::new(times.iter().enumerate().map(task).collect(), edges).unwrap());
    job.with_release(s(release)).with_deadline(s(release + allowed))
}

fn instance(speeds: &[f64], jobs: Vec<Job>, closed_until: i64) -> Instance {
    let node = |(at, &speed): (usize, &f64)| Node { speed, ..Node::new(at.to_string(), 1) };
    let all = format!("0-{}", speeds.len() - 1).parse().unwrap();
    let closed = (closed_until > 0).then(|| Unavailable { processors: all, start: s(0), end: s(closed_until) });
    let platform = Platform::new(speeds.iter().enumerate().map(node).collect()).unwrap();
    Instance::new(platform, jobs, closed.into_iter().collect()).unwrap()
}

fn down(processor: u32, from: i64, until: i64, expected: Option<i64>) -> Failure {
    let processors = processor.to_string().parse().unwrap();
    Failure { processors, down: s(from), up: s(until), expected_up: expected.map(s) }
}

/// The successful runs, as task, processor, start and end, in the order of starts, and the log.
struct Played {
    runs: Vec<(String, u32, i64, i64)>,
    log: Vec<LogEntry>,
}

impl Played {
    fn starts(&self) -> Vec<(&str, i64)> {
        self.runs.iter().map(|run| (run.0.as_str(), run.2)).collect()
    }

    fn words(&self) -> Vec<&'static str> {
        self.log.iter().map(|entry| entry.what.name()).collect()
    }
}

fn play_with(spec: &str, instance: &Instance, percent: i64, failures: Vec<Failure>) -> Played {
    let mut policy = policy_for(spec, instance, 1).unwrap();
    let options = SimulationOptions { failures, ..SimulationOptions::default() };
    let real = |task: TaskId| {
        Profile::rigid(1, Time::from_ticks(instance.profile(task).shortest().ticks() * percent / 100)).unwrap()
    };
    let actual = Actual::Profiles(instance.task_ids().map(real).collect());
    let simulation = simulate(instance, &actual, policy.as_mut(), &options, &mut Silent).unwrap();
    let done = simulation.trace.runs.iter().filter(|run| run.outcome == Outcome::Succeeded);
    let seconds = |time: Time| time.ticks() / Time::TICKS_PER_SECOND;
    let run = |run: &makespan_core::Run| {
        let processor = run.processors.iter().next().unwrap();
        (instance.name(run.task).into_owned(), processor, seconds(run.start), seconds(run.end))
    };
    let mut runs: Vec<_> = done.map(run).collect();
    runs.sort_by_key(|run| (run.2, run.1));
    Played { runs, log: policy.log() }
}

fn play(spec: &str, instance: &Instance) -> Played {
    play_with(spec, instance, 100, Vec::new())
}

fn run(name: &str, processor: u32, start: i64, end: i64) -> (String, u32, i64, i64) {
    (name.to_owned(), processor, start, end)
}

#[test]
fn a_job_takes_the_cheapest_variant_in_time() {
    // Each task takes 10 s at speed 1. At speed 2, it takes half the time and costs twice as much.
    let flow = |deadline| instance(&[1.0, 2.0], vec![chain("j", 0, deadline, &[10, 10])], 0);
    for spec in ["job-flow[serve=arrival]", "job-flow[serve=replan,flow=cost]", "job-flow[buffer=1ns,flow=cost]"] {
        let slow = play(spec, &flow(21));
        assert_eq!(slow.runs, [run("j/0", 0, 0, 10), run("j/1", 0, 10, 20)], "{spec}");
        let LoggedDecision::Planned { finish, cost, deadline, .. } = slow.log[0].what else { panic!("{:?}", slow.log) };
        assert_eq!((cost, deadline), (2000, s(21)), "{spec}");
        // Placements are on a grid that divides the time to the deadline.
        assert!(finish >= s(20) && finish <= s(21), "{spec}");
    }
    // Both tasks run on the fast processor.
    let hurried = play("job-flow", &flow(10));
    assert_eq!(hurried.runs, [run("j/0", 1, 0, 5), run("j/1", 1, 5, 10)]);
    let late = play("job-flow", &flow(9));
    assert!(matches!(late.log[..], [LogEntry { what: LoggedDecision::Fallback { finish, deadline }, .. }]
        if (finish, deadline) == (s(10), s(9))));
    assert_eq!(late.runs, hurried.runs);
}

#[test]
fn what_cannot_be_in_time_is_given_up_whole_if_late_jobs_are_not_wanted() {
    let jobs = ["a", "b"].map(|name| chain(name, 0, 25, &[10, 10])).to_vec();
    let flow = instance(&[1.0], jobs, 0);
    let run_all = play("job-flow[serve=arrival]", &flow);
    assert_eq!(run_all.starts(), [("a/0", 0), ("a/1", 10), ("b/0", 20), ("b/1", 30)]);
    assert_eq!(run_all.words(), ["planned", "fallback"]);
    for spec in ["job-flow[serve=arrival,late=reject]", "job-flow[late=reject]", "job-flow[buffer=4s,late=reject]"] {
        let rejected = play(spec, &flow);
        assert_eq!(rejected.runs.len(), 2, "{spec}");
        assert_eq!(rejected.words(), ["planned", "rejected"], "{spec}");
    }
}

#[test]
fn a_waiting_job_makes_room_when_jobs_are_planned_again() {
    // No task starts before 10. The short job arrives at 5 and must end by 20.
    let flow = instance(&[1.0], vec![chain("long", 0, 100, &[10]), chain("short", 5, 15, &[5])], 10);
    let served = play("job-flow[serve=arrival]", &flow);
    assert_eq!((served.starts(), served.words()), (vec![("long/0", 10), ("short/0", 20)], vec!["planned", "fallback"]));
    let again = play("job-flow[serve=replan]", &flow);
    assert_eq!(again.starts(), [("short/0", 10), ("long/0", 15)]);
    assert_eq!(again.words(), ["planned", "planned", "planned"], "the long job twice");
    // Jobs are collected for 5 s from the first one, so the second job arrives just in time for the buffer.
    assert_eq!(play("job-flow[buffer=5s]", &flow).starts(), again.starts());
    assert_eq!(play("job-flow[buffer=4s]", &flow).starts(), served.starts());
}

#[test]
fn a_buffer_eats_time_unless_the_clock_starts_at_the_hand_over() {
    let flow = instance(&[1.0], vec![chain("j", 0, 12, &[10])], 0);
    let eaten = play("job-flow[buffer=5s]", &flow);
    assert_eq!((eaten.starts(), eaten.words()), (vec![("j/0", 5)], vec!["fallback"]));
    let handed = play("job-flow[buffer=5s,clock=handover]", &flow);
    assert_eq!((handed.starts(), handed.words()), (vec![("j/0", 5)], vec!["planned"]));
    assert_eq!(handed.log[0].time, s(5));
}

#[test]
fn reserved_starts_wait_and_early_ones_do_not() {
    let flow = instance(&[1.0], vec![chain("j", 0, 30, &[10, 10])], 0);
    let half = |spec| play_with(spec, &flow, 50, Vec::new()).starts().last().map(|last| last.1);
    assert_eq!(half("job-flow[start=heft,starts=reserved]"), Some(10));
    assert_eq!(half("job-flow[start=heft]"), Some(5));
    // Late tasks delay the subsequent tasks, in order.
    let late = play_with("job-flow", &flow, 200, Vec::new());
    assert_eq!(late.starts(), [("j/0", 0), ("j/1", 20)]);
}

#[test]
fn collisions_are_told() {
    let task = |name| NamedTask::new(name, Profile::rigid(1, s(10)).unwrap());
    let mut job = Job::compound("j", Graph::new(vec![task("a"), task("b")], vec![]).unwrap());
    job.deadline = Some(s(40));
    // Two tasks are planned on one type of processors, which has only one processor.
    let flow = instance(&[1.0], vec![job], 0);
    let played = play("job-flow[serve=arrival,cpus=types,start=empty,penalty-delay=3]", &flow);
    assert_eq!(played.words(), ["planned", "collision"]);
    let LoggedDecision::Collision { planned, resolved, penalty } = played.log[1].what else {
        panic!("{:?}", played.log)
    };
    assert_eq!((planned.processor, resolved.processor), (0, 0));
    assert_eq!(resolved.start - planned.start, s(10));
    // The penalty is three for each begun thousandth of the time until the planned end of the variant, which is at most
    // the deadline.
    assert!(penalty % 3 == 0 && penalty >= 3 * 250, "{penalty}");
}

#[test]
fn another_variant_is_taken_when_a_machine_goes_down_before_the_start() {
    let flow = instance(&[1.0, 2.0], vec![chain("j", 0, 26, &[10, 10])], 5);
    for spec in ["job-flow[flow=cost]", "job-flow[serve=arrival]"] {
        let calm = play(spec, &flow);
        assert!(calm.runs.iter().all(|run| run.1 == 0), "{:?}", calm.runs);
        let moved = play_with(spec, &flow, 100, vec![down(0, 2, 1000, Some(1000))]);
        assert_eq!(moved.words(), ["planned", "other_variant"], "{spec}");
        assert!(moved.runs.iter().all(|run| run.1 == 1 && run.3 <= 26), "{:?}", moved.runs);
    }
}

#[test]
fn the_rest_of_a_job_is_planned_again_when_a_machine_goes_down() {
    // Both tasks are planned on the slow processor.
    let flow = instance(&[1.0, 2.0], vec![chain("j", 0, 21, &[10, 10])], 0);
    let moved = play_with("job-flow[flow=cost]", &flow, 100, vec![down(0, 4, 1000, Some(1000))]);
    // The interrupted task is treated as a task that has not started. The job switches to another variant, which begins
    // as soon as possible: four seconds after its stored start.
    assert_eq!(moved.runs, [run("j/0", 1, 4, 9), run("j/1", 1, 9, 14)]);
    assert_eq!(moved.words(), ["planned", "other_variant"]);
    // Only the second task moves, because the time of the repair is unknown.
    let second = chain("j", 0, 30, &[10, 10]);
    let other = chain("k", 0, 9, &[16]);
    let flow = instance(&[1.0, 2.0, 1.0], vec![other, second], 0);
    let calm = play("job-flow[serve=arrival,start=heft]", &flow);
    let place = |played: &Played, name: &str| played.runs.iter().find(|run| run.0 == name).map(|run| (run.1, run.2));
    let Some((processor, start)) = place(&calm, "j/1") else { panic!("{:?}", calm.runs) };
    let failures = vec![down(processor, start - 1, 1000, None)];
    let moved = play_with("job-flow[serve=arrival,start=heft]", &flow, 100, failures);
    assert_eq!(moved.runs.len(), 3);
    assert!(place(&moved, "j/1").is_some_and(|place| place.0 != processor), "{:?}", moved.runs);
}

#[test]
fn jobs_wait_for_the_only_machines_that_can_run_them() {
    for (spec, latest) in [("job-flow", 500), ("follow", 500), ("job-flow[serve=arrival,starts=early]", 625)] {
        let flow = instance(&[1.0], vec![chain("j", 1, 100, &[10, 10])], 0);
        let late = play_with(spec, &flow, 100, vec![down(0, 0, 500, Some(20))]);
        assert_eq!(late.runs.len(), 2, "{spec}");
        // The repair lasts until 500, although 20 was announced. The first task starts at 500, or later by up to a
        // quarter of these 500 s.
        assert!((500..=latest).contains(&late.runs[0].2), "{spec}: {}", late.runs[0].2);
        let known = play_with(spec, &flow, 100, vec![down(0, 0, 50, Some(50))]);
        assert_eq!(known.starts(), [("j/0", 50), ("j/1", 60)], "{spec}");
    }
}

#[test]
fn followed_plans_leave_machines_that_are_down() {
    // HEFT takes the fast processor.
    let flow = instance(&[1.0, 2.0], vec![chain("j", 0, 100, &[20, 20, 20])], 0);
    let calm = play("follow", &flow);
    assert_eq!(calm.starts(), [("j/0", 0), ("j/1", 10), ("j/2", 20)]);
    let moved = play_with("follow", &flow, 100, vec![down(1, 15, 1000, Some(1000))]);
    assert_eq!(moved.runs, [run("j/0", 1, 0, 10), run("j/1", 0, 15, 35), run("j/2", 0, 35, 55)]);
    // The end of the repair was not announced. The policy expects a repair time of one minute, and after this minute
    // another minute.
    let unknown = play_with("follow", &flow, 100, vec![down(1, 15, 1000, None)]);
    assert_eq!(unknown.runs, moved.runs);
    // It is better to wait for the repair than to move the task.
    let short = play_with("follow", &flow, 100, vec![down(1, 15, 16, Some(16))]);
    assert_eq!(short.runs, [run("j/0", 1, 0, 10), run("j/1", 1, 16, 26), run("j/2", 1, 26, 36)]);
}
