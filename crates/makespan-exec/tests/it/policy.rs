//! Tests of policies that break their contract, and of stop requests.

use crate::common;

use std::time::{Duration, Instant};

use common::{FirstCome, Recorder, instance, job, options, text};
use makespan_core::{Decision, Event, Outcome, Policy, ProcSet, TaskId, Time, Unavailable, View};
use makespan_exec::{Defect, ExecuteError, ExecuteOptions, Silent, execute};

/// Returns these decisions at the first call, and no decisions later.
struct Once(Vec<Decision>);

impl Policy for Once {
    fn on(&mut self, _events: &[Event], _view: &View<'_>, decisions: &mut Vec<Decision>) {
        decisions.append(&mut self.0);
    }
}

fn start(task: u64, processors: &str) -> Decision {
    Decision::Start { task: TaskId(task), processors: processors.parse().unwrap() }
}

fn defect(decisions: Vec<Decision>) -> Defect {
    defect_at(decisions, Time::ZERO)
}

/// Returns the defect that these decisions cause, if all jobs except the first are released at this instant.
fn defect_at(decisions: Vec<Decision>, released: Time) -> Defect {
    let folder = tempfile::tempdir().unwrap();
    let mut jobs = vec![job("a", 1, "exec sleep 60"), job("b", 2, "true"), job("c", 1, "true")];
    jobs[1..].iter_mut().for_each(|job| job.release = released);
    let closed =
        Unavailable { processors: ProcSet::range(2, 2), start: Time::ZERO, end: Time::from_seconds(1_000_000) };
    let platform = makespan_core::Platform::flat(3).unwrap();
    let instance = makespan_core::Instance::new(platform, jobs, vec![closed]).unwrap();
    let begun = Instant::now();
    let error = execute(&instance, &mut Once(decisions), &options(folder.path()), &mut Silent).unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(30), "running jobs are ended");
    match error {
        ExecuteError::Policy(defect) => defect,
        other => panic!("{other}"),
    }
}

#[test]
fn defects_of_a_policy_are_named_and_end_the_run() {
    // All three jobs are submitted at the same time.
    assert!(matches!(defect(vec![start(0, "3")]), Defect::UnknownProcessors { last: 2, .. }));
    assert!(matches!(defect(vec![start(0, "0-1")]), Defect::Allotment { allotment: 2, min: 1, max: 1, .. }));
    assert!(matches!(defect(vec![start(0, "")]), Defect::Allotment { allotment: 0, .. }));
    assert!(matches!(defect(vec![start(0, "2")]), Defect::Unavailable { .. }));
    assert_eq!(defect(vec![start(0, "0"), start(0, "1")]), Defect::NotWaiting("a".into()));
    assert_eq!(defect(vec![start(0, "0"), Decision::Cancel(TaskId(0))]), Defect::NotWaiting("a".into()));
    assert_eq!(defect(vec![start(9, "0")]), Defect::UnknownJob(9));
    // A job that was not released yet is not waiting.
    assert_eq!(defect_at(vec![start(1, "0-1")], Time::from_seconds(1_000)), Defect::NotWaiting("b".into()));
    assert_eq!(defect_at(vec![Decision::Cancel(TaskId(2))], Time::from_seconds(1_000)), Defect::NotWaiting("c".into()));
    assert!(matches!(defect(vec![]), Defect::Stalled { waiting: 3, .. }));
}

#[test]
fn what_may_run_into_a_period_starts_in_real_time() {
    let folder = tempfile::tempdir().unwrap();
    let soon = Time::from_ticks(900_000_000);
    let period = Unavailable { processors: ProcSet::first(1), start: soon, end: Time::from_seconds(1_000_000) };
    let platform = makespan_core::Platform::flat(1).unwrap();
    let instance = makespan_core::Instance::new(platform, vec![job("a", 1, "true")], vec![period]).unwrap();
    let mut policy = Once(vec![start(0, "0")]);
    let trace = execute(&instance, &mut policy, &options(folder.path()), &mut Silent).unwrap();
    assert!(trace.all_succeeded(&instance));
    // A longer overlap than the tolerance for late policies is a defect, as in a simulation.
    let mut long = job("a", 1, "true");
    let hour = makespan_core::Profile::rigid(1, Time::from_seconds(3600)).unwrap();
    long.work.task_mut().unwrap().profile = hour;
    let instance = instance.with_jobs(vec![long]);
    let folder = tempfile::tempdir().unwrap();
    let error = execute(&instance, &mut Once(vec![start(0, "0")]), &options(folder.path()), &mut Silent).unwrap_err();
    assert!(error.to_string().contains("are unavailable from 0.9 s"), "{error}");
}

/// Starts all jobs on processor 0 at once.
struct Crowd;

impl Policy for Crowd {
    fn on(&mut self, _events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        decisions.extend(view.waiting.iter().map(|task| start(task.0, "0")));
    }
}

#[test]
fn a_processor_holds_one_job() {
    let folder = tempfile::tempdir().unwrap();
    let instance = instance(vec![job("a", 1, "sleep 60"), job("b", 1, "sleep 60")]);
    let error = execute(&instance, &mut Crowd, &options(folder.path()), &mut Silent).unwrap_err();
    assert!(matches!(error, ExecuteError::Policy(Defect::Busy { .. })), "{error}");
}

/// Waits for a wake-up before it starts a job, and cancels job 1.
#[derive(Default)]
struct Sleeper {
    woken: Option<Time>,
}

impl Policy for Sleeper {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        for event in events {
            match event {
                Event::Submitted(TaskId(1)) => {
                    decisions.extend([Decision::Cancel(TaskId(1)), Decision::WakeAt(Time::from_ticks(90_000_000))]);
                }
                Event::Wake => {
                    self.woken.get_or_insert(view.now);
                    decisions.push(start(0, "0"));
                }
                _ => {}
            }
        }
    }
}

#[test]
fn wakes_and_cancels() {
    let folder = tempfile::tempdir().unwrap();
    let instance = instance(vec![job("a", 1, "true"), job("b", 1, "true")]);
    let mut policy = Sleeper::default();
    let trace = execute(&instance, &mut policy, &options(folder.path()), &mut Silent).unwrap();
    assert!(policy.woken.unwrap() >= Time::from_ticks(90_000_000));
    assert_eq!(trace.runs.len(), 1);
    assert_eq!((trace.runs[0].task, trace.runs[0].outcome), (TaskId(0), Outcome::Succeeded));
}

#[test]
fn a_job_ends_when_the_policy_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let instance = instance(vec![job("a", 1, "exec sleep 60"), job("b", 1, "true")]);
    let limit = |task| Decision::Limit { task: TaskId(task), time: Time::from_ticks(300_000_000) };
    let mut policy = Once(vec![limit(0), start(0, "0"), limit(1), start(1, "1")]);
    let begun = Instant::now();
    let trace = execute(&instance, &mut policy, &options(folder.path()), &mut Silent).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(30));
    let outcome = |task| trace.runs.iter().find(|run| run.task == TaskId(task)).unwrap().outcome;
    assert_eq!((outcome(0), outcome(1)), (Outcome::TimedOut, Outcome::Succeeded));
    let folder = tempfile::tempdir().unwrap();
    let error = execute(&instance, &mut Once(vec![limit(9)]), &options(folder.path()), &mut Silent).unwrap_err();
    assert!(matches!(error, ExecuteError::Policy(Defect::UnknownJob(9))), "{error}");
}

#[test]
fn a_stop_ends_what_runs_and_a_resumption_completes() {
    for requests in [1, 2] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display();
        // At the second start, the mark exists, and the job ends at once.
        let slow =
            format!("trap '' TERM; test -e {path}/mark && exit; touch {path}/mark; while :; do sleep 0.05; done");
        let instance = instance(vec![job("quick", 1, "true"), job("slow", 1, &slow), job("next", 2, "true")]);
        let first = options(folder.path());
        let (stop, mark) = (first.stop.clone(), folder.path().join("mark"));
        let stopper = std::thread::spawn(move || {
            while !mark.exists() {
                std::thread::sleep(Duration::from_millis(5));
            }
            (0..requests).for_each(|_| stop.request());
        });
        let mut heard = Recorder::default();
        let trace = execute(&instance, &mut FirstCome, &first, &mut heard).unwrap();
        stopper.join().unwrap();
        assert!(trace.runs.iter().all(|run| run.task == TaskId(0)), "{trace:?}");
        assert!(heard.messages.iter().any(|text| text.contains("`slow` was interrupted")), "{:?}", heard.messages);
        assert!(text(folder.path(), "journal.jsonl").lines().last().unwrap().contains("stopped"));
        let second = ExecuteOptions { resume: true, ..options(folder.path()) };
        let whole = execute(&instance, &mut FirstCome, &second, &mut heard).unwrap();
        assert!(whole.all_succeeded(&instance), "{whole:?}");
        assert!(trace.runs.iter().all(|run| whole.runs.contains(run)));
    }
}

/// Starts the first job, and panics at the second call.
struct Broken(bool);

impl Policy for Broken {
    fn on(&mut self, _events: &[Event], _view: &View<'_>, decisions: &mut Vec<Decision>) {
        assert!(!std::mem::replace(&mut self.0, true), "this policy breaks down on purpose");
        decisions.push(start(0, "0"));
    }
}

#[test]
fn a_policy_that_panics_leaves_nothing_running() {
    let folder = tempfile::tempdir().unwrap();
    let mut late = job("b", 1, "true");
    late.release = Time::from_ticks(200_000_000);
    let instance = instance(vec![job("a", 1, "exec sleep 60"), late]);
    let run = || execute(&instance, &mut Broken(false), &options(folder.path()), &mut Silent);
    assert!(std::panic::catch_unwind(run).is_err());
    let journal = text(folder.path(), "journal.jsonl");
    let pid = journal
        .lines()
        .rfind(|line| line.contains("\"pid\""))
        .unwrap()
        .split_once("\"pid\":")
        .unwrap()
        .1
        .split(',')
        .next()
        .unwrap()
        .to_owned();
    assert!(!std::path::Path::new("/proc").join(pid).exists());
}
