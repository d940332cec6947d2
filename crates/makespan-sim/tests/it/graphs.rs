//! Properties of all simulations of compound jobs. The tasks of a compound job wait for each other.

use crate::common;

use common::wanderer::Wanderer;
use common::{FirstCome, Once, rigid, seconds, start};
use makespan_core::{
    Actual, Decision, Defect, Edge, Event, Failure, Graph, Instance, Job, Link, Measures, NamedTask, Node, Outcome,
    Payload, Platform, Policy, ProcSet, Profile, Run, TaskId, Time, Trace, View, Weight, validate,
};
use makespan_sim::{Silent, Simulation, SimulationError, SimulationOptions, simulate};
use proptest::prelude::*;

fn milliseconds(ms: i64) -> Time {
    Time::from_ticks(1_000_000 * ms)
}

/// Returns six processors: on one node, on a connected cluster, or on nodes of unequal speed on a tree.
fn platform(kind: u8) -> Platform {
    let link = Link { bandwidth: 1000.0, latency: milliseconds(30) };
    match kind {
        0 => Platform::flat(6).unwrap(),
        1 => Platform::cluster(3, 2).unwrap().with_interconnect(link).unwrap(),
        2 => Platform::cluster(3, 2).unwrap().with_interconnect(link).unwrap().with_local_transfers(),
        _ => {
            let node = |(name, processors, speed, parent): (&str, u32, f64, Option<usize>)| Node {
                speed,
                parent,
                link: parent.map(|_| link),
                ..Node::new(name, processors)
            };
            let nodes =
                [("switch", 0, 1.0, None), ("a", 2, 1.5, Some(0)), ("b", 3, 0.7, Some(0)), ("c", 1, 3.0, Some(1))];
            Platform::new(nodes.map(node).to_vec()).unwrap()
        }
    }
}

fn payload(kind: u8, amount: u16) -> Payload {
    if kind == 0 { Payload::Fixed(milliseconds(i64::from(amount))) } else { Payload::Bytes(u64::from(amount)) }
}

prop_compose! {
    /// A graph of tasks. Each bit that is set stands for an edge from a task to a later task.
    fn graph()(
        tasks in prop::collection::vec((1_i64..9000, prop::option::of(2_u32..5)), 1..8),
        edges in prop::collection::vec((any::<u16>(), 0_u8..3, 0_u16..4000), 0..12),
    ) -> Graph {
        let count = tasks.len() as u16;
        let task = |(index, &(ms, wide)): (usize, &(i64, Option<u32>))| {
            let profile = match wide {
                Some(width) => Profile::rigid(width, milliseconds(ms)).unwrap(),
                None => Profile::table(vec![milliseconds(2 * ms), milliseconds(ms)]).unwrap(),
            };
            NamedTask::new(format!("t{index}"), profile)
        };
        let edge = |(pair, kind, amount): (u16, u8, u16)| {
            let (a, b) = (u32::from(pair % count), u32::from(pair / 256 % count));
            (a != b).then(|| Edge { from: a.min(b), to: a.max(b), payload: payload(kind, amount) })
        };
        let mut edges: Vec<Edge> = edges.into_iter().filter_map(edge).collect();
        edges.sort_by_key(|edge| (edge.from, edge.to));
        edges.dedup_by_key(|edge| (edge.from, edge.to));
        Graph::new(tasks.iter().enumerate().map(task).collect(), edges).unwrap()
    }
}

prop_compose! {
    fn instance()(
        kind in 0_u8..4,
        graphs in prop::collection::vec((graph(), 0_i64..20_000), 1..4),
        simple in prop::collection::vec((1_i64..5000, 0_i64..20_000), 0..4),
    ) -> Instance {
        let compound = |(index, (graph, release)): (usize, (Graph, i64))| {
            Job::compound(format!("c{index}"), graph).with_release(milliseconds(release))
        };
        let simple = simple.into_iter().enumerate().map(|(index, (ms, release))| {
            let profile = Profile::rigid(1, milliseconds(ms)).unwrap();
            Job::new(format!("s{index}"), profile).with_release(milliseconds(release))
        });
        let jobs = graphs.into_iter().enumerate().map(compound).chain(simple).collect();
        Instance::new(platform(kind), jobs, vec![]).unwrap()
    }
}

fn real(instance: &Instance, percents: &[i64]) -> Actual {
    let of = |estimate: &Profile, percent: i64| {
        let time = |ticks: Time| Time::from_ticks((ticks.ticks() * percent / 100).max(1));
        match estimate.times() {
            Some(times) => Profile::table(times.iter().map(|&ticks| time(ticks)).collect()).unwrap(),
            None => Profile::rigid(estimate.min_processors(), time(estimate.shortest())).unwrap(),
        }
    };
    let percents = percents.iter().cycle();
    Actual::Profiles(
        instance.task_ids().zip(percents).map(|(task, &percent)| of(instance.profile(task), percent)).collect(),
    )
}

fn of_task(trace: &Trace, task: TaskId) -> Vec<&Run> {
    trace.runs.iter().filter(|run| run.task == task).collect()
}

/// Returns the last successful run of a task.
fn success(trace: &Trace, task: TaskId) -> Option<&Run> {
    trace.runs.iter().find(|run| run.task == task && run.outcome == Outcome::Succeeded)
}

/// Checks that no run starts before all predecessors have ended and their data have arrived at the nodes of the run.
fn tasks_wait_for_each_other(instance: &Instance, trace: &Trace) {
    for run in trace.runs.iter().filter(|run| run.outcome != Outcome::NotStarted) {
        for dependence in instance.incoming(run.task) {
            let before =
                success(trace, dependence.from).expect("a task started although a predecessor did not succeed");
            let platform = instance.platform();
            for from in before.processors.iter().map(|id| platform.node_of(id)) {
                for to in run.processors.iter().map(|id| platform.node_of(id)) {
                    assert!(run.start >= before.end + platform.route(from, to).time(dependence.payload), "{run:?}");
                }
            }
        }
    }
}

/// Checks that every task ends once, is cancelled once, or is not started. A task is not started if and only if a
/// predecessor did not succeed.
fn every_task_once(instance: &Instance, simulation: &Simulation) {
    for task in instance.task_ids() {
        let runs = of_task(&simulation.trace, task);
        let final_runs = runs.iter().filter(|run| run.outcome != Outcome::Interrupted).count();
        let cancelled = simulation.cancelled.iter().filter(|&&other| other == task).count();
        assert_eq!(final_runs + cancelled, 1, "{runs:?}");
        let not_started = runs.iter().any(|run| run.outcome == Outcome::NotStarted);
        let mut waits = instance.incoming(task);
        assert_eq!(not_started, waits.any(|other| success(&simulation.trace, other.from).is_none()), "{runs:?}");
        assert!(!not_started || runs.len() == 1);
    }
    assert!(simulation.trace.runs.is_sorted_by_key(|run| run.end));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn tasks_and_their_data_come_in_order(
        instance in instance(),
        percents in prop::collection::vec(20_i64..300, 1..20),
        failures in prop::collection::vec((0_u32..6, 0_i64..30_000, 1_i64..9000), 0..5),
        requeues in 0_u32..3,
        cancels in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let failure = |(id, down, length): (u32, i64, i64)| Failure {
            processors: ProcSet::range(id, id),
            down: milliseconds(down),
            up: milliseconds(down + length),
            expected_up: None,
        };
        let failures = failures.into_iter().map(failure).collect();
        let options = SimulationOptions { failures, requeues, ..SimulationOptions::default() };
        let actual = real(&instance, &percents);
        let policy = &mut Wanderer::new(seed, cancels);
        let simulation = simulate(&instance, &actual, policy, &options, &mut Silent).unwrap();
        tasks_wait_for_each_other(&instance, &simulation.trace);
        every_task_once(&instance, &simulation);
        let measures = Measures::of(&instance, &simulation.trace);
        prop_assert!(measures.jobs <= instance.jobs().len());
    }

    #[test]
    fn what_happened_is_a_valid_schedule_of_the_compound_jobs(instance in instance(), seed in any::<u64>()) {
        let (policy, options) = (&mut Wanderer::new(seed, false), SimulationOptions::default());
        let simulation = simulate(&instance, &Actual::AsEstimated, policy, &options, &mut Silent).unwrap();
        let schedule = simulation.trace.schedule();
        prop_assert_eq!(validate(&instance, &schedule), Ok(()));
        let measures = Measures::of(&instance, &simulation.trace);
        prop_assert_eq!(measures.jobs, instance.jobs().len());
        let completion = instance.ids().map(|id| {
            let own = schedule.placements().iter().filter(|placement| instance.job_id(placement.task) == id);
            own.map(|placement| placement.end).max().unwrap().seconds()
        });
        prop_assert!((measures.weighted_completion - completion.sum::<f64>()).abs() < 1e-6);
    }
}

/// Returns a diamond with times in seconds: `a` takes 2, then `b` takes 3 and `c` takes 1, then `d` takes 1. There are
/// three nodes with one processor each, and each transfer between two nodes takes one second.
fn diamond() -> Instance {
    let task = |(name, time): (&str, i64)| NamedTask::new(name, rigid(1, time));
    let edge = |(from, to): (u32, u32)| Edge { from, to, payload: Payload::Fixed(seconds(1)) };
    let tasks = [("a", 2), ("b", 3), ("c", 1), ("d", 1)].map(task).to_vec();
    let graph = Graph::new(tasks, [(0, 1), (0, 2), (1, 3), (2, 3)].map(edge).to_vec()).unwrap();
    let job = Job::compound("j", graph).with_weight(Weight::from_millionths(2_000_000).unwrap());
    let other = Job::new("x", rigid(1, 1)).with_release(seconds(50));
    Instance::new(Platform::cluster(3, 1).unwrap(), vec![job, other], vec![]).unwrap()
}

#[test]
fn a_start_before_the_data_is_a_defect() {
    let instance = diamond();
    assert!(instance.has_transfers());
    let options = SimulationOptions::default();
    let eager = simulate(&instance, &Actual::AsEstimated, &mut FirstCome, &options, &mut Silent).unwrap_err();
    let SimulationError::Policy { at, defect: Defect::Data { ref job, ref from, arrival, .. } } = eager else {
        panic!("{eager}");
    };
    // `b` runs on the processor of `a`. `c` would start on another processor before the data of `a` have arrived there.
    assert_eq!((at, job.as_str(), from.as_str(), arrival), (seconds(2), "j/c", "j/a", seconds(3)));
    let unready = simulate(&instance, &Actual::AsEstimated, &mut Once(vec![start(1, "0")]), &options, &mut Silent);
    assert!(unready.unwrap_err().to_string().contains("`j/b`, which is not waiting"));
}

#[test]
fn what_waits_for_a_failed_task_is_not_started() {
    let instance = diamond();
    let mut random = Wanderer::new(1, false);
    let failures =
        vec![Failure { processors: common::set("0-2"), down: seconds(0), up: seconds(40), expected_up: None }];
    let options = SimulationOptions { failures, requeues: 0, ..SimulationOptions::default() };
    let fine = simulate(&instance, &Actual::AsEstimated, &mut random, &options, &mut Silent).unwrap();
    assert_eq!(fine.trace.runs.len(), 5, "no task had run when all processors went down");
    // `a` starts at 0 and loses its processor after a second.
    let failures =
        vec![Failure { processors: common::set("0-2"), down: seconds(1), up: seconds(40), expected_up: None }];
    let options = SimulationOptions { failures, ..options };
    let lost = simulate(&instance, &Actual::AsEstimated, &mut FirstCome, &options, &mut Silent).unwrap();
    let runs: Vec<_> = lost.trace.runs.iter().map(|run| (run.task.0, run.outcome, run.end)).collect();
    let not_started = |task| (task, Outcome::NotStarted, seconds(1));
    let failed = (0, Outcome::Failed { status: 137 }, seconds(1));
    let expected = [failed, not_started(1), not_started(2), not_started(3), (4, Outcome::Succeeded, seconds(51))];
    assert_eq!(runs, expected);
    let measures = Measures::of(&instance, &lost.trace);
    assert_eq!((measures.jobs, measures.failed), (2, 1));
    assert!((measures.weighted_completion - (2.0 + 51.0)).abs() < 1e-9);
}

/// A policy that cancels the first task and starts the other tasks.
struct Picky(Vec<Event>);

impl Policy for Picky {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        if self.0.is_empty() {
            decisions.push(Decision::Cancel(TaskId(0)));
        } else {
            FirstCome.on(events, view, decisions);
        }
        self.0.extend(events);
    }
}

#[test]
fn giving_up_a_task_gives_up_what_waits_for_it() {
    let instance = diamond();
    let (mut policy, options) = (Picky(Vec::new()), SimulationOptions::default());
    let simulation = simulate(&instance, &Actual::AsEstimated, &mut policy, &options, &mut Silent).unwrap();
    assert_eq!(simulation.cancelled, [TaskId(0)]);
    let outcomes: Vec<_> = simulation.trace.runs.iter().map(|run| (run.task.0, run.outcome)).collect();
    let not_started = |task| (task, Outcome::NotStarted);
    assert_eq!(outcomes, [not_started(1), not_started(2), not_started(3), (4, Outcome::Succeeded)]);
    let failed = |task| Event::Failed(TaskId(task));
    let heard = [Event::Submitted(TaskId(0)), failed(1), failed(2), failed(3), Event::Submitted(TaskId(4))];
    assert_eq!(policy.0[..5], heard);
    assert_eq!(Measures::of(&instance, &simulation.trace).jobs, 1);
}
