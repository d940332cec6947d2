//! Tests of `optimise` on nodes that differ: it is never worse than a greedy list of insertions, and nearly always
//! optimal on small instances.

use makespan_algos::kernel::packing::{Inserter, ListEntry, Packing, Row};
use makespan_algos::scheduler::{Budget, Optimise, Target};
use makespan_algos::{Context, Scheduler};
use makespan_core::{
    Instance, Job, Need, Needs, Node, Objective, Platform, Profile, Resources, Time, Weight, validate,
};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::draft::draft;

const OBJECTIVES: [Objective; 5] = Objective::OF_TIME;

fn optimised(instance: &Instance, objective: Objective, steps: u64) -> Option<makespan_core::Schedule> {
    let budget = Budget::Steps(steps);
    let target = Target::Objective(objective);
    let optimise = Optimise { target, budget, searches: Some(1), ..Optimise::default() };
    optimise.supports(instance).ok()?;
    optimise.schedule(instance, &mut Context::with_seed(3)).ok()?.into_schedule()
}

/// Returns the schedules of lists that are ordered by several rules. Each task is inserted with the choice that ends
/// first.
fn greedy(packing: &Packing<'_>) -> Vec<makespan_core::Schedule> {
    let instance = packing.instance();
    let choices = packing.fewest();
    let ranks = packing.ranks(&choices);
    let job = |row: Row| &instance.jobs()[packing.job_of(row).index()];
    let due = |row: Row| job(row).deadline.map_or(1e18, |deadline| deadline.ticks() as f64);
    let area = |row: Row| packing.area(choices[row.index()]);
    let lists: [Vec<ListEntry>; 6] = [
        packing.list(&choices, |row| -ranks[row.index()]),
        packing.list(&choices, |row| area(row) / job(row).weight.as_f64().max(1e-9)),
        packing.list(&choices, due),
        packing.list(&choices, |row| packing.release_of(row) as f64),
        packing.list(&choices, |row| -area(row)),
        packing.list(&choices, area),
    ];
    let mut inserter = Inserter::new(packing, instance.first_release().ticks());
    let schedule = |mut list: Vec<ListEntry>| inserter.choose(&mut list, 0.0).ok().map(|()| inserter.schedule(&list));
    lists.into_iter().filter_map(schedule).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn optimise_is_no_worse_than_greedy_insertion(draft in draft()) {
        let instance = draft.instance(1).unwrap();
        // On other instances, `optimise` does not search lists of insertions.
        if instance.platform().nodes().len() < 2 || !instance.has_demands() {
            return Ok(());
        }
        let packing = Packing::new(&instance).unwrap();
        let plans = greedy(&packing);
        for plan in &plans {
            prop_assert_eq!(validate(&instance, plan), Ok(()));
        }
        for objective in OBJECTIVES {
            let Some(least) = plans.iter().map(|plan| objective.value(&instance, plan)).min() else { continue };
            let Some(schedule) = optimised(&instance, objective, 2000) else { continue };
            let value = objective.value(&instance, &schedule);
            prop_assert!(value <= least, "{:?}: {} > {}", objective, value, least);
        }
    }
}

/// The times of a job on one, two .. processors, in ticks at speed 1.
#[derive(Debug)]
struct Small {
    times: Vec<i64>,
    memory: u64,
    licence: u64,
    release: i64,
    weight: i64,
    deadline: i64,
}

/// A node, given by its processors, its speed and its memory.
type SmallNode = (u32, i64, u64);

fn drawn(random: &mut ChaCha8Rng) -> (Vec<SmallNode>, Vec<Small>) {
    let mut node = || (random.random_range(1..3), random.random_range(1..4), random.random_range(4..9));
    let nodes = vec![node(), node(), node()];
    let count = random.random_range(3..5);
    let mut job = || {
        let first = 6 * random.random_range(3..9);
        let mut times = vec![first];
        if random.random_bool(0.5) {
            times.push(first - 6 * random.random_range(1..first / 6));
        }
        let needs = random.random_bool(0.6);
        let release = if random.random_bool(0.5) { random.random_range(0..20) } else { 0 };
        Small {
            times,
            memory: if needs { random.random_range(1..7) } else { 0 },
            licence: u64::from(random.random_bool(0.3)),
            release,
            weight: random.random_range(1..5),
            deadline: release + random.random_range(5..50),
        }
    };
    let jobs = (0..count).map(|_| job()).collect();
    (nodes, jobs)
}

fn instance(nodes: &[SmallNode], jobs: &[Small]) -> Option<Instance> {
    let node = |(at, &(processors, speed, memory)): (usize, &SmallNode)| Node {
        speed: speed as f64,
        resources: Resources::new([("memory", memory)]).unwrap(),
        ..Node::new(format!("n{at}"), processors)
    };
    let platform = Platform::new(nodes.iter().enumerate().map(node).collect()).unwrap();
    let platform = platform.with_licences(Resources::new([("licence", 1)]).unwrap()).unwrap();
    let job = |(at, job): (usize, &Small)| {
        let needs = [("memory", Need::whole(job.memory)), ("licence", Need::whole(job.licence))];
        let needs = Needs::new(needs.into_iter().filter(|(_, need)| !need.is_nothing())).unwrap();
        let times = job.times.iter().map(|&time| Time::from_ticks(time)).collect();
        Job::new(at.to_string(), Profile::table(times).unwrap())
            .with_needs(needs)
            .with_release(Time::from_ticks(job.release))
            .with_weight(Weight::from_millionths(job.weight as u64 * 1_000_000).unwrap())
            .with_deadline(Time::from_ticks(job.deadline))
    };
    Instance::new(platform, jobs.iter().enumerate().map(job).collect(), vec![]).ok()
}

/// Returns the values of the objectives. The flow is a sum instead of a mean.
fn values(jobs: &[Small], ends: &[i64]) -> [i64; 5] {
    let each = || jobs.iter().zip(ends);
    let late = |(job, &end): (&Small, &i64)| (end - job.deadline).max(0);
    OBJECTIVES.map(|objective| match objective {
        Objective::Makespan => ends.iter().copied().max().unwrap(),
        Objective::WeightedCompletion => each().map(|(job, end)| job.weight * end).sum(),
        Objective::MeanFlow => each().map(|(job, end)| end - job.release).sum(),
        Objective::MaxTardiness => each().map(late).max().unwrap(),
        _ => each().map(|one| one.0.weight * late(one)).sum(),
    })
}

/// The least values, found by a search that is simple enough to be obviously correct. The search tries the jobs in
/// every order, on every number of processors of each node. Each job starts at the earliest instant at which there is
/// room and that is not before the start of the preceding job. No placed job starts later than this instant, so there
/// is room until the end of the job. No objective improves when a job ends later. So the result of the jobs of an
/// optimal schedule, in the order of their starts, is among the results.
struct Brute<'b> {
    nodes: &'b [SmallNode],
    jobs: &'b [Small],
    /// The end and the processors of each node, for each placed job.
    placed: Vec<Option<(i64, [u32; 3])>>,
    best: [i64; 5],
}

impl Brute<'_> {
    fn descend(&mut self, last: i64) {
        let mut is_complete = true;
        for at in 0..self.jobs.len() {
            if self.placed[at].is_some() {
                continue;
            }
            is_complete = false;
            for split in self.splits(self.jobs[at].times.len() as u32) {
                let width: u32 = split.iter().sum();
                let speeds = self.nodes.iter().zip(split).filter(|(_, here)| *here > 0);
                let slowest = speeds.map(|(node, _)| node.1).min().unwrap();
                let time = self.jobs[at].times[width as usize - 1] / slowest;
                let earliest = last.max(self.jobs[at].release);
                let ends = self.placed.iter().flatten().map(|placed| placed.0).filter(|&end| end > earliest);
                let mut starts: Vec<i64> = ends.chain([earliest]).collect();
                starts.sort_unstable();
                let Some(start) = starts.into_iter().find(|&start| self.has_room(at, split, start)) else { continue };
                self.placed[at] = Some((start + time, split));
                self.descend(start);
                self.placed[at] = None;
            }
        }
        if is_complete {
            let ends: Vec<i64> = self.placed.iter().flatten().map(|placed| placed.0).collect();
            for (best, value) in self.best.iter_mut().zip(values(self.jobs, &ends)) {
                *best = value.min(*best);
            }
        }
    }

    /// Returns all ways to take up to `most` processors.
    fn splits(&self, most: u32) -> Vec<[u32; 3]> {
        let [a, b, c] = [0, 1, 2].map(|node: usize| self.nodes[node].0);
        let all = (0..=a).flat_map(move |a| (0..=b).flat_map(move |b| (0..=c).map(move |c| [a, b, c])));
        all.filter(|split| (1..=most).contains(&split.iter().sum())).collect()
    }

    fn has_room(&self, at: usize, split: [u32; 3], start: i64) -> bool {
        let running = || self.jobs.iter().zip(&self.placed).filter_map(|(job, placed)| Some((job, (*placed)?)));
        let running = || running().filter(|(_, (end, _))| *end > start).map(|(job, (_, split))| (job, split));
        let share = |job: &Small, split: [u32; 3], node: usize| {
            (job.memory * u64::from(split[node])).div_ceil(split.iter().sum::<u32>().into())
        };
        let own = &self.jobs[at];
        let nodes = (0..3).all(|node| {
            let processors: u32 = running().map(|(_, split)| split[node]).sum();
            let memory: u64 = running().map(|(job, split)| share(job, split, node)).sum();
            processors + split[node] <= self.nodes[node].0 && memory + share(own, split, node) <= self.nodes[node].2
        });
        nodes && running().map(|(job, _)| job.licence).sum::<u64>() + own.licence <= 1
    }
}

/// Checks that nearly all plans of small instances are optimal.
#[test]
fn small_instances_are_planned_optimally() {
    let (mut plans, mut optimal) = (0, 0);
    for seed in 0..40 {
        let (nodes, jobs) = drawn(&mut ChaCha8Rng::seed_from_u64(seed));
        let Some(instance) = instance(&nodes, &jobs) else { continue };
        if !instance.has_demands() {
            continue;
        }
        let mut brute = Brute { nodes: &nodes, jobs: &jobs, placed: vec![None; jobs.len()], best: [i64::MAX; 5] };
        brute.descend(0);
        for (at, objective) in OBJECTIVES.into_iter().enumerate() {
            let schedule = optimised(&instance, objective, 2000).unwrap();
            assert_eq!(validate(&instance, &schedule), Ok(()));
            let mut ends = vec![0; jobs.len()];
            schedule.placements().iter().for_each(|one| ends[one.task.index()] = one.end.ticks());
            let value = values(&jobs, &ends)[at];
            assert!(value >= brute.best[at], "{seed} {objective:?}: {value} is below the optimum {}", brute.best[at]);
            plans += 1;
            optimal += u32::from(value == brute.best[at]);
        }
    }
    assert!(plans > 100 && 100 * optimal >= 97 * plans, "{optimal} of {plans}");
}
