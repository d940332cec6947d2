//! Tests of a session with an engine and nodes that come and go.

use crate::common;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

use common::{FirstCome, job, options};
use makespan_core::{Decision, Event, Instance, Outage, Outcome, Platform, Policy, ProcSet, Run, TaskId, View};
use makespan_exec::engine::{
    EarlierAttempt, Engine, EngineStart, Identity, LeftProcesses, Notice, Refusal, TakenAttempt,
};
use makespan_exec::{ExecuteError, ExecuteOptions, Observer, Progress, check_folder, reserve_folder};

/// An engine with two nodes of one processor. A task ends after a short time with status 0, unless its node is lost.
struct Nodes {
    begun: Instant,
    /// The end of each running task.
    running: BTreeMap<TaskId, Instant>,
    coming: VecDeque<(Duration, Notice)>,
    /// Tasks of an earlier session that still run.
    goes_on: BTreeSet<TaskId>,
    started: Rc<RefCell<Vec<(TaskId, u32, String)>>>,
    place: &'static str,
    lasts: Duration,
    /// True if the first node accepts no task, which the engine reports when a task is about to start there.
    closes: bool,
}

impl Nodes {
    fn new(coming: Vec<(u64, Notice)>) -> Self {
        let coming = coming.into_iter().map(|(at, notice)| (Duration::from_millis(at), notice)).collect();
        Self {
            begun: Instant::now(),
            running: BTreeMap::new(),
            coming,
            goes_on: BTreeSet::new(),
            started: Rc::default(),
            place: "cluster:x",
            lasts: Duration::from_millis(30),
            closes: false,
        }
    }
}

impl Engine for Nodes {
    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }

    fn place(&self) -> String {
        self.place.into()
    }

    fn follows(&self, place: &str) -> Result<(), String> {
        if place == self.place { Ok(()) } else { Err(format!("go on at {place}")) }
    }

    fn host(&self, processors: &ProcSet) -> String {
        format!("node {processors}")
    }

    fn awaits(&self) -> bool {
        !self.coming.is_empty()
    }

    fn start(&mut self, start: &EngineStart<'_>) -> Result<Identity, Refusal> {
        if self.closes && start.processors.contains(0) {
            self.coming.push_front((Duration::ZERO, down(9, "0", None)));
            return Err(Refusal { reason: "it closes".into(), passing: false, closing: true });
        }
        self.started.borrow_mut().push((start.task, start.attempt, start.processors.to_string()));
        Ok(Identity { pid: 0, start: 0 })
    }

    fn go(&mut self, task: TaskId, _claim: &str) {
        self.running.insert(task, Instant::now() + self.lasts);
    }

    fn call_off(&mut self, _task: TaskId) {}

    fn end(&mut self, task: TaskId, _kill: bool) {
        self.running.insert(task, Instant::now());
    }

    fn wait(&mut self, timeout: Duration) -> Option<Notice> {
        let begun = Instant::now();
        loop {
            if self.coming.front().is_some_and(|(at, _)| *at <= self.begun.elapsed()) {
                let notice = self.coming.pop_front()?.1;
                if let Notice::Lost(task, _) = &notice {
                    self.running.remove(task);
                }
                return Some(notice);
            }
            let ended = self.running.iter().find(|(_, end)| **end <= Instant::now()).map(|(&task, _)| task);
            if let Some(task) = ended {
                self.running.remove(&task);
                return Some(Notice::Ended(task));
            }
            if begun.elapsed() >= timeout {
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn reap(&mut self, _task: TaskId) -> i32 {
        0
    }

    fn take_over(&mut self, earlier: &[EarlierAttempt]) -> Vec<TakenAttempt> {
        let ours = earlier.iter().filter(|earlier| self.goes_on.contains(&earlier.task));
        let taken: Vec<TakenAttempt> =
            ours.map(|earlier| TakenAttempt { task: earlier.task, gpus: Vec::new() }).collect();
        for TakenAttempt { task, .. } in &taken {
            self.running.insert(*task, Instant::now() + self.lasts);
        }
        taken
    }

    fn is_alive(&self, _shim: Identity) -> bool {
        false
    }

    fn end_left(&mut self, _left: &LeftProcesses<'_>, _grace: Duration, _tell: &mut dyn FnMut(&str)) {}
}

#[derive(Default)]
struct Reports {
    lost: Vec<String>,
    ended: Vec<TaskId>,
    messages: Vec<String>,
}

impl Observer for Reports {
    fn lost(&mut self, run: &Run, reason: &str, attempt: u32, _progress: &Progress<'_>) {
        assert_eq!(run.outcome, Outcome::Interrupted);
        self.lost.push(format!("{} {attempt} {reason}", run.task.0));
    }

    fn ended(&mut self, run: &Run, _reason: Option<&str>, _progress: &Progress<'_>) {
        self.ended.push(run.task);
    }

    fn message(&mut self, text: &str) {
        self.messages.push(text.into());
    }
}

fn three() -> Instance {
    let jobs = (0..3).map(|index| job(&format!("j{index}"), 1, "true")).collect();
    Instance::new(Platform::cluster(2, 1).unwrap(), jobs, vec![]).unwrap()
}

fn run(engine: &mut Nodes, options: &ExecuteOptions) -> Result<(Vec<Run>, Reports), ExecuteError> {
    let (instance, mut reports) = (three(), Reports::default());
    let trace = reserve_folder(&instance, options)?.execute_on(engine, &mut FirstCome, &mut reports)?;
    Ok((trace.runs, reports))
}

fn down(outage: u32, processors: &str, expected: Option<u64>) -> Notice {
    let (outage, processors) = (Outage(outage), processors.parse().unwrap());
    Notice::Down { outage, processors, expected: expected.map(Duration::from_millis) }
}

#[test]
fn tasks_wait_for_nodes_and_go_on_when_one_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    // There is no node at first. Then a node comes and is lost with its task, and another node comes.
    let mut engine = Nodes::new(vec![
        (0, down(0, "0", None)),
        (0, down(1, "1", Some(20))),
        (20, Notice::Up(Outage(1))),
        (320, Notice::Lost(TaskId(0), "node 1 is gone".into())),
        (320, down(2, "1", None)),
        (400, Notice::Up(Outage(0))),
    ]);
    engine.lasts = Duration::from_millis(500);
    let started = engine.started.clone();
    let (runs, reports) = run(&mut engine, &options(folder.path())).unwrap();
    assert_eq!(reports.lost, ["0 1 node 1 is gone"]);
    let of = |task, attempt, at: &str| (TaskId(task), attempt, at.to_owned());
    assert_eq!(*started.borrow(), [of(0, 1, "1"), of(0, 2, "0"), of(1, 1, "0"), of(2, 1, "0")]);
    assert!(runs.len() == 3 && runs.iter().all(|run| run.outcome == Outcome::Succeeded));
}

#[test]
fn without_nodes_to_come_a_run_ends_and_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Nodes::new(vec![
        (0, down(0, "1", None)),
        (300, down(1, "0", None)),
        (301, Notice::Lost(TaskId(1), "its time was over".into())),
        (310, Notice::Over("no node is left".into())),
    ]);
    engine.lasts = Duration::from_millis(250);
    let (runs, reports) = run(&mut engine, &options(folder.path())).unwrap();
    assert_eq!((runs.len(), reports.messages), (1, vec!["no node is left".to_owned()]));
    let resumed = ExecuteOptions { resume: true, ..options(folder.path()) };
    let (runs, reports) = run(&mut Nodes::new(vec![]), &resumed).unwrap();
    assert_eq!((runs.len(), reports.ended), (3, vec![TaskId(1), TaskId(2)]));
}

#[test]
fn a_task_that_takes_its_node_with_it_again_and_again_has_failed() {
    let folder = tempfile::tempdir().unwrap();
    let lost = (0..4).map(|at| (300 * at + 200, Notice::Lost(TaskId(0), "its node is unavailable".into()))).collect();
    let mut engine = Nodes::new(lost);
    engine.lasts = Duration::from_secs(3);
    let (runs, reports) = run(&mut engine, &options(folder.path())).unwrap();
    assert_eq!(reports.lost.len(), 3);
    let of_first: Vec<Outcome> = runs.iter().filter(|run| run.task == TaskId(0)).map(|run| run.outcome).collect();
    assert_eq!(of_first, [Outcome::Failed { status: 137 }]);
}

#[test]
fn a_start_that_is_refused_since_its_node_closes_is_made_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Nodes { closes: true, ..Nodes::new(vec![]) };
    let started = engine.started.clone();
    let (runs, _) = run(&mut engine, &options(folder.path())).unwrap();
    assert!(runs.len() == 3 && runs.iter().all(|run| run.outcome == Outcome::Succeeded));
    assert!(started.borrow().iter().all(|(_, attempt, at)| *attempt == 1 && at == "1"));
}

#[test]
fn what_an_engine_finds_out_later_counts() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Nodes::new(vec![
        (300, Notice::Refused(TaskId(0), "no such program".into())),
        (301, Notice::TimedOut(TaskId(1))),
        (302, Notice::Told("a note".into())),
    ]);
    engine.lasts = Duration::from_secs(2);
    let (runs, reports) = run(&mut engine, &options(folder.path())).unwrap();
    let outcome = |task| runs.iter().find(|run| run.task == TaskId(task)).map(|run| run.outcome);
    assert_eq!(outcome(0), Some(Outcome::NotStarted));
    assert_eq!((outcome(1), outcome(2)), (Some(Outcome::TimedOut), Some(Outcome::Succeeded)));
    assert_eq!(reports.messages, ["a note"]);
}

/// A session that panics leaves its tasks running, like a session that is killed.
#[test]
fn what_goes_on_after_the_death_of_its_session_is_taken_over() {
    struct Dies;
    impl Observer for Dies {
        fn ended(&mut self, _run: &Run, _reason: Option<&str>, _progress: &Progress<'_>) {
            std::panic::resume_unwind(Box::new(()));
        }
    }
    let (folder, instance) = (tempfile::tempdir().unwrap(), three());
    let first = options(folder.path());
    let mut engine = Nodes::new(vec![(10, Notice::Lost(TaskId(2), "?".into()))]);
    let reserved = reserve_folder(&instance, &first).unwrap();
    let session = std::panic::AssertUnwindSafe(|| reserved.execute_on(&mut engine, &mut FirstCome, &mut Dies));
    assert!(std::panic::catch_unwind(session).is_err());
    let running = engine.running.keys().copied().collect::<BTreeSet<_>>();
    assert_eq!(running.len(), 1, "{running:?}");

    let resumed = ExecuteOptions { resume: true, ..options(folder.path()) };
    assert!(check_folder(&instance, &resumed).is_ok());
    let elsewhere = &mut Nodes { place: "cluster:y", ..Nodes::new(vec![]) };
    let refused = run(elsewhere, &resumed).err().unwrap();
    assert_eq!(refused.to_string(), "go on at cluster:x");

    let mut engine = Nodes { goes_on: running.clone(), ..Nodes::new(vec![]) };
    let started = engine.started.clone();
    let (runs, reports) = run(&mut engine, &resumed).unwrap();
    assert_eq!(runs.iter().map(|run| run.task).collect::<BTreeSet<_>>().len(), 3);
    assert!(runs.iter().all(|run| run.outcome == Outcome::Succeeded), "{runs:?}");
    assert!(started.borrow().iter().all(|(task, ..)| !running.contains(task)), "nothing that goes on is started again");
    assert!(running.iter().all(|task| reports.ended.contains(task)));
    // Finished tasks can be resumed on any engine.
    let elsewhere = &mut Nodes { place: "cluster:y", ..Nodes::new(vec![]) };
    assert_eq!(run(elsewhere, &resumed).unwrap().0.len(), 3);
}

/// Records the unavailable periods in its view, and starts no task that would overlap one.
struct Heeds {
    seen: Rc<RefCell<Vec<String>>>,
}

impl Policy for Heeds {
    fn on(&mut self, _events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let periods = view.instance.unavailable();
        let shown: Vec<String> = periods.iter().map(|period| period.processors.to_string()).collect();
        let shown = shown.join(" ");
        if self.seen.borrow().last() != Some(&shown) {
            self.seen.borrow_mut().push(shown);
        }
        let mut free = view.free.clone();
        for task in view.waiting.iter() {
            let open = |id: &u32| {
                let own = ProcSet::range(*id, *id);
                let end = view.now + view.instance.time(task, &own);
                !periods
                    .iter()
                    .any(|period| period.processors.contains(*id) && period.start < end && view.now < period.end)
            };
            let found = free.iter().find(open);
            if let Some(id) = found {
                let processors = ProcSet::range(id, id);
                free.remove(&processors);
                decisions.push(Decision::Start { task, processors });
            }
        }
    }
}

#[test]
fn the_end_of_processors_is_shown_and_long_tasks_wait_while_short_ones_start() {
    let folder = tempfile::tempdir().unwrap();
    // Each task takes a second. The first node is available for less than a second, and later for an hour.
    let closing = |at, after: Option<u64>| {
        let (outage, processors) = (Outage(0), ProcSet::range(0, 0));
        (at, Notice::Closing { outage, processors, after: after.map(Duration::from_millis) })
    };
    let mut engine = Nodes::new(vec![
        (0, down(1, "1", None)),
        closing(0, Some(500)),
        (300, down(0, "0", None)),
        closing(300, None),
        (400, Notice::Up(Outage(0))),
        closing(400, Some(3_600_000)),
    ]);
    let jobs = vec![job("a", 1, "true"), job("b", 1, "true")];
    let instance = Instance::new(Platform::cluster(2, 1).unwrap(), jobs, vec![]).unwrap();
    let (started, seen) = (engine.started.clone(), Rc::<RefCell<Vec<String>>>::default());
    let begun = Instant::now();
    let reserved = options(folder.path());
    let reserved = reserve_folder(&instance, &reserved).unwrap();
    let mut policy = Heeds { seen: seen.clone() };
    let trace = reserved.execute_on(&mut engine, &mut policy, &mut Reports::default()).unwrap();
    assert!(trace.runs.len() == 2 && begun.elapsed() >= Duration::from_millis(400));
    assert!(started.borrow().iter().all(|(_, attempt, at)| *attempt == 1 && at == "0"), "{started:?}");
    assert_eq!(*seen.borrow(), ["0", "", "0"]);
}
