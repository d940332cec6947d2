use makespan_core::{Edge, Graph, Instance, Job, Link, NamedTask, Node, Payload, Platform, Profile, Time};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{MachineOrders, OrderPosition};
use crate::kernel::graph::{GraphProblem, NEVER, ProcessorId};

/// Returns two jobs, and three nodes with one or two processors each. Each task has a time on each node.
fn instance(random: &mut ChaCha8Rng, tasks: usize) -> Instance {
    let node = |index: u32| Node::new(index.to_string(), 1 + index % 2);
    let link = Link { bandwidth: 1e9, latency: Time::from_ticks(random.random_range(0..3)) };
    let platform = Platform::new((0..3).map(node).collect()).unwrap().with_interconnect(link).unwrap();
    let mut job = |name: &str| {
        let mut time = |node: usize| {
            let never = node > 0 && random.random_range(0..5) == 0;
            if never { Profile::CANNOT_RUN } else { Time::from_ticks(random.random_range(1..9)) }
        };
        let mut task = |index: usize| {
            NamedTask::new(
                index.to_string(),
                Profile::on_machines((0..3).map(&mut time).collect::<Vec<Time>>()).unwrap(),
            )
        };
        let all = (0..tasks).map(&mut task).collect();
        let mut edges = Vec::new();
        for to in 1..tasks as u32 {
            for from in 0..to {
                if random.random_range(0..tasks) < 2 {
                    edges.push(Edge { from, to, payload: Payload::Bytes(random.random_range(0..6)) });
                }
            }
        }
        let release = Time::from_ticks(random.random_range(0..5));
        Job::compound(name, Graph::new(all, edges).unwrap()).with_release(release)
    };
    let jobs = vec![job("a"), job("b")];
    Instance::new(platform, jobs, vec![]).unwrap()
}

/// Computes the makespan of these sequences directly from the problem. Returns `None` if tasks wait for each other in
/// a cycle.
fn evaluated(problem: &GraphProblem, lines: &[Vec<u32>]) -> Option<i64> {
    let tasks = problem.tasks();
    let mut processor = vec![ProcessorId::default(); tasks];
    for (index, line) in lines.iter().enumerate() {
        line.iter().for_each(|&task| processor[task as usize] = ProcessorId::at(index));
    }
    let mut ends: Vec<Option<i64>> = vec![None; tasks];
    let mut next = vec![0; lines.len()];
    let mut done = 0;
    loop {
        let before = done;
        for (index, line) in lines.iter().enumerate() {
            let Some(&task) = line.get(next[index]) else { continue };
            let node = problem.node_of(ProcessorId::at(index));
            let arrival = |from: &crate::kernel::graph::Neighbour| {
                let source = problem.node_of(processor[from.task as usize]);
                Some(ends[from.task as usize]? + problem.transfers().time(from.edge, source, node))
            };
            let Some(arrivals) = problem.incoming(task).iter().map(arrival).collect::<Option<Vec<i64>>>() else {
                continue;
            };
            let free = if next[index] == 0 { 0 } else { ends[line[next[index] - 1] as usize]? };
            let start = arrivals.into_iter().max().unwrap_or(0).max(free).max(problem.release(task));
            ends[task as usize] = Some(start + problem.time(task, node));
            next[index] += 1;
            done += 1;
        }
        if done == tasks {
            return ends.into_iter().map(Option::unwrap).max();
        }
        if done == before {
            return None;
        }
    }
}

/// Returns the least makespan over all positions of `task` on all processors.
fn least(problem: &GraphProblem, without: &[Vec<u32>], task: u32) -> Option<i64> {
    let mut least: Option<i64> = None;
    for (processor, line) in without.iter().enumerate() {
        if problem.time(task, problem.node_of(ProcessorId::at(processor))) == NEVER {
            continue;
        }
        for at in 0..=line.len() {
            let mut lines = without.to_vec();
            lines[processor].insert(at, task);
            least = evaluated(problem, &lines).into_iter().chain(least).min();
        }
    }
    least
}

#[test]
fn slots_say_the_makespan_and_one_of_them_is_the_best_of_all_places() {
    for seed in 0..30 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let instance = instance(&mut random, 1 + seed as usize / 3);
        let problem = GraphProblem::new(&instance);
        let mut lines = MachineOrders::new(&problem, problem.order(), &vec![ProcessorId::default(); problem.tasks()]);
        let mut slots = Vec::new();
        for _ in 0..40 {
            let task = random.random_range(0..problem.tasks() as u32);
            let present = lines.makespan();
            let (without, own) = lines.take(task);
            assert_eq!(present, without.max(own.through), "seed {seed}");
            lines.slots(task, &mut slots);
            let best = slots.iter().map(|slot| slot.through.max(without)).min();
            assert_eq!(best, least(&problem, &lines.of, task), "seed {seed}");
            for &slot in &slots {
                let mut changed = lines.clone();
                changed.put(task, slot);
                check(&changed, slot.through.max(without));
            }
            let slot: OrderPosition = if random.random() { own } else { slots[random.random_range(0..slots.len())] };
            lines.put(task, slot);
            check(&lines, slot.through.max(without));
        }
    }
}

fn check(lines: &MachineOrders<'_>, makespan: i64) {
    assert_eq!(lines.makespan(), makespan);
    assert_eq!(evaluated(lines.problem, &lines.of), Some(makespan));
    let anew = MachineOrders::new(lines.problem, lines.order(), lines.processors());
    assert_eq!((&anew.of, &anew.ends, &anew.rests), (&lines.of, &lines.ends, &lines.rests));
    let critical = (0..lines.order.len() as u32).filter(|&task| lines.is_critical(task)).count();
    assert!(critical > 0);
}
