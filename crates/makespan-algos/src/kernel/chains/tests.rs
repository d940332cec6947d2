use std::collections::{BTreeMap, BTreeSet};

use makespan_core::{
    Edge, FreeTime, Graph, Instance, Job, JobId, Link, NamedTask, Node, Payload, Platform, ProcSet, Profile, Time,
    Unavailable,
};
use proptest::prelude::*;

use super::collisions::{Penalties, Resolution, resolve};
use super::criterion::{Criterion, TieBreak};
use super::draft::Draft;
use super::frame::Frame;
use super::planning::{ChainAim, plan};
use super::ranking::{Chain, Chart, Cover};
use super::reserve::{Isolated, Reserve};
use super::strategy::{ChainJob, Settings, heft, strategy};
use super::windows::TransferRoom;
use crate::free_time::Calendar;
use crate::kernel::graph::placing::calendars;
use crate::kernel::graph::{GraphProblem, ProcessorId, TaskPlace};

/// Computes the chains by the tree of graphs that the paper prints. Each child of a graph lacks one edge of the
/// longest path of the graph. Equal graphs are visited once.
fn by_tree(chart: &Chart) -> Vec<Chain> {
    let longest = |mask: u32| {
        let own: Vec<usize> = (0..chart.edges.len()).filter(|&edge| mask >> edge & 1 == 1).collect();
        let edges = own.iter().map(|&edge| chart.edges[edge]).collect();
        let part = Chart { edges, ..chart.clone() };
        let mut chain = part.chains(Cover::Covering).into_iter().find(|chain| !chain.edges.is_empty())?;
        chain.edges.iter_mut().for_each(|edge| *edge = own[*edge as usize] as u32);
        Some(chain)
    };
    let mut seen = BTreeSet::new();
    let mut paths = BTreeMap::new();
    let mut open = vec![(1_u32 << chart.edges.len()) - 1];
    while let Some(mask) = open.pop() {
        if !seen.insert(mask) {
            continue;
        }
        let Some(chain) = longest(mask) else { continue };
        open.extend(chain.edges.iter().map(|edge| mask & !(1 << edge)));
        paths.insert((-chain.length, chain.edges.clone()), chain);
    }
    let mut covered = BTreeSet::new();
    let fresh = |chain: &Chain| chain.edges.iter().fold(false, |fresh, &edge| covered.insert(edge) | fresh);
    let mut chains: Vec<Chain> = Vec::new();
    let mut fresh = fresh;
    chains.extend(paths.into_values().filter(|chain| fresh(chain)));
    let mut alone: Vec<Chain> =
        chart.chains(Cover::Covering).into_iter().filter(|chain| chain.edges.is_empty()).collect();
    chains.append(&mut alone);
    chains
}

prop_compose! {
    /// Generates graphs with random times. Nearly always, all paths have different lengths.
    fn charts()(tasks in 2_usize..7)(
        times in proptest::collection::vec(1_i64..1_000_000_000, tasks),
        edges in proptest::collection::btree_map((0..tasks as u32, 0..tasks as u32), 0_i64..1_000_000_000, 0..11),
    ) -> Chart {
        let edges: Vec<_> = edges.into_iter().filter(|((a, b), _)| a < b).map(|((a, b), time)| (a, b, time)).collect();
        Chart { order: (0..times.len() as u32).collect(), times, edges }
    }
}

proptest! {
    #[test]
    fn chains_are_those_of_the_printed_tree(chart in charts()) {
        prop_assert_eq!(chart.chains(Cover::Covering), by_tree(&chart));
    }

    /// Tests graphs with equally long paths. The tree may find other paths of equal lengths. For each edge, checks the
    /// length of the first path that contains the edge.
    #[test]
    fn chains_are_as_long_as_those_of_the_printed_tree_where_paths_tie(chart in charts()) {
        let tied = Chart {
            times: chart.times.iter().map(|time| 1 + time % 3).collect(),
            edges: chart.edges.iter().map(|&(from, to, time)| (from, to, time % 2)).collect(),
            ..chart
        };
        let first = |chains: &[Chain], edge: u32| {
            let covering = chains.iter().find(|chain| chain.edges.contains(&edge));
            covering.map(|chain| chain.length)
        };
        let (own, tree) = (tied.chains(Cover::Covering), by_tree(&tied));
        prop_assert!(own.is_sorted_by_key(|chain| (chain.edges.is_empty(), -chain.length)));
        for edge in 0..tied.edges.len() as u32 {
            prop_assert!(first(&own, edge).is_some());
            prop_assert_eq!(first(&own, edge), first(&tree, edge));
        }
        let tasks: BTreeSet<u32> = own.iter().flat_map(|chain| chain.tasks.iter().copied()).collect();
        prop_assert_eq!(tasks.len(), tied.times.len());
    }

    #[test]
    fn every_edge_is_in_one_disjoint_chain(chart in charts()) {
        let chains = chart.chains(Cover::Disjoint);
        let mut edges: Vec<u32> = chains.iter().flat_map(|chain| chain.edges.iter().copied()).collect();
        edges.sort_unstable();
        prop_assert_eq!(edges, (0..chart.edges.len() as u32).collect::<Vec<_>>());
        let tasks: BTreeSet<u32> = chains.iter().flat_map(|chain| chain.tasks.iter().copied()).collect();
        prop_assert_eq!(tasks.len(), chart.times.len());
    }
}

fn ticks(t: i64) -> Time {
    Time::from_ticks(t)
}

/// Returns an instance with one compound job. Its tasks have the volumes `volumes`, and the processors have the speeds
/// `speeds`. The bandwidth between processors is 1 byte per tick.
pub(super) fn instance(
    volumes: &[i64],
    edges: &[(u32, u32, u64)],
    speeds: &[u32],
    closed: &[(u32, i64, i64)],
) -> Instance {
    let node = |(at, &speed): (usize, &u32)| Node { speed: f64::from(speed), ..Node::new(at.to_string(), 1) };
    let second = Time::TICKS_PER_SECOND as f64;
    let platform = Platform::new(speeds.iter().enumerate().map(node).collect()).unwrap();
    let platform = platform.with_interconnect(Link { bandwidth: second, latency: Time::ZERO }).unwrap();
    let task = |(at, &volume): (usize, &i64)| NamedTask::new(at.to_string(), Profile::rigid(1, ticks(volume)).unwrap());
    let edge = |&(from, to, data): &(u32, u32, u64)| Edge { from, to, payload: Payload::Bytes(data) };
    let graph = Graph::new(volumes.iter().enumerate().map(task).collect(), edges.iter().map(edge).collect()).unwrap();
    let period = |&(processor, start, end): &(u32, i64, i64)| Unavailable {
        processors: ProcSet::range(processor, processor),
        start: ticks(start),
        end: ticks(end),
    };
    Instance::new(platform, vec![Job::compound("j", graph)], closed.iter().map(period).collect()).unwrap()
}

/// Returns the resolution of a schedule that was planned on processors, not on types.
fn resolution<'a: 'b, 'b>(frame: &'a Frame<'a>, end: i64, penalties: &'b Penalties) -> Resolution<'a, 'b> {
    Resolution { chosen: frame, real: frame, end, room: TransferRoom::Least, penalties }
}

/// Returns the least cost of a chain that ends in time. Tries every processor for every task, and starts each task as
/// early as possible.
fn least(frame: &Frame, calendars: &[Calendar], end: i64, at: u32, before: Option<(ProcessorId, i64)>) -> Option<i64> {
    if at as usize == frame.tasks() {
        return Some(0);
    }
    let option = |processor: ProcessorId| {
        let edge = frame.incoming(at).next();
        let ready = match (before, edge) {
            (Some((from, ended)), Some(edge)) => ended + frame.transfer(edge.edge, from, processor),
            _ => 0,
        };
        let time = frame.time_on(at, processor);
        let start = calendars[processor.index()].earliest_fit(1, time, ready);
        if start + time > end {
            return None;
        }
        let rest = least(frame, calendars, end, at + 1, Some((processor, start + time)))?;
        Some(rest + frame.cost_on(at, processor))
    };
    ProcessorId::first(calendars.len()).filter_map(option).min()
}

proptest! {
    #[test]
    fn a_chain_costs_as_little_as_it_can(
        volumes in proptest::collection::vec(1_i64..40, 1..4),
        data in proptest::collection::vec(0_u64..15, 3),
        speeds in proptest::collection::vec(1_u32..5, 1..4),
        closed in proptest::collection::vec((0_u32..1, 0_i64..60, 1_i64..20), 0..3),
        end in 10_i64..320,
    ) {
        let edges: Vec<(u32, u32, u64)> = (1..volumes.len() as u32).map(|to| (to - 1, to, data[to as usize])).collect();
        let closed: Vec<(u32, i64, i64)> = closed.into_iter().map(|(p, from, long)| (p, from, from + long)).collect();
        let instance = instance(&volumes, &edges, &speeds, &closed);
        let problem = GraphProblem::new(&instance);
        let frame = Frame::new(&instance, &problem, JobId(0), false);
        let calendars = calendars(&problem);
        let mut draft = Draft::new(&frame, calendars.clone());
        let tasks: Vec<u32> = (0..volumes.len() as u32).collect();
        let numbers: Vec<u32> = (0..edges.len() as u32).collect();
        // There are few possible ends, so the method drops none of them.
        let aim = ChainAim { criterion: Criterion::Cost, tie_break: TieBreak::Earliest, end, room: TransferRoom::Least };
        let found = plan(&mut draft, &tasks, &numbers, &aim);
        let best = least(&frame, &calendars, end, 0, None);
        prop_assert_eq!(found.then(|| draft.figures().cost), best);
    }

    #[test]
    fn what_is_offered_keeps_calendars_and_deadlines(
        (volumes, pairs) in (2_usize..9).prop_flat_map(|tasks| (
            proptest::collection::vec(1_i64..40, tasks),
            proptest::collection::btree_map((0..tasks as u32, 0..tasks as u32), 0_u64..15, 0..14),
        )),
        speeds in proptest::collection::vec(1_u32..5, 1..4),
        closed in proptest::collection::vec((0_u32..1, 0_i64..60, 1_i64..20), 0..3),
        (end, types, utilisation, held) in (20_i64..900, any::<bool>(), any::<bool>(), any::<bool>()),
    ) {
        let edges: Vec<(u32, u32, u64)> =
            pairs.into_iter().filter(|((a, b), _)| a < b).map(|((a, b), data)| (a, b, data)).collect();
        let closed: Vec<(u32, i64, i64)> = closed.into_iter().map(|(p, from, long)| (p, from, from + long)).collect();
        let instance = instance(&volumes, &edges, &speeds, &closed);
        let problem = GraphProblem::new(&instance);
        let real = Frame::new(&instance, &problem, JobId(0), false);
        let alike = Frame::new(&instance, &problem, JobId(0), true);
        let calendars = calendars(&problem);
        let chosen = if types { &alike } else { &real };
        let criterion = if utilisation { Criterion::Utilisation } else { Criterion::Cost };
        let isolated = if held { Isolated::Reserve } else { Isolated::Run };
        let settings = Settings { criterion, isolated, ..Settings::default() };
        let (first, chains) = (heft(&real, &calendars), real.chart.chains(settings.cover));
        let (first, chains) = (&first, &chains);
        let task = ChainJob { chosen, real: &real, chains, calendars: &calendars, first, end, held: end };
        let offers = strategy(&task, &settings);
        prop_assert!(!offers.is_empty() || first.finish() > end);
        for offer in &offers {
            let schedule = problem.schedule(&offer.places);
            prop_assert_eq!(makespan_core::validate(&instance, &schedule), Ok(()));
            // If chains are planned on processors, they do not collide with each other.
            prop_assert!(types || offer.collisions.is_empty());
            prop_assert!(offer.finish <= end && schedule.makespan() == ticks(offer.finish));
            prop_assert_eq!(i128::from(offer.cost), makespan_core::cost(&instance, &schedule));
            let until = offer.held_until(&real);
            let reserved: i64 = until.iter().zip(&offer.places).map(|(until, place)| until - place.start).sum();
            prop_assert_eq!(offer.busy, reserved);
            prop_assert!(reserved == i64::try_from(makespan_core::busy(&schedule)).unwrap() || held);
            let mut busy = calendars.clone();
            for (number, place) in offer.places.iter().enumerate() {
                prop_assert!(until[number] <= end.max(offer.finish));
                let calendar = &mut busy[place.processor.index()];
                // The processor is free for the whole time for which it is held.
                let length = until[number] - place.start;
                prop_assert!(calendar.fits(1, place.start, length));
                calendar.hold(1, place.start, until[number]);
            }
        }
    }

    #[test]
    fn a_batch_is_resolved_at_the_least_penalty(
        volumes in proptest::collection::vec(1_i64..40, 1..4),
        speeds in proptest::collection::vec(1_u32..5, 4),
        wanted in proptest::collection::vec(0_u32..4, 3),
    ) {
        let instance = instance(&volumes, &[], &speeds, &[]);
        let problem = GraphProblem::new(&instance);
        let frame = Frame::new(&instance, &problem, JobId(0), false);
        let planned: Vec<TaskPlace> =
            (0..volumes.len()).map(|task| TaskPlace { processor: ProcessorId(wanted[task]), start: 5 }).collect();
        let (draft, collisions) =
            resolve(&resolution(&frame, 105, &Penalties::default()), calendars(&problem), &planned);
        // A task stays on its planned processor if no other task is planned on this processor. A colliding task runs
        // on another processor, or after the task that it collides with.
        let stays = |task: &usize| wanted[..volumes.len()].iter().filter(|&&other| other == wanted[*task]).count() == 1;
        let busy = |processor: ProcessorId| {
            let there = (0..volumes.len()).filter(stays).find(|&task| ProcessorId(wanted[task]) == processor);
            there.map_or(0, |task| frame.time_on(task as u32, processor))
        };
        let charge = |task: usize, processor: ProcessorId| {
            let place = planned[task];
            let dearer = frame.cost_on(task as u32, processor) - frame.cost_on(task as u32, place.processor);
            let other = frame.time_on(task as u32, processor) != frame.time_on(task as u32, place.processor);
            // A delay in thousandths of the time from release to deadline, which is 105 ticks, rounded up.
            dearer.max(0) + i64::from(other) + (1000 * busy(processor) + 104) / 105
        };
        let moved: Vec<usize> = (0..volumes.len()).filter(|task| !stays(task)).collect();
        // Tries all ways to move the colliding tasks to different processors.
        let mut best = i64::MAX;
        for code in 0..4_usize.pow(moved.len() as u32) {
            let processor = |at: usize| ProcessorId::at(code / 4_usize.pow(at as u32) % 4);
            let apart: BTreeSet<ProcessorId> = (0..moved.len()).map(processor).collect();
            if apart.len() == moved.len() {
                best = best.min(moved.iter().enumerate().map(|(at, &task)| charge(task, processor(at))).sum());
            }
        }
        prop_assert_eq!(collisions.iter().map(|collision| collision.penalty).sum::<i64>(), best);
        prop_assert!((0..volumes.len()).filter(stays).all(|task| draft.place(task as u32) == Some(planned[task])));
    }
}

#[test]
fn isolated_tasks_hold_what_the_others_leave() {
    // The speeds are 1 and 2. Processor 1 is closed from 40 to 50.
    let instance = instance(&[10, 20, 16], &[(1, 2, 0)], &[1, 2], &[(1, 40, 50)]);
    let problem = GraphProblem::new(&instance);
    let frame = Frame::new(&instance, &problem, JobId(0), false);
    let calendars = calendars(&problem);
    let settings = |isolated| Settings { criterion: Criterion::Utilisation, isolated, ..Settings::default() };
    let (first, chains) = (&heft(&frame, &calendars), &frame.chart.chains(Cover::default()));
    let (chosen, real) = (&frame, &frame);
    let task = ChainJob { chosen, real, chains, calendars: &calendars, first, end: 60, held: 60 };
    let best = |isolated| {
        let offers = strategy(&task, &settings(isolated));
        offers.into_iter().min_by_key(|offer| offer.key(Criterion::Utilisation)).unwrap()
    };
    // The chain occupies the slow processor for 36 ticks. Then task 0 occupies it for another 10 ticks.
    assert_eq!((best(Isolated::Run).busy, best(Isolated::Run).reserves), (46, vec![]));
    // The chain takes 18 ticks on the fast processor, so task 0 can hold the slow processor all the time.
    let held = best(Isolated::Reserve);
    assert_eq!((held.busy, &held.reserves), (18 + 60, &vec![Reserve { task: 0, until: 60 }]));
    assert_eq!(held.places[0], TaskPlace { processor: ProcessorId(0), start: 0 });
    assert_eq!(held.finish, held.places[2].start + 8);
}

#[test]
fn penalties_say_what_a_collision_becomes() {
    let instance = instance(&[10, 10], &[], &[1, 2], &[]);
    let problem = GraphProblem::new(&instance);
    let frame = Frame::new(&instance, &problem, JobId(0), false);
    // Both tasks are planned on the slow processor. The second task waits for the first, or runs on the fast
    // processor.
    let planned =
        [TaskPlace { processor: ProcessorId(0), start: 0 }, TaskPlace { processor: ProcessorId(0), start: 4 }];
    let resolved = |cost: i64, delay: i64, change: i64| {
        let penalties = Penalties { cost, delay, change };
        let collisions = resolve(&resolution(&frame, 20, &penalties), calendars(&problem), &planned).1;
        collisions.iter().map(|found| (found.task, found.resolved, found.penalty)).collect::<Vec<_>>()
    };
    // A delay of 6 ticks in 20 has a penalty of 300. The fast processor has a penalty of 1000 for its cost and 1 for
    // its type.
    assert_eq!(resolved(1, 1, 1), [(1, TaskPlace { processor: ProcessorId(0), start: 10 }, 300)]);
    assert_eq!(resolved(1, 4, 7), [(1, TaskPlace { processor: ProcessorId(1), start: 4 }, 1007)]);
    assert_eq!(resolved(0, 1, 9), [(1, TaskPlace { processor: ProcessorId(1), start: 4 }, 9)]);
    // A collision is listed even if its penalty is zero.
    assert_eq!(resolved(0, 1, 0), [(1, TaskPlace { processor: ProcessorId(1), start: 4 }, 0)]);
}

#[test]
fn tasks_for_one_processor_that_start_together_follow_each_other() {
    let nodes = ["one", "two"].map(|name| Node::new(name, 1));
    let platform = Platform::new(nodes.to_vec()).unwrap();
    let only_there = || Profile::on_machines(vec![Time::from_ticks(8), Profile::CANNOT_RUN]).unwrap();
    let tasks = ["a", "b", "c"].map(|name| NamedTask::new(name, only_there())).to_vec();
    let job = Job::compound("job", Graph::new(tasks, vec![]).unwrap());
    let instance = Instance::new(platform, vec![job], vec![]).unwrap();
    let problem = GraphProblem::new(&instance);
    let frame = Frame::new(&instance, &problem, JobId(0), false);
    let planned = [TaskPlace { processor: ProcessorId(0), start: 8 }; 3];
    let (draft, collisions) = resolve(&resolution(&frame, 40, &Penalties::default()), calendars(&problem), &planned);
    let mut starts: Vec<i64> = draft.places().unwrap().iter().map(|place| place.start).collect();
    starts.sort_unstable();
    assert_eq!(starts, [0, 8, 16]);
    assert_eq!(collisions.len(), 2);
}
