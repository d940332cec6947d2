//! Tiny instances with memory on nodes, for which a brute-force search finds the optimum.

use makespan_core::{
    Instance, Job, Need, Needs, Node, Objective, Placement, Platform, ProcSet, Profile, Resources, Schedule, Time,
    Weight, validate,
};
use makespan_verify::proof::Refutation;
use makespan_verify::{Bound, Proof};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::super::{CompleteWork, search};
use crate::Clock;

/// Jobs on up to three nodes with memory.
#[derive(Clone, Debug)]
struct Spread {
    /// The processors and the memory of each node.
    nodes: Vec<(u32, u64)>,
    jobs: Vec<SpreadJob>,
}

#[derive(Clone, Debug)]
struct SpreadJob {
    time: i64,
    processors: u32,
    /// The memory for each processor.
    memory: u64,
    release: i64,
    weight: u64,
    /// True if the job waits for the job before it.
    waits: bool,
}

/// The start, the end, and the number of processors on each node of a job.
type Placed = (i64, i64, Vec<u32>, u64);

impl Spread {
    fn draw(rng: &mut ChaCha8Rng, most: usize) -> Self {
        let count = rng.random_range(2..4);
        let nodes: Vec<(u32, u64)> = (0..count).map(|_| (rng.random_range(1..3), rng.random_range(2..7))).collect();
        let (has_releases, has_waits) = (rng.random_range(0..3) == 0, rng.random_range(0..3) == 0);
        let job = |number: usize, rng: &mut ChaCha8Rng| SpreadJob {
            time: rng.random_range(1..6),
            processors: if rng.random_range(0..5) == 0 { 2 } else { 1 },
            memory: rng.random_range(0..3),
            release: if has_releases { rng.random_range(0..4) } else { 0 },
            weight: rng.random_range(1..4),
            waits: has_waits && number > 0 && rng.random_range(0..3) == 0,
        };
        let jobs = (0..rng.random_range(2..=most)).map(|number| job(number, rng)).collect();
        Self { nodes, jobs }
    }

    /// Returns the instance, or `None` if some job fits on no nodes.
    fn instance(&self) -> Option<Instance> {
        let node = |(number, &(processors, memory)): (usize, &(u32, u64))| Node {
            resources: Resources::new([("memory", memory)]).unwrap(),
            ..Node::new(number.to_string(), processors)
        };
        let platform = Platform::new(self.nodes.iter().enumerate().map(node).collect()).unwrap();
        let job = |(number, job): (usize, &SpreadJob)| {
            let profile = Profile::rigid(job.processors, Time::from_seconds(job.time)).unwrap();
            let needs = Needs::new([("memory", Need::per_processor(job.memory))]).unwrap();
            let own =
                Job::new(number.to_string(), profile).with_needs(needs).with_release(Time::from_seconds(job.release));
            let own = own.with_weight(Weight::from_millionths(job.weight * 1_000_000).unwrap());
            own.with_after(job.waits.then(|| (number - 1).to_string()))
        };
        Instance::new(platform, self.jobs.iter().enumerate().map(job).collect(), vec![]).ok()
    }

    /// Returns the schedule that runs the jobs one after the other.
    fn one_by_one(&self, instance: &Instance) -> Schedule {
        let (mut end, mut placements) = (0, Vec::new());
        for (task, job) in instance.task_ids().zip(&self.jobs) {
            let fits = |split: &Vec<u32>| self.has_room(&[], job, split, 0);
            let split = splits(job.processors, self.nodes.len()).into_iter().find(fits).unwrap();
            let own = |(node, count): (usize, &u32)| instance.platform().processors_of(node).take(*count).unwrap();
            let processors = split.iter().enumerate().map(own).fold(ProcSet::new(), |all, own| all.union(&own));
            let start = job.release.max(end);
            end = start + job.time;
            let (start, end) = (Time::from_seconds(start), Time::from_seconds(end));
            placements.push(Placement { task, start, end, processors });
        }
        Schedule::new(placements)
    }

    /// Returns the minimum of an objective over all schedules, in its integer unit.
    fn least(&self, objective: Objective) -> i128 {
        let mut best = i64::MAX;
        self.extend(&mut vec![None; self.jobs.len()], objective, &mut best);
        let unit = if objective.is_sum_of_ends() { 1_000_000 } else { 1 };
        i128::from(best) * unit * i128::from(Time::TICKS_PER_SECOND)
    }

    /// Adds one more job to a partial schedule in every possible way. Each job starts as early as possible.
    fn extend(&self, placed: &mut Vec<Option<Placed>>, objective: Objective, best: &mut i64) {
        if placed.iter().all(Option::is_some) {
            let ends = placed.iter().flatten().map(|one| one.1);
            let weighted = ends.clone().zip(&self.jobs).map(|(end, job)| end * job.weight as i64).sum();
            *best = (*best).min(if objective.is_sum_of_ends() { weighted } else { ends.max().unwrap_or(0) });
            return;
        }
        for (number, job) in self.jobs.iter().enumerate() {
            let before = if job.waits { placed[number - 1].as_ref().map(|one| one.1) } else { Some(0) };
            let (None, Some(before)) = (&placed[number], before) else { continue };
            for split in splits(job.processors, self.nodes.len()) {
                let fits = |start: &i64| (*start..start + job.time).all(|at| self.has_room(placed, job, &split, at));
                // After this instant, no other job runs.
                let last = placed.iter().flatten().map(|one| one.1).max().unwrap_or(0).max(before).max(job.release);
                if let Some(start) = (before.max(job.release)..=last).find(fits) {
                    placed[number] = Some((start, start + job.time, split, job.memory));
                    self.extend(placed, objective, best);
                    placed[number] = None;
                }
            }
        }
    }

    fn has_room(&self, placed: &[Option<Placed>], job: &SpreadJob, split: &[u32], at: i64) -> bool {
        self.nodes.iter().enumerate().all(|(node, &(processors, memory))| {
            let beside = || placed.iter().flatten().filter(|one| one.0 <= at && at < one.1);
            let wide: u32 = beside().map(|one| one.2[node]).sum();
            let held: u64 = beside().map(|one| u64::from(one.2[node]) * one.3).sum();
            wide + split[node] <= processors && held + u64::from(split[node]) * job.memory <= memory
        })
    }
}

/// Returns all ways to divide processors among nodes.
fn splits(processors: u32, nodes: usize) -> Vec<Vec<u32>> {
    if nodes == 1 {
        return vec![vec![processors]];
    }
    let with =
        |first: u32| splits(processors - first, nodes - 1).into_iter().map(move |rest| [vec![first], rest].concat());
    (0..=processors).flat_map(with).collect()
}

/// Checks random changes of a certificate: none of them proves more than the optimum.
pub(super) fn attack(bound: &Bound, least: i128, instance: &Instance, rng: &mut ChaCha8Rng) {
    let greedy = Bound { value: (bound.value.integer() + 1).into(), ..bound.clone() };
    assert!(greedy.verify(instance).is_err(), "{greedy:?}");
    let Proof::Refutation(proof) = &bound.proof else { return };
    let claim = Proof::Refutation(Refutation { value: proof.value + 1, ..proof.clone() });
    let proven = claim.proves(bound.objective, instance);
    assert!(!proven.is_ok_and(|proven| proven.integer() > least), "{bound:?} of {instance:?}");
    for _ in 0..if proof.steps.is_empty() { 0 } else { 20 } {
        let mut changed = proof.clone();
        changed.value += rng.random_range(0..2);
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..changed.steps.len());
            changed.steps[at] = rng.random();
        }
        let proven = Proof::Refutation(changed).proves(bound.objective, instance);
        assert!(!proven.is_ok_and(|proven| proven.integer() > least), "{bound:?} of {instance:?}");
    }
}

/// Checks searches of random instances. Returns the number of optima that are proved, and the number of searches.
fn compare(seed: u64, count: usize, most: usize) -> (usize, usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut proved, mut all) = (0, 0);
    for _ in 0..count {
        let spread = Spread::draw(&mut rng, most);
        let Some(instance) = spread.instance() else { continue };
        for objective in Objective::STANDARD {
            let (least, known) = (spread.least(objective), spread.one_by_one(&instance));
            let work = CompleteWork { clock: &Clock::ENDLESS, conflicts: 20_000 };
            let completed = search(&instance, objective, &known, None, work);
            let best = completed.schedule.as_ref().unwrap_or(&known);
            assert_eq!(validate(&instance, best), Ok(()));
            assert!(objective.value(&instance, best) >= least, "{objective} {spread:?}");
            all += 1;
            let Some(bound) = completed.bound else { continue };
            assert_eq!(bound.verify(&instance), Ok(()));
            assert!(bound.value.integer() <= least, "{} > {least}: {objective} {spread:?}", bound.value);
            proved += usize::from(bound.value.integer() == least && objective.value(&instance, best) == least);
            attack(&bound, least, &instance, &mut rng);
        }
    }
    (proved, all)
}

#[test]
fn optima_with_memory_on_nodes_are_proved() {
    let (proved, all) = compare(0, 60, 4);
    assert!(all >= 60 && proved * 100 >= all * 95, "{proved} of {all}");
}

#[test]
#[ignore = "long: 2,000 instances"]
fn many_optima_with_memory_on_nodes_are_proved() {
    let (proved, all) = compare(1, 2000, 5);
    assert!(all >= 2000 && proved * 100 >= all * 95, "{proved} of {all}");
}

#[test]
fn tasks_that_no_nodes_can_run_together_are_excluded_by_a_scale() {
    // Each node has memory for one of the four tasks. The memory of both nodes together suffices for three tasks.
    let job = SpreadJob { time: 5, processors: 1, memory: 2, release: 0, weight: 1, waits: false };
    let spread = Spread { nodes: vec![(2, 3), (2, 3)], jobs: vec![job; 4] };
    let instance = spread.instance().unwrap();
    let work = CompleteWork { clock: &Clock::ENDLESS, conflicts: 1000 };
    let completed = search(&instance, Objective::Makespan, &spread.one_by_one(&instance), None, work);
    assert_eq!(completed.bound.map(|bound| bound.ticks()), Some(Time::from_seconds(10)));
    assert_eq!((completed.conflicts, completed.unproved), (0, None));
}
