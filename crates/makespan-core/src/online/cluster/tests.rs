use super::*;
use crate::model::{Edge, Graph, Job, NamedTask, Payload, Platform, Profile};

fn seconds(s: i64) -> Time {
    Time::from_seconds(s)
}

fn set(text: &str) -> ProcSet {
    text.parse().unwrap()
}

fn instance(platform: Platform, periods: &[(&str, i64, i64)]) -> Instance {
    let task = |id: usize| Job::new(id.to_string(), Profile::rigid(2, seconds(10)).unwrap());
    let period = |&(text, start, end): &(&str, i64, i64)| Unavailable {
        processors: set(text),
        start: seconds(start),
        end: seconds(end),
    };
    Instance::new(platform, (0..4).map(task).collect(), periods.iter().map(period).collect()).unwrap()
}

/// Submits and starts a task, as the driver of a policy does.
fn start(cluster: &mut Cluster<'_>, task: u64, processors: &str) -> Result<(), Defect> {
    let (task, processors) = (TaskId(task), set(processors));
    cluster.submit(task);
    cluster.start(task, processors).map(drop)
}

fn free(cluster: &Cluster<'_>) -> String {
    cluster.view().free.to_string()
}

#[test]
fn starts_and_ends_change_what_is_free() {
    let instance = instance(Platform::flat(8).unwrap(), &[]);
    let mut cluster = Cluster::new(&instance);
    for (task, processors) in [(0, "0-1"), (1, "2-3"), (2, "5,7")] {
        start(&mut cluster, task, processors).unwrap();
    }
    assert_eq!(free(&cluster), "4,6");
    // When task 0 is removed, the last running task takes its position in the list.
    assert_eq!(cluster.end(TaskId(0)).unwrap().processors, set("0-1"));
    assert_eq!(cluster.end(TaskId(0)), None);
    assert_eq!(cluster.run_of(TaskId(2)).unwrap().processors, set("5,7"));
    assert_eq!(cluster.end(TaskId(2)).unwrap().task, TaskId(2));
    assert_eq!((free(&cluster).as_str(), cluster.running().len()), ("0-1,4-7", 1));
    assert!(matches!(start(&mut cluster, 3, "1-2"), Err(Defect::Busy { busy, .. }) if busy == set("2")));
}

#[test]
fn periods_open_and_close_even_where_they_overlap() {
    let instance = instance(Platform::flat(6).unwrap(), &[("0-1", 10, 20), ("1-2", 15, 30), ("5", 0, 20)]);
    let mut cluster = Cluster::new(&instance);
    assert_eq!(free(&cluster), "0-4");
    assert_eq!(cluster.next_change(), Some(seconds(10)));
    assert!(matches!(start(&mut cluster, 0, "4-5"), Err(Defect::Unavailable { closed, until, .. })
        if closed == set("5") && until == seconds(20)));
    assert!(start(&mut cluster, 0, "0-1").is_ok(), "it ends when the period begins");
    cluster.end(TaskId(0));
    cluster.advance(seconds(6));
    assert!(matches!(start(&mut cluster, 1, "2-3"), Err(Defect::Closing { from, end, .. })
        if from == seconds(15) && end == seconds(16)));
    assert!(cluster.waiting().contains(TaskId(1)), "a refused start changes nothing");
    assert!(start(&mut cluster.clone().with_grace(seconds(1)), 1, "2-3").is_ok());
    assert!(cluster.advance(seconds(17)));
    assert_eq!(free(&cluster), "3-4");
    assert!(!cluster.advance(seconds(20)));
    assert_eq!(free(&cluster), "0,3-5");
    cluster.advance(seconds(30));
    assert_eq!((free(&cluster).as_str(), cluster.next_change()), ("0-5", None));
    assert!(cluster.blocked().is_empty());
}

#[test]
fn what_is_down_is_not_free_and_expected_back_later_when_it_is_overdue() {
    let instance = instance(Platform::flat(6).unwrap(), &[("1", 0, 50)]);
    let mut cluster = Cluster::new(&instance);
    start(&mut cluster, 0, "2-3").unwrap();
    cluster.advance(seconds(5));
    cluster.fail(Outage(7), &set("0-3"), Some(seconds(400)));
    cluster.fail(Outage(9), &set("0,5"), None);
    assert_eq!(cluster.view().down[1].end, seconds(65));
    assert_eq!(free(&cluster), "4");
    cluster.end(TaskId(0));
    assert_eq!(free(&cluster), "4");
    cluster.advance(seconds(405));
    // For the first failure, a repair after 395 s was announced, so the repair is postponed by a quarter of this time,
    // rounded up: 99 s. For the second failure, no repair was announced: the repair is postponed by a minute five
    // times, and then by quarters of 300 s and of 375 s.
    assert_eq!(cluster.view().down.iter().map(|down| down.end).collect::<Vec<_>>(), [seconds(499), seconds(474)]);
    cluster.repair(Outage(7));
    assert_eq!(free(&cluster), "1-4");
    assert!(matches!(start(&mut cluster, 1, "0-1"), Err(Defect::Unavailable { closed, .. }) if closed == set("0")));
    cluster.repair(Outage(9));
    assert_eq!((free(&cluster).as_str(), cluster.view().down.len()), ("0-5", 0));
}

/// A failure of processors that are already down changes their expected repair only if it announces a later repair. If
/// one of several failures of a processor ends, the expected repair changes only if the remaining failures announce an
/// earlier repair.
#[test]
fn failures_that_overlap_count_once() {
    let instance = instance(Platform::flat(6).unwrap(), &[]);
    let mut cluster = Cluster::new(&instance);
    let down = |cluster: &Cluster<'_>| {
        let view = cluster.view();
        let period = |one: &Unavailable| (one.processors.to_string(), one.start.ticks(), one.end.ticks());
        let mut down: Vec<_> = view.down.iter().map(period).collect();
        down.iter_mut().for_each(|one| (one.1, one.2) = (one.1 / seconds(1).ticks(), one.2 / seconds(1).ticks()));
        down.sort();
        down
    };
    let row = |text: &str, start: i64, end: i64| (text.to_owned(), start, end);
    assert_eq!(cluster.fail(Outage(0), &set("0-3"), None), set("0-3"));
    cluster.advance(seconds(30));
    // These failures announce no repair, or a repair that is earlier than the expected repair.
    assert_eq!(cluster.fail(Outage(1), &set("1"), None), ProcSet::new());
    assert_eq!(cluster.fail(Outage(2), &set("2"), Some(seconds(50))), ProcSet::new());
    assert_eq!(down(&cluster), [row("0-3", 0, 60)]);
    assert_eq!(cluster.fail(Outage(3), &set("3-4"), Some(seconds(200))), set("3-4"));
    assert_eq!(down(&cluster), [row("0-2", 0, 60), row("3", 0, 200), row("4", 30, 200)]);
    cluster.advance(seconds(100));
    assert_eq!(down(&cluster), [row("0-2", 0, 120), row("3", 0, 200), row("4", 30, 200)]);
    assert_eq!(cluster.repair(Outage(0)), set("0"));
    assert_eq!(down(&cluster), [row("1-2", 0, 120), row("3", 0, 200), row("4", 30, 200)]);
    assert_eq!(cluster.fail(Outage(4), &set("3"), Some(seconds(150))), ProcSet::new());
    assert_eq!(cluster.repair(Outage(3)), set("3-4"));
    assert_eq!(down(&cluster), [row("1-2", 0, 120), row("3", 0, 150)]);
    assert_eq!(cluster.repair(Outage(3)), ProcSet::new());
    for outage in [1, 2, 4] {
        cluster.repair(Outage(outage));
    }
    assert_eq!((free(&cluster).as_str(), down(&cluster).len()), ("0-5", 0));
}

#[test]
fn best_placement_is_checked_where_it_is_required() {
    let instance = instance(Platform::cluster(3, 2).unwrap().requiring_compact(), &[]);
    let mut cluster = Cluster::new(&instance);
    assert!(matches!(start(&mut cluster, 0, "1-2"), Err(Defect::Scattered { .. })));
    assert!(start(&mut cluster, 1, "2-3").is_ok());
}

#[test]
fn a_cluster_takes_in_jobs_while_it_runs() {
    let task = |name| NamedTask::new(name, Profile::rigid(1, seconds(2)).unwrap());
    let edge = Edge { from: 0, to: 1, payload: Payload::Bytes(0) };
    let graph = Graph::new(vec![task("x"), task("y")], vec![edge]).unwrap();
    let instance = instance(Platform::flat(6).unwrap(), &[]);
    let mut cluster = Cluster::new(&instance);
    start(&mut cluster, 3, "0-1").unwrap();
    let bag = Job::new("bag", Profile::rigid(1, seconds(1)).unwrap()).with_count(2.try_into().unwrap());
    cluster.append(vec![bag, Job::compound("c", graph)]).unwrap();
    assert_eq!((cluster.instance().tasks(), instance.tasks()), (8, 4));
    assert!(cluster.append(vec![Job::new("c", Profile::rigid(1, seconds(1)).unwrap())]).is_err());
    assert!(cluster.submit(TaskId(6)) && !cluster.submit(TaskId(7)), "the second task waits for the first");
    start(&mut cluster, 5, "2").unwrap();
    start(&mut cluster, 6, "3").unwrap();
    assert_eq!(cluster.run_of(TaskId(3)).unwrap().processors, set("0-1"));
    let ended = cluster.end(TaskId(6)).unwrap();
    cluster.advance(seconds(2));
    assert_eq!(cluster.succeed(TaskId(6), seconds(2), &ended.processors), [TaskId(7)]);
    start(&mut cluster, 7, "3").unwrap();
    assert_eq!((free(&cluster).as_str(), cluster.name(TaskId(7))), ("4-5", "c/y".into()));
}

#[test]
fn what_running_tasks_need_is_held_until_they_end() {
    use crate::model::{Need, Needs, Resources};
    let amounts = |amounts: &[(&str, u64)]| Resources::new(amounts.iter().copied()).unwrap();
    let platform = Platform::cluster(2, 2).unwrap().with_node_resources(&amounts(&[("gpus", 2)])).unwrap();
    let platform = platform.with_licences(amounts(&[("solver", 1)])).unwrap();
    let platform = platform.with_consumables(amounts(&[("budget", 3)])).unwrap();
    let job = |name: &str, needs: &[(&str, u64)]| {
        let needs = Needs::new(needs.iter().map(|&(name, amount)| (name, Need::whole(amount)))).unwrap();
        Job::new(name, Profile::rigid(1, seconds(10)).unwrap()).with_needs(needs)
    };
    let jobs = vec![
        job("a", &[("gpus", 2)]),
        job("b", &[("gpus", 1)]),
        job("c", &[("solver", 1), ("budget", 2)]),
        job("d", &[("solver", 1)]),
        // On two processors, the task would use up less than on one, so the instance itself is valid.
        Job::new("e", Profile::table(vec![seconds(10), seconds(9)]).unwrap())
            .with_needs(Needs::new([("budget", Need::ByAllotment([2, 1].into()))]).unwrap()),
    ];
    let instance = Instance::new(platform, jobs, vec![]).unwrap();
    let mut cluster = Cluster::new(&instance);
    start(&mut cluster, 0, "0").unwrap();
    let short = start(&mut cluster, 1, "1").unwrap_err().to_string();
    assert!(
        short.contains("needs 1 of `gpus` on node `n0` at 0 s, but other jobs hold 2 of the total of 2"),
        "{short}"
    );
    assert_eq!(cluster.view().waiting.len(), 1, "nothing is changed");
    start(&mut cluster, 1, "2").unwrap();
    start(&mut cluster, 2, "1").unwrap();
    assert!(
        start(&mut cluster, 3, "3")
            .unwrap_err()
            .to_string()
            .contains("needs 1 of `solver` at 0 s, but other jobs hold 1 of the total of 1")
    );
    let budget = instance.platform().resource("budget").unwrap();
    // A task returns its consumables only if it has to start again.
    cluster.end(TaskId(2)).unwrap();
    assert!(
        start(&mut cluster, 4, "3")
            .unwrap_err()
            .to_string()
            .contains("needs 2 of `budget` at 0 s, but other jobs hold 2 of the total of 3")
    );
    start(&mut cluster, 2, "1").unwrap();
    assert_eq!(cluster.view().ended.used_up(budget), 2);
    cluster.end(TaskId(0)).unwrap();
    cluster.end(TaskId(2)).unwrap();
    start(&mut cluster, 3, "0").unwrap();
    // A task that ended before the cluster was created has used up its consumables, but holds nothing.
    let mut later = Cluster::new(&instance);
    [0, 2].iter().for_each(|&task| later.has_used_up(TaskId(task), &set("0")));
    assert_eq!(later.view().ended.used_up(budget), 2);
    start(&mut later, 1, "0").unwrap();
    start(&mut later, 3, "1").unwrap();
    assert!(start(&mut later, 4, "2").unwrap_err().to_string().contains("`budget`"));
    start(&mut later, 2, "2").unwrap_err();
    assert_eq!(later.view().ended.used_up(budget), 0);
}

#[test]
fn jobs_wait_for_jobs_and_for_all_tasks_of_bags() {
    let job = |name: &str| Job::new(name, Profile::rigid(1, seconds(1)).unwrap());
    let two = 2.try_into().unwrap();
    let jobs = vec![job("a").with_after(["b"]).with_count(two), job("b").with_count(two), job("c").with_after(["a"])];
    let instance = Instance::new(Platform::flat(4).unwrap(), jobs, vec![]).unwrap();
    let mut cluster = Cluster::new(&instance);
    let submitted: Vec<bool> = instance.task_ids().map(|task| cluster.submit(task)).collect();
    assert_eq!(submitted, [false, false, true, true, false]);
    assert_eq!(cluster.succeed(TaskId(3), seconds(1), &set("0")), []);
    assert_eq!(cluster.succeed(TaskId(2), seconds(1), &set("1")), [TaskId(0), TaskId(1)]);
    cluster.succeed(TaskId(1), seconds(2), &set("0"));
    // Jobs that are appended later wait only for those predecessors that have not ended yet.
    assert_eq!(cluster.append(vec![job("d").with_after(["b"]), job("e").with_after(["a", "d"])]).unwrap(), []);
    assert!(cluster.submit(TaskId(5)) && !cluster.submit(TaskId(6)));
    assert_eq!(cluster.abandon(TaskId(0)), [TaskId(4), TaskId(6)]);
    assert_eq!(
        cluster.append(vec![job("f").with_after(["e"]), job("g").with_after(["f"])]).unwrap(),
        [TaskId(7), TaskId(8)]
    );
    assert!(!cluster.submit(TaskId(7)));
}
