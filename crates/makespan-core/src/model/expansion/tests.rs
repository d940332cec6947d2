use std::num::NonZeroU64;

use super::*;
use crate::model::{Edge, Graph, Load, NamedTask, Platform, ProcSet, Profile, Time, Weight};
use crate::schedule::{Placement, Schedule};

fn job(name: &str, count: u64, weight: u64) -> Job {
    let mut job = Job::new(name, Profile::rigid(1, Time::from_ticks(5)).unwrap())
        .with_weight(Weight::from_millionths(weight).unwrap());
    job.count = NonZeroU64::new(count);
    job.task.command = vec!["run".into(), "--part={task}".into()];
    job
}

fn instance(jobs: Vec<Job>) -> Instance {
    Instance::new(Platform::flat(2).unwrap(), jobs, vec![]).unwrap()
}

#[test]
fn every_task_becomes_a_job_and_goes_back() {
    let instance = instance(vec![job("a", 0, 7), job("b", 3, 8), job("c", 2, 0)]);
    let all = Expansion::of(&instance).unwrap();
    let names: Vec<&str> = all.instance.jobs().iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["a", "b/0", "b/1", "b/2", "c/0", "c/1"]);
    let weights: Vec<u64> = all.instance.jobs().iter().map(|job| job.weight.millionths()).collect();
    assert_eq!(weights, [7, 2, 2, 2, 0, 0]);
    let best_effort: Vec<bool> = all.instance.jobs().iter().map(Job::is_best_effort).collect();
    assert_eq!(best_effort, [false, false, false, false, true, true]);
    assert_eq!(all.instance.jobs()[3].task.command[1], "--part=2");
    assert_eq!(all.instance.jobs()[0].task.command[1], "--part={task}", "a job that is no bag keeps its command");
    let place =
        |job| Placement { job: JobId(job), task: 0, start: Time::ZERO, end: Time::TICK, processors: ProcSet::first(1) };
    let schedule = Schedule::new((0..6).map(place).collect());
    let original = all.original_schedule(&schedule);
    let tasks: Vec<(u32, u32)> = original.placements().iter().map(|p| (p.job.0, p.task)).collect();
    assert_eq!(tasks, [(0, 0), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)]);
    assert_eq!(all.expanded_schedule(&original), schedule);
    let competing = Expansion::competing(&instance).unwrap();
    assert_eq!(competing.tasks, [(0, 0), (1, 0), (1, 1), (1, 2)].map(|(job, task)| (JobId(job), task)));
}

#[test]
fn names_of_tasks_and_their_number_are_limited() {
    let clash = Expansion::of(&instance(vec![job("b", 3, 0), job("b/2", 0, 1)])).unwrap_err();
    assert_eq!(clash, InstanceError::TaskName("b/2".into()));
    for name in ["b/3", "b/02", "c/0", "b/"] {
        assert!(Expansion::of(&instance(vec![job("b", 3, 0), job(name, 0, 1)])).is_ok(), "{name}");
    }
    let many = instance(vec![job("b", 10_000_000, 0), job("a", 0, 1)]);
    let refused = Expansion::competing(&many).unwrap_err();
    assert!(refused.to_string().starts_with("there are 10000001 tasks in all, and at most 10000000"), "{refused}");
}

#[test]
fn tasks_of_a_compound_job_become_jobs_that_wait() {
    let task = |name, ticks| NamedTask::new(name, Profile::rigid(1, Time::from_ticks(ticks)).unwrap());
    let edge = |from, to| Edge { from, to, load: Load::Bytes(9) };
    let graph = Graph::new(vec![task("x", 1), task("y", 2), task("z", 3)], vec![edge(0, 2), edge(1, 2)]).unwrap();
    let mut compound = Job::compound("c", graph).with_weight(Weight::from_millionths(10).unwrap());
    compound.walltime = Some(Time::from_ticks(2));
    let original = instance(vec![job("b", 2, 4), compound.with_release(Time::from_ticks(7))]);
    let all = Expansion::of(&original).unwrap();
    let names: Vec<&str> = all.instance.jobs().iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["b/0", "b/1", "c/x", "c/y", "c/z"]);
    let last = all.instance.job(JobId(4));
    assert_eq!((last.weight.millionths(), last.release.ticks(), last.walltime), (3, 7, None));
    assert_eq!(all.tasks[4], (JobId(1), 2));
    let precedence = all.instance.precedence().unwrap();
    let before: Vec<u32> = precedence.incoming(JobId(4)).iter().map(|other| other.job.0).collect();
    let after: Vec<u32> = precedence.outgoing(JobId(3)).iter().map(|other| other.job.0).collect();
    assert_eq!((before, after), (vec![2, 3], vec![4]));
    assert!(precedence.incoming(JobId(0)).is_empty() && !all.instance.has_transfers());
    let wholes: Vec<(&str, std::ops::Range<u32>)> =
        precedence.wholes().iter().map(|whole| (whole.job.name.as_str(), whole.tasks())).collect();
    assert_eq!(wholes, [("b/0", 0..1), ("b/1", 1..2), ("c", 2..5)]);
    assert_eq!(precedence.whole_of(JobId(3)), 2);
    let competing = Expansion::competing(&original).unwrap();
    assert_eq!(competing.instance.jobs().len(), 3, "the two tasks of the bag, and the graph whole");
    let whole = competing.instance.job(JobId(2));
    assert_eq!((whole.name.as_str(), whole.is_compound(), competing.tasks[2]), ("c", true, (JobId(1), 0)));
    let mut jobs = original.jobs().to_vec();
    jobs.push(job("c/y", 0, 1));
    assert_eq!(Expansion::of(&instance(jobs)).unwrap_err(), InstanceError::SameName("c/y".into()));
}
