use super::*;
use crate::model::{Edge, Graph, NamedTask, Payload, Profile, Work};

fn rigid(name: &str, processors: u32, seconds: i64) -> Job {
    Job::new(name, Profile::rigid(processors, Time::from_seconds(seconds)).unwrap())
}

fn instance(jobs: Vec<Job>) -> Result<Instance, InstanceError> {
    Instance::new(Platform::flat(4).unwrap(), jobs, vec![])
}

#[test]
fn refuses_what_cannot_run() {
    let twice = instance(vec![rigid("a", 1, 1), rigid("a", 1, 1)]).unwrap_err();
    assert_eq!(twice, InstanceError::DuplicateName("a".into()));
    let long = "n".repeat(1 << 17);
    let long = Instance::new(Platform::flat(2).unwrap(), vec![rigid(&long, 1, 1)], vec![]).unwrap_err();
    assert_eq!(long, InstanceError::LongName { start: "n".repeat(40), length: 1 << 17 });
    assert!(matches!(instance(vec![rigid("a", 5, 1)]), Err(InstanceError::TooWide { needs: 5, .. })));
    let mut job = rigid("a", 1, 10);
    job.walltime = Some(Time::from_seconds(9));
    assert!(matches!(instance(vec![job]), Err(InstanceError::Walltime { .. })));
    let ages: Vec<Job> = (0..10).map(|i| rigid(&i.to_string(), 1, 1_000_000_000)).collect();
    assert_eq!(instance(ages).unwrap_err(), InstanceError::TooLong);
}

#[test]
fn clips_allotments_to_platform_and_walltime() {
    let times = [10, 6, 4, 3, 2].map(Time::from_seconds).to_vec();
    let mut job = Job::new("a", Profile::table(times).unwrap());
    job.walltime = Some(Time::from_seconds(6));
    let instance = instance(vec![job]).unwrap();
    let profile = instance.profile(TaskId(0));
    assert_eq!(profile.allotments().collect::<Vec<_>>(), [2, 3, 4]);
}

fn two_nodes(speeds: [f64; 2]) -> Platform {
    let node = |(at, speed): (usize, f64)| crate::model::Node { speed, ..crate::model::Node::new(format!("n{at}"), 2) };
    Platform::new(speeds.into_iter().enumerate().map(node).collect()).unwrap()
}

#[test]
fn a_job_may_have_a_time_of_its_own_on_each_machine() {
    let ticks = Time::from_ticks;
    let job = |name: &str, row: Vec<Time>| Job::new(name, Profile::on_machines(row).unwrap());
    let platform = || two_nodes([1.0, 2.0]);
    let mut short = job("c", vec![ticks(5), ticks(9)]);
    short.walltime = Some(ticks(6));
    let jobs = vec![job("a", vec![ticks(30), ticks(10)]), job("b", vec![Profile::CANNOT_RUN, ticks(7)]), short];
    let instance = Instance::new(platform(), jobs, vec![]).unwrap();
    assert!(instance.has_machine_times() && instance.is_sequential() && !instance.has_equal_processors());
    let on = |id: u64, processor: u32| instance.accepts(TaskId(id), &ProcSet::range(processor, processor));
    // Speeds have no effect if times are stated for each machine.
    assert_eq!(instance.time(TaskId(0), &ProcSet::range(1, 1)), ticks(30));
    assert_eq!(instance.time_on(TaskId(0), 1), Some(ticks(10)));
    assert_eq!((on(1, 1), on(1, 2), on(2, 0), on(2, 3), on(0, 4)), (false, true, true, false, false));
    assert!(!instance.accepts(TaskId(0), &ProcSet::first(2)));
    let short = |times: usize| Instance::new(platform(), vec![job("a", vec![ticks(1); times])], vec![]);
    assert_eq!(short(3).unwrap_err(), InstanceError::MachineTimes { job: "a".into(), times: 3, nodes: 2 });
    assert!(Profile::on_machines(vec![ticks(3), Time::ZERO]).is_err());
    assert_eq!(Profile::on_machines(vec![Profile::CANNOT_RUN]), Err(crate::model::ProfileError::NoMachine));
}

#[test]
fn a_walltime_is_kept_on_the_machines_that_are_fast_enough() {
    let mut job = rigid("a", 1, 10);
    job.walltime = Some(Time::from_seconds(6));
    let instance = Instance::new(two_nodes([1.0, 2.0]), vec![job.clone()], vec![]).unwrap();
    assert_eq!(instance.time_on(TaskId(0), 0), None);
    assert_eq!(instance.time_on(TaskId(0), 1), Some(Time::from_seconds(5)));
    assert!(Instance::new(two_nodes([1.0, 1.5]), vec![job], vec![]).is_err());
}

#[test]
fn a_walltime_is_not_kept_on_a_node_without_processors() {
    let node = |(at, processors): (usize, u32)| crate::model::Node::new(at.to_string(), processors);
    let row = vec![Time::from_ticks(1), Time::from_ticks(9)];
    let mut job = Job::new("a", Profile::on_machines(row).unwrap());
    job.walltime = Some(Time::from_ticks(5));
    let platform = Platform::new([0, 1].into_iter().enumerate().map(node).collect()).unwrap();
    let refused = Instance::new(platform, vec![job], vec![]).unwrap_err();
    assert!(matches!(refused, InstanceError::Walltime { shortest, .. } if shortest == Time::from_ticks(9)));
}

fn bag(name: &str, count: u64, weight: u64) -> Job {
    let weight = Weight::from_millionths(weight).unwrap();
    rigid(name, 1, 5)
        .with_weight(weight)
        .with_count(count.try_into().unwrap())
        .with_command(vec!["--part={task}".into()])
}

fn chain(name: &str) -> Job {
    let task = |name, ticks| NamedTask::new(name, Profile::rigid(1, Time::from_ticks(ticks)).unwrap());
    let edge = |from, to| Edge { from, to, payload: Payload::Bytes(9) };
    let graph = Graph::new(vec![task("x", 1), task("y", 2), task("z", 3)], vec![edge(2, 0), edge(1, 0)]).unwrap();
    Job::compound(name, graph).with_weight(Weight::from_millionths(10).unwrap()).with_deadline(Time::from_ticks(9))
}

#[test]
fn every_task_has_an_identifier_and_the_copies_of_a_bag_are_not_stored() {
    let plain = rigid("a", 1, 5).with_command(vec!["--part={task}".into()]);
    let jobs = vec![plain, bag("b", 3, 8), chain("c").with_release(Time::from_ticks(7)), bag("d", 1 << 24, 0)];
    let instance = instance(jobs).unwrap();
    assert_eq!(instance.tasks(), 7 + (1 << 24));
    let names: Vec<Cow<'_, str>> = (0..8).map(|id| instance.name(TaskId(id))).collect();
    assert_eq!(names, ["a", "b/0", "b/1", "b/2", "c/x", "c/y", "c/z", "d/0"]);
    assert_eq!(instance.name(TaskId(7 + 12_345_678)), "d/12345678");
    let of_tasks: Vec<(u32, u32)> =
        (0..8).map(|id| (instance.job_id(TaskId(id)).0, instance.number(TaskId(id)))).collect();
    assert_eq!(of_tasks, [(0, 0), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2), (3, 0)]);
    let weights: Vec<u64> = (1..8).map(|id| instance.weight(TaskId(id)).millionths()).collect();
    assert_eq!(weights, [2, 2, 2, 3, 3, 3, 0]);
    assert_eq!(
        (&*instance.command(TaskId(0)), &*instance.command(TaskId(2))),
        (&["--part={task}".to_owned()][..], &["--part=1".to_owned()][..])
    );
    assert_eq!((instance.release(TaskId(6)), instance.walltime(TaskId(6))), (Time::from_ticks(7), None));
    assert!(instance.has_task(TaskId(6 + (1 << 24))) && !instance.has_task(TaskId(7 + (1 << 24))));
    let alone = instance.alone(TaskId(7 + 5));
    assert_eq!((alone.name.as_str(), alone.work.tasks(), alone.weight), ("d/5", 1, Weight::ZERO));
    assert!(matches!(alone.work, Work::Bag(..)), "the task remains best effort");
}

#[test]
fn edges_lead_from_task_to_task() {
    let instance = instance(vec![bag("b", 2, 4), chain("c"), rigid("a", 1, 1), chain("e")]).unwrap();
    let before = |id| instance.incoming(TaskId(id)).map(|edge| edge.from.0).collect::<Vec<_>>();
    let after = |id| instance.outgoing(TaskId(id)).map(|edge| edge.to.0).collect::<Vec<_>>();
    assert_eq!((before(2), before(3), before(6)), (vec![4, 3], vec![], vec![8, 7]));
    assert_eq!((after(4), after(2), after(5), after(7)), (vec![2], vec![], vec![], vec![6]));
    assert!([0, 1, 5].into_iter().all(|id| before(id).is_empty() && after(id).is_empty()));
    let order = |job| instance.order(JobId(job)).map(|task| task.0).collect::<Vec<_>>();
    assert_eq!((order(0), order(1), order(2), order(3)), (vec![0], vec![3, 4, 2], vec![5], vec![7, 8, 6]));
    assert_eq!((instance.edges().len(), instance.edges_of(JobId(3))[0].to), (4, TaskId(6)));
    assert!(!instance.has_transfers(), "there is one node");
    assert_eq!(instance.submitted(JobId(3)), chain("e"));
}

#[test]
fn names_of_tasks_and_their_number_are_limited() {
    let refused = |jobs: Vec<Job>| instance(jobs).unwrap().check_task_names().err();
    assert_eq!(refused(vec![bag("b", 3, 0), rigid("b/2", 1, 1)]), Some(InstanceError::TaskName("b/2".into())));
    for name in ["b/3", "b/02", "c/0", "b/"] {
        assert_eq!(refused(vec![bag("b", 3, 0), rigid(name, 1, 1)]), None, "{name}");
    }
    assert_eq!(refused(vec![chain("c"), rigid("c/y", 1, 1)]), Some(InstanceError::SameName("c/y".into())));
    let many = refused(vec![bag("b", 10_000_000, 0), rigid("a", 1, 1)]).unwrap().to_string();
    assert!(many.starts_with("there are 10000001 tasks in all, but at most 10000000"), "{many}");
}

#[test]
fn an_instance_that_grew_is_the_one_that_was_whole() {
    let jobs = || {
        let wide = Job::new("w", Profile::table([9, 6, 5, 4, 3].map(Time::from_seconds).to_vec()).unwrap());
        vec![rigid("a", 2, 3), chain("c"), bag("b", 3, 8), wide.with_walltime(Time::from_seconds(6)), chain("e")]
    };
    let whole = instance(jobs()).unwrap();
    for split in 0..=5 {
        let mut first = jobs();
        let rest = first.split_off(split);
        let mut grown = instance(first).unwrap();
        for job in rest {
            let before = grown.jobs().len();
            let refused = grown.append(vec![rigid("new", 1, 1), rigid("late", 5, 1)]);
            assert!(matches!(refused, Err(InstanceError::TooWide { needs: 5, .. })));
            assert_eq!(grown.jobs().len(), before, "nothing was added");
            grown.append(vec![job]).unwrap();
        }
        assert_eq!((grown.jobs(), grown.edges(), grown.tasks()), (whole.jobs(), whole.edges(), whole.tasks()));
        assert_eq!(grown.all_submitted(), whole.all_submitted());
        for task in whole.task_ids() {
            assert!(grown.incoming(task).eq(whole.incoming(task)) && grown.outgoing(task).eq(whole.outgoing(task)));
            assert_eq!((grown.profile(task), grown.job_id(task)), (whole.profile(task), whole.job_id(task)));
        }
        assert_eq!(grown.append(vec![rigid("a", 1, 1)]), Err(InstanceError::DuplicateName("a".into())));
        assert_eq!(
            grown.append(vec![rigid("n", 1, 1), rigid("n", 1, 1)]),
            Err(InstanceError::DuplicateName("n".into()))
        );
        let ages = (0..10).map(|i| rigid(&i.to_string(), 1, 1_000_000_000)).collect();
        assert_eq!(grown.append(ages), Err(InstanceError::TooLong));
    }
}
