//! Tests of the flow policies in the simulator, on examples with known results and on random flows.

use makespan_core::{
    Actual, Failure, Instance, Job, Node, Outcome, Platform, ProcSet, Profile, Run, TaskId, Time, Trace,
};
use makespan_sim::{Silent, SimulationOptions, simulate};
use proptest::prelude::*;

use super::super::policy_for;
use super::{MAPPERS, mapper};

fn s(seconds: i64) -> Time {
    Time::from_seconds(seconds)
}

/// Returns an instance with nodes of these speeds, and with these tasks. The sizes and releases of tasks are in
/// seconds.
fn flow(speeds: &[f64], tasks: &[(i64, i64)]) -> Instance {
    let node = |(index, &speed): (usize, &f64)| Node { speed, ..Node::new(format!("n{index}"), 1) };
    let platform = Platform::new(speeds.iter().enumerate().map(node).collect()).unwrap();
    let job = |(index, &(size, release)): (usize, &(i64, i64))| {
        Job::new(index.to_string(), Profile::rigid(1, s(size)).unwrap()).with_release(s(release))
    };
    Instance::new(platform, tasks.iter().enumerate().map(job).collect(), vec![]).unwrap()
}

fn played(instance: &Instance, spec: &str) -> Trace {
    let mut policy = policy_for(spec, instance, 1).unwrap_or_else(|error| panic!("{error}"));
    let options = SimulationOptions::default();
    simulate(instance, &Actual::AsEstimated, policy.as_mut(), &options, &mut Silent)
        .unwrap_or_else(|error| panic!("{spec}: {error}"))
        .trace
}

/// Returns the runs by task. Each run is the task, its start in milliseconds, and its processor.
fn runs(instance: &Instance, spec: &str) -> Vec<(u64, i64, u32)> {
    let of = |run: &Run| (run.task.0, run.start.ticks() / 1_000_000, run.processors.last().unwrap());
    let mut runs: Vec<_> = played(instance, spec).runs.iter().map(of).collect();
    runs.sort_unstable();
    runs
}

#[test]
fn immediate_mode_sends_each_task_to_where_it_is_complete_first() {
    let instance = flow(&[1.0, 2.0], &[(8, 0), (8, 1), (3, 2)]);
    // The fast node runs task 0 until 4, and then task 1 until 8, because task 1 would end at 9 on the slow node. The
    // slow node runs task 2 until 5.
    assert_eq!(runs(&instance, "immediate"), [(0, 0, 1), (1, 4000, 1), (2, 2000, 0)]);
    // The communication delays only the tasks on idle nodes.
    let sent = runs(&instance, "immediate[communication=0.5s]");
    assert_eq!(sent, [(0, 500, 1), (1, 4500, 1), (2, 2500, 0)]);
}

#[test]
fn intervals_are_multiples_and_a_mapping_delays_the_next() {
    let instance = flow(&[1.0], &[(1, 0), (1, 3), (1, 20), (1, 21)]);
    assert_eq!(runs(&instance, "interval"), [(0, 0, 0), (1, 20_000, 0), (2, 21_000, 0), (3, 40_000, 0)]);
    // The tasks are sent 40 exp(1 / 1580) - 40 = 0.0253 s after the multiple of the interval.
    let late = runs(&instance, "interval[scheduling-time=paper,every=10s]");
    assert_eq!(late, [(0, 25, 0), (1, 10_025, 0), (2, 20_025, 0), (3, 30_025, 0)]);
}

#[test]
fn the_polled_cycle_looks_once_a_second_and_the_other_at_once() {
    let instance = Instance::new(
        Platform::flat(1).unwrap(),
        vec![
            Job::new("a", Profile::rigid(1, s(1)).unwrap()),
            Job::new("b", Profile::rigid(1, s(1)).unwrap()).with_release(Time::from_ticks(1_300_000_000)),
        ],
        vec![],
    )
    .unwrap();
    assert_eq!(runs(&instance, "ptfs[scheduling-time=zero]"), [(0, 0, 0), (1, 2000, 0)]);
    assert_eq!(runs(&instance, "ptfs[scheduling-time=zero,cycle=event]"), [(0, 0, 0), (1, 1300, 0)]);
}

#[test]
fn the_cycle_waits_while_every_node_has_more_than_a_mapping_takes() {
    // Three tasks wait at the instant 0: more than two tasks for each node. So these tasks form a batch, which is sent
    // after 40 exp(3 / 1580) - 40 = 0.076 s.
    let instance = flow(&[1.0], &[(10, 0), (10, 0), (10, 0), (1, 1), (1, 1), (1, 1)]);
    let starts = runs(&instance, "ptfs[cycle=event]");
    let at: Vec<i64> = starts.iter().map(|run| run.1).collect();
    assert_eq!(at[..3], [76, 10_076, 20_076]);
    // The mapping of the next batch begins early enough to end when the node has completed its tasks.
    assert_eq!(at[3..], [30_076, 31_076, 32_076]);
    // The polled cycle begins the mapping at most a second late.
    let polled: Vec<i64> = runs(&instance, "ptfs").iter().map(|run| run.1).collect();
    assert!(polled[3] >= 30_076 && polled[3] <= 31_153, "{polled:?}");
}

#[test]
fn tasks_are_on_their_way_while_the_nodes_compute() {
    let instance = flow(&[1.0], &[(10, 0), (5, 1), (5, 2)]);
    let starts = |spec: &str| runs(&instance, spec).iter().map(|run| run.1).collect::<Vec<_>>();
    assert_eq!(starts("flow[communication=2s]"), [2000, 12_000, 17_000]);
    // The event-driven cycle sends a task when the node is idle.
    assert_eq!(starts("ptfs[cycle=event,scheduling-time=zero,communication=2s]"), [2000, 14_000, 19_000]);
}

#[test]
fn every_mapper_of_the_list_is_one() {
    for spec in ["fast", "mct", "met", "olb", "min-min", "max-min", "duplex", "sufferage[mode=greedy]", "descent"] {
        assert!(mapper(spec).is_ok(), "{spec}");
    }
    for spec in ["ga[fitness=makespan]", "ga[fitness=printed]", "braun-ga"] {
        assert!(mapper(spec).is_ok(), "{spec}");
    }
    let refused = |spec: &str| mapper(spec).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refused("minmin").contains("did you mean `min-min`"));
    assert!(refused("ga[fitness=x]").contains("one of printed, makespan"));
    assert!(refused("mct[x=1]").contains("has no parameters"));
    assert!(MAPPERS.contains("sufferage"));
    assert!(mapper("ga[subset=4,generations=10]").is_ok() && mapper("braun-ga[iterations=5]").is_ok());
}

#[test]
fn what_is_no_flow_is_refused() {
    let wide = vec![Job::new("w", Profile::rigid(2, s(1)).unwrap())];
    let wide = Instance::new(Platform::flat(2).unwrap(), wide, vec![]).unwrap();
    let period = makespan_core::Unavailable { processors: ProcSet::first(1), start: s(1), end: s(2) };
    let closing = Instance::new(Platform::flat(2).unwrap(), vec![], vec![period]).unwrap();
    for (instance, part) in [(&wide, "several processors"), (&closing, "unavailable periods")] {
        let refused = policy_for("flow", instance, 1).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(refused.contains(part), "{refused}");
    }
}

const SPECS: [&str; 9] = [
    "flow",
    "flow[communication=0.3s,mapper=min-min]",
    "immediate[communication=0.3s]",
    "immediate[mapper=olb]",
    "interval[every=7s,mapper=sufferage]",
    "interval[every=3s,mapper=max-min,scheduling-time=paper]",
    "ptfs[mapper=min-min]",
    "ptfs[mapper=descent,cycle=event]",
    "ptfs[mapper=fast,cycle=event,scheduling-time=measured,communication=0.1s]",
];

/// Generates nodes with one or two processors, and tasks. Some tasks have their own time on each machine. One task in
/// seven cannot run on the first node.
fn instances() -> impl Strategy<Value = Instance> {
    let nodes = prop::collection::vec((1_u32..3, 1_u32..5), 1..4);
    let tasks = prop::collection::vec((1_i64..40, 0_i64..60, 0_u32..7), 0..40);
    (nodes, tasks, any::<bool>()).prop_map(|(nodes, tasks, own_times)| {
        let node = |(index, &(processors, speed)): (usize, &(u32, u32))| Node {
            speed: f64::from(speed),
            ..Node::new(format!("n{index}"), processors)
        };
        let row = |size: i64, forbids: bool| -> Vec<Time> {
            let on =
                |at: usize| if forbids && at == 0 { Profile::CANNOT_RUN } else { s(1 + size * 7 % (3 + at as i64)) };
            (0..nodes.len()).map(on).collect()
        };
        let job = |(index, &(size, release, kind)): (usize, &(i64, i64, u32))| {
            let profile = if own_times && kind % 2 == 0 {
                Profile::on_machines(row(size, kind == 0 && nodes.len() > 1)).unwrap()
            } else {
                Profile::rigid(1, s(size)).unwrap()
            };
            Job::new(index.to_string(), profile).with_release(s(release))
        };
        let platform = Platform::new(nodes.iter().enumerate().map(node).collect()).unwrap();
        Instance::new(platform, tasks.iter().enumerate().map(job).collect(), vec![]).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_task_is_lost(instance in instances(), percent in 40_i64..170, down in 0_i64..60, lasts in 1_i64..30) {
        let real = |task: TaskId| match instance.profile(task).machine_times() {
            Some(row) => {
                let of = |&time: &Time| {
                    if time < Profile::CANNOT_RUN { Time::from_ticks(time.ticks() / 100 * percent) } else { time }
                };
                Profile::on_machines(row.iter().map(of).collect::<Vec<_>>()).unwrap()
            }
            None => Profile::rigid(1, Time::from_ticks(instance.profile(task).time(1).ticks() / 100 * percent)).unwrap(),
        };
        let actual = Actual::Profiles(instance.task_ids().map(real).collect());
        let failure = Failure { processors: ProcSet::first(1), down: s(down), up: s(down + lasts), expected_up: None };
        let options = SimulationOptions { failures: vec![failure], ..SimulationOptions::default() };
        for spec in SPECS {
            let mut policy = policy_for(spec, &instance, 1).unwrap();
            let simulation = simulate(&instance, &actual, policy.as_mut(), &options, &mut Silent);
            let simulation = simulation.map_err(|error| TestCaseError::fail(format!("{spec}: {error}")))?;
            let ended = simulation.trace.runs.iter().filter(|run| run.outcome == Outcome::Succeeded).count();
            prop_assert_eq!(ended, instance.tasks() as usize, "{}", spec);
        }
    }

    /// Checks that the two cycles differ only by the delay of a poll, if all arrivals are at whole seconds.
    #[test]
    fn polling_only_delays(tasks in prop::collection::vec((1_i64..40, 0_i64..60), 1..40)) {
        let instance = flow(&[1.0], &tasks);
        let end = |spec: &str| played(&instance, spec).runs.iter().map(|run| run.end).max().unwrap();
        let (poll, event) = (end("ptfs[mapper=mct,scheduling-time=zero]"), end("ptfs[mapper=mct,scheduling-time=zero,cycle=event]"));
        prop_assert_eq!(poll, event);
        let late = end("ptfs[mapper=mct]") - end("ptfs[mapper=mct,cycle=event]");
        prop_assert!(late >= Time::ZERO, "{}", late);
    }
}
