//! Tiny instances on machines that differ, for which a brute-force search finds the optimum.

use std::ops::Range;

use makespan_core::{
    Edge, Graph, Instance, Job, Link, NamedTask, Need, Needs, Node, Objective, Payload, Placement, Platform, ProcSet,
    Profile, Resources, Schedule, Time, Unavailable, Weight, validate,
};
use makespan_verify::proof::Refutation;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::super::{CompleteWork, search};
use super::nodes::attack;
use crate::Clock;

/// Sequential jobs on up to three nodes that differ.
#[derive(Clone, Debug)]
struct Different {
    nodes: Vec<DifferentNode>,
    jobs: Vec<DifferentJob>,
    /// True if the times of jobs follow from the speeds of the nodes.
    has_speeds: bool,
    /// True if the jobs are the tasks of graphs, and transfers between nodes take time.
    has_transfers: bool,
}

#[derive(Clone, Debug)]
struct DifferentNode {
    processors: u32,
    memory: u64,
    speed: i64,
    /// The start and the end of a period in which the node is closed.
    closed: Option<(i64, i64)>,
}

#[derive(Clone, Debug)]
struct DifferentJob {
    /// The time on each node, or `None` if the job cannot run on the node.
    times: Vec<Option<i64>>,
    memory: u64,
    release: i64,
    due: Option<i64>,
    weight: u64,
    /// The jobs for which the job waits, each with the time of the transfer to another node.
    after: Vec<(usize, i64)>,
    /// True if the job is the first of its graph. The following jobs belong to the same graph, up to the next such job.
    /// The release, the deadline and the weight of the graph are those of its first job.
    is_first: bool,
}

/// The start, the end, the node, and the memory of a job.
type Placed = (i64, i64, usize, u64);

impl Different {
    fn draw(rng: &mut ChaCha8Rng, most: usize, has_transfers: bool) -> Self {
        let count = rng.random_range(2..4);
        let (has_speeds, has_closed) = (rng.random_range(0..3) == 0, rng.random_range(0..4) == 0);
        let node = |rng: &mut ChaCha8Rng| DifferentNode {
            processors: rng.random_range(1..3),
            memory: rng.random_range(2..5),
            speed: rng.random_range(1..3),
            closed: (has_closed && rng.random_range(0..2) == 0).then(|| {
                let start = rng.random_range(0..4);
                (start, start + rng.random_range(1..4))
            }),
        };
        let mut nodes: Vec<DifferentNode> = (0..count).map(|_| node(rng)).collect();
        nodes[0].speed = 2;
        let has_releases = rng.random_range(0..3) == 0;
        let has_waits = has_transfers || rng.random_range(0..3) == 0;
        let job = |jobs: &[DifferentJob], rng: &mut ChaCha8Rng| {
            let work = 2 * rng.random_range(1..5);
            let own = |node: &DifferentNode, rng: &mut ChaCha8Rng| {
                if has_speeds {
                    Some(work / node.speed)
                } else {
                    (rng.random_range(0..6) > 0).then(|| rng.random_range(1..7))
                }
            };
            let mut times: Vec<Option<i64>> = nodes.iter().map(|node| own(node, rng)).collect();
            times[0] = times[0].or(Some(6));
            let release = if has_releases { rng.random_range(0..4) } else { 0 };
            let number = jobs.len();
            let is_first = !has_transfers || number == 0 || rng.random_range(0..3) == 0;
            let first = jobs.iter().rposition(|job| job.is_first && !is_first);
            let before = if has_transfers { first.unwrap_or(number)..number } else { 0..number };
            DifferentJob {
                times,
                memory: rng.random_range(0..3),
                release: first.map_or(release, |first| jobs[first].release),
                due: (rng.random_range(0..3) > 0).then(|| release + rng.random_range(1..6)),
                weight: rng.random_range(0..4),
                after: before
                    .filter(|_| has_waits && rng.random_range(0..3) < if has_transfers { 2 } else { 1 })
                    .map(|before| (before, if has_transfers { before as i64 * 5 % 4 + 1 } else { 0 }))
                    .collect(),
                is_first,
            }
        };
        let mut jobs: Vec<DifferentJob> = Vec::new();
        for number in 0..rng.random_range(2..=most) {
            let copies = number > 0 && rng.random_range(0..4) == 0;
            // A copy of the only task of a graph is a graph of its own, so that both tasks are equal.
            let copy = || {
                let last: &DifferentJob = &jobs[number - 1];
                DifferentJob { is_first: !has_transfers || last.is_first, ..last.clone() }
            };
            jobs.push(if copies { copy() } else { job(&jobs, rng) });
        }
        Self { nodes, jobs, has_speeds, has_transfers }
    }

    fn instance(&self) -> Instance {
        let time = Time::from_seconds;
        let node = |(number, node): (usize, &DifferentNode)| Node {
            resources: Resources::new([("memory", node.memory)]).unwrap(),
            speed: if self.has_speeds { node.speed as f64 } else { 1.0 },
            ..Node::new(number.to_string(), node.processors)
        };
        let mut platform = Platform::new(self.nodes.iter().enumerate().map(node).collect()).unwrap();
        if self.has_transfers {
            platform = platform.with_interconnect(Link { bandwidth: 1e9, latency: Time::ZERO }).unwrap();
        }
        let job = |(number, job): (usize, &DifferentJob)| {
            let row: Vec<Time> = job.times.iter().map(|own| own.map_or(Profile::CANNOT_RUN, time)).collect();
            let work = job.times[0].unwrap() * self.nodes[0].speed;
            let profile = if self.has_speeds { Profile::rigid(1, time(work)) } else { Profile::on_machines(row) };
            let needs = Needs::new([("memory", Need::per_processor(job.memory))]).unwrap();
            let own = Job::new(number.to_string(), profile.unwrap()).with_needs(needs).with_release(time(job.release));
            let own = own.with_weight(Weight::from_millionths(job.weight * 500_000).unwrap());
            Job { deadline: job.due.map(time), ..own }.with_after(job.after.iter().map(|before| before.0.to_string()))
        };
        let closed = |(number, node): (usize, &DifferentNode)| {
            let (start, end) = node.closed?;
            Some(Unavailable { processors: platform.processors_of(number), start: time(start), end: time(end) })
        };
        let closed = self.nodes.iter().enumerate().filter_map(closed).collect();
        let jobs: Vec<Job> = self.jobs.iter().enumerate().map(job).collect();
        let jobs =
            if self.has_transfers { self.graphs().map(|graph| self.graph(&jobs, graph)).collect() } else { jobs };
        Instance::new(platform, jobs, closed).unwrap()
    }

    /// Returns true if the relaxed problem has the minimum of the instance. If a graph has several last tasks, these
    /// tasks share its weight, so the relaxed problem can have a smaller sum.
    fn is_exact(&self, objective: Objective) -> bool {
        let mut has_successor = vec![false; self.jobs.len()];
        self.jobs.iter().flat_map(|job| &job.after).for_each(|&(before, _)| has_successor[before] = true);
        let last = |graph: Range<usize>| has_successor[graph].iter().filter(|&&has_successor| !has_successor).count();
        !Refutation::is_sum(objective) || self.graphs().all(|graph| !self.has_transfers || last(graph) == 1)
    }

    /// Returns the jobs of each graph.
    fn graphs(&self) -> impl Iterator<Item = Range<usize>> {
        let firsts = (0..self.jobs.len()).filter(|&number| self.jobs[number].is_first);
        firsts.clone().zip(firsts.skip(1).chain([self.jobs.len()])).map(|(from, until)| from..until)
    }

    /// Returns a graph with some of the jobs as its tasks.
    fn graph(&self, jobs: &[Job], graph: Range<usize>) -> Job {
        let task = |job: &Job| NamedTask { name: job.name.clone().into(), task: job.work.task().unwrap().clone() };
        let edge = |to: usize| {
            let edge = move |&(from, time): &(usize, i64)| Edge {
                from: (from - graph.start) as u32,
                to: (to - graph.start) as u32,
                payload: Payload::Fixed(Time::from_seconds(time)),
            };
            self.jobs[to].after.iter().map(edge)
        };
        let edges = graph.clone().flat_map(edge).collect();
        let first = &jobs[graph.start];
        let own = Graph::new(jobs[graph.clone()].iter().map(task).collect(), edges).unwrap();
        let own = Job::compound(format!("graph {}", graph.start), own).with_release(first.release);
        Job { deadline: first.deadline, ..own.with_weight(first.weight) }
    }

    /// Returns the schedule that runs the jobs one after the other on the first node.
    fn one_by_one(&self, instance: &Instance) -> Schedule {
        let mut end = self.nodes[0].closed.map_or(0, |closed| closed.1);
        let mut placements = Vec::new();
        for (task, job) in instance.task_ids().zip(&self.jobs) {
            let start = end.max(job.release);
            end = start + job.times[0].unwrap();
            let (start, end) = (Time::from_seconds(start), Time::from_seconds(end));
            placements.push(Placement { task, start, end, processors: ProcSet::first(1) });
        }
        Schedule::new(placements)
    }

    /// Returns the minimum of an objective, in ticks, by brute force.
    fn least(&self, objective: Objective) -> i128 {
        let mut best = i128::MAX;
        self.extend(&mut vec![None; self.jobs.len()], objective, &mut best);
        let ticks = best * i128::from(Time::TICKS_PER_SECOND);
        if objective == Objective::MeanFlow { (ticks * 1000).div_euclid(self.graphs().count() as i128) } else { ticks }
    }

    /// Adds one more job to a partial schedule in every possible way. Each job starts as early as possible.
    fn extend(&self, placed: &mut Vec<Option<Placed>>, objective: Objective, best: &mut i128) {
        if placed.iter().all(Option::is_some) {
            *best = self.value(placed, objective).min(*best);
            return;
        }
        for (number, job) in self.jobs.iter().enumerate() {
            if placed[number].is_some() || job.after.iter().any(|before| placed[before.0].is_none()) {
                continue;
            }
            for (node, time) in job.times.iter().enumerate() {
                let Some(time) = *time else { continue };
                if job.memory > self.nodes[node].memory {
                    continue;
                }
                let ready = job.after.iter().filter_map(|&(before, time)| {
                    placed[before].map(|one| one.1 + if one.2 == node { 0 } else { time })
                });
                let before = ready.max().unwrap_or(0);
                let fits = |&start: &i64| (start..start + time).all(|at| self.has_room(placed, job, node, at));
                let start = (before.max(job.release)..).find(fits).unwrap();
                placed[number] = Some((start, start + time, node, job.memory));
                self.extend(placed, objective, best);
                placed[number] = None;
            }
        }
    }

    fn has_room(&self, placed: &[Option<Placed>], job: &DifferentJob, node: usize, at: i64) -> bool {
        let of = &self.nodes[node];
        let beside = || placed.iter().flatten().filter(|one| one.2 == node && one.0 <= at && at < one.1);
        let held: u64 = beside().map(|one| one.3).sum();
        let is_closed = of.closed.is_some_and(|closed| (closed.0..closed.1).contains(&at));
        !is_closed && beside().count() < of.processors as usize && held + job.memory <= of.memory
    }

    fn value(&self, placed: &[Option<Placed>], objective: Objective) -> i128 {
        let cost = |graph: Range<usize>| {
            let job = &self.jobs[graph.start];
            let end = placed[graph].iter().flatten().map(|one| one.1).max().unwrap_or(0);
            let late = job.due.map_or(0, |due| (end - due).max(0));
            i128::from(match objective {
                Objective::Makespan => end,
                Objective::MaxTardiness => late,
                Objective::MeanFlow => end - job.release,
                Objective::WeightedTardiness => late * (job.weight * 500_000) as i64,
                _ => end * (job.weight * 500_000) as i64,
            })
        };
        if Refutation::is_sum(objective) {
            self.graphs().map(cost).sum()
        } else {
            self.graphs().map(cost).max().unwrap_or(0)
        }
    }
}

/// Checks searches of random instances. Returns the number of optima that are proved, and the number of searches of
/// instances with [`Different::is_exact`].
fn compare(seed: u64, count: usize, most: usize, has_transfers: bool) -> (usize, usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut proved, mut all) = (0, 0);
    for _ in 0..count {
        let different = Different::draw(&mut rng, most, has_transfers);
        let instance = different.instance();
        for objective in Objective::OF_TIME {
            let (least, known) = (different.least(objective), different.one_by_one(&instance));
            assert_eq!(validate(&instance, &known), Ok(()));
            let work = CompleteWork { clock: &Clock::ENDLESS, conflicts: 20_000 };
            let completed = search(&instance, objective, &known, None, work);
            let best = completed.schedule.as_ref().unwrap_or(&known);
            assert_eq!(validate(&instance, best), Ok(()));
            assert!(objective.value(&instance, best) >= least, "{objective} {different:?}");
            assert!(completed.unproved.is_some() || objective.value(&instance, best) == least, "{different:?}");
            // A search proves no bound if the minimum is zero.
            if least == 0 {
                continue;
            }
            let is_exact = different.is_exact(objective);
            all += usize::from(is_exact);
            let Some(bound) = completed.bound else { continue };
            assert_eq!(bound.verify(&instance), Ok(()));
            assert!(bound.value.integer() <= least, "{} > {least}: {objective} {different:?}", bound.value);
            proved +=
                usize::from(is_exact && bound.value.integer() == least && objective.value(&instance, best) == least);
            attack(&bound, least, &instance, &mut rng);
        }
    }
    (proved, all)
}

#[test]
fn optima_on_machines_that_differ_are_proved() {
    let (proved, all) = compare(0, 40, 4, false);
    assert!(all >= 100 && proved * 100 >= all * 95, "{proved} of {all}");
}

#[test]
#[ignore = "long: 2,000 instances"]
fn many_optima_on_machines_that_differ_are_proved() {
    let (proved, all) = compare(1, 2000, 5, false);
    assert!(all >= 2000 && proved * 100 >= all * 95, "{proved} of {all}");
}

#[test]
fn optima_with_transfers_between_nodes_are_proved() {
    let (proved, all) = compare(2, 60, 4, true);
    assert!(all >= 140 && proved * 100 >= all * 95, "{proved} of {all}");
}

#[test]
#[ignore = "long: 2,000 instances"]
fn many_optima_with_transfers_between_nodes_are_proved() {
    let (proved, all) = compare(3, 2000, 5, true);
    assert!(all >= 4000 && proved * 100 >= all * 95, "{proved} of {all}");
}
