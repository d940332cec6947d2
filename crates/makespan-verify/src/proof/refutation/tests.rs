//! Tests of refutations. A search writes proofs for tiny instances. The tests compare these proofs with the minimum
//! over all schedules. Altered proofs must not prove more than this minimum.

mod search;
mod tiny;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use makespan_core::{
    Edge, Graph, Job, JobId, Link, NamedTask, Need, Needs, Node, Payload, Platform, Profile, Resources, Task, Time,
};

use crate::proof::{DueBy, LastJob, Proof};
use search::{Extras, refutation};
use tiny::Tiny;

fn proven(instance: &Instance, objective: Objective, refutation: &Refutation) -> Option<i128> {
    Proof::Refutation(refutation.clone()).proves(objective, instance).ok().map(|value| value.integer())
}

/// Compares proofs on `count` random instances with the minimum over all schedules: the proofs must prove the minimum,
/// and no larger value. Returns the number of bytes of all proofs, and the number of altered proofs that were tried.
fn compare(seed: u64, count: usize) -> (usize, usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut bytes, mut altered) = (0, 0);
    for _ in 0..count {
        let tiny = Tiny::draw(&mut rng);
        let instance = tiny.instance();
        for objective in Objective::OF_TIME {
            let Some(least) = tiny.least(objective) else { continue };
            let extras = Extras::draw(&mut rng);
            let proof = refutation(&instance, objective, tiny.grid, least, &extras);
            let proof = proof.unwrap_or_else(|| panic!("not refuted below {least} of the {objective}: {tiny:?}"));
            let value = tiny.value(objective, least);
            assert_eq!(proven(&instance, objective, &proof), Some(value), "{objective}: {tiny:?}");
            assert_eq!(refutation(&instance, objective, tiny.grid, least + 1, &extras), None, "{objective}: {tiny:?}");
            bytes += proof.steps.len();
            altered += attack(&instance, objective, &proof, value, &mut rng);
            coarse(&instance, objective, rng.random_range(2..5) * tiny.grid.div_euclid(2).max(1), value);
        }
    }
    (bytes, altered)
}

/// Checks refutations on another time grid, which rounds times: they prove at most `value`.
fn coarse(instance: &Instance, objective: Objective, grid: i64, value: i128) {
    let extras = Extras::default();
    let found = (1..60).map_while(|least| refutation(instance, objective, grid, least, &extras)).last();
    let proven = found.and_then(|found| proven(instance, objective, &found));
    assert!(proven.is_none_or(|proven| proven <= value), "{proven:?} > {value}: {objective} of {instance:?}");
}

/// Checks that neither a changed proof nor a proof with a higher claim proves more than `value`. Returns the number of
/// changed proofs.
fn attack(instance: &Instance, objective: Objective, proof: &Refutation, value: i128, rng: &mut ChaCha8Rng) -> usize {
    let higher = Refutation { value: proof.value + 1, ..proof.clone() };
    assert_eq!(proven(instance, objective, &higher), None, "{objective} of {instance:?}");
    let attempts = if proof.steps.is_empty() { 0 } else { 24 };
    for _ in 0..attempts {
        let mut changed = Refutation { value: proof.value + rng.random_range(0..2), ..proof.clone() };
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..changed.steps.len());
            match rng.random_range(0..3) {
                0 => changed.steps[at] = rng.random(),
                1 => changed.steps[at] = changed.steps[at].wrapping_add(1),
                _ => changed.steps[at] = changed.steps[rng.random_range(0..changed.steps.len())],
            }
        }
        let proven = proven(instance, objective, &changed);
        assert!(proven.is_none_or(|proven| proven <= value), "{proven:?} > {value}: {changed:?} of {instance:?}");
    }
    attempts
}

#[test]
fn refutations_prove_the_optimum_and_nothing_more() {
    assert!(compare(1, 120).0 > 10_000);
}

#[test]
#[ignore = "long: 4000 instances"]
fn many_refutations_prove_the_optimum_and_nothing_more() {
    let (bytes, altered) = compare(2, 4000);
    assert!(bytes > 100_000 && altered > 50_000, "{bytes} bytes, {altered} altered proofs");
}

/// Returns two jobs of 3 s and 4 s on one processor.
fn pair() -> Instance {
    let job = |name: &str, time| Job::new(name, Profile::rigid(1, Time::from_seconds(time)).unwrap());
    let jobs = vec![job("a", 3).with_deadline(Time::from_seconds(2)), job("b", 4)];
    Instance::new(Platform::flat(1).unwrap(), jobs, vec![]).unwrap()
}

#[test]
fn a_proof_by_hand() {
    let instance = pair();
    // The claim is that 6 s is too short. The step is `Energy` (kind 9) of supply 0 from 0 to 6: tasks hold 7
    // processor-seconds in this period.
    let steps = Refutation::encoded(&[20, 9, 0, 0, 12]);
    let proof = Refutation { value: 7, grid: 1_000_000_000, steps };
    assert_eq!(proven(&instance, Objective::Makespan, &proof), Some(7_000_000_000));
    let text = serde_json::to_string(&Proof::Refutation(proof.clone())).unwrap();
    assert_eq!(text, r#"{"kind":"refutation","value":7,"grid":1000000000,"steps":"9YKY/BNs"}"#);
    assert_eq!(serde_json::from_str::<Proof>(&text).unwrap(), Proof::Refutation(proof.clone()));
    for changed in [
        Refutation { value: 8, ..proof.clone() },
        Refutation { value: 0, ..proof.clone() },
        Refutation { grid: 0, ..proof.clone() },
        Refutation { steps: vec![], ..proof.clone() },
        Refutation { steps: Refutation::encoded(&[20, 9, 0, 0]), ..proof.clone() },
        Refutation { steps: Refutation::encoded(&[20, 9, 1, 0, 12]), ..proof.clone() },
        Refutation { steps: [proof.steps.clone(), vec![0; MAX_BYTES]].concat(), ..proof.clone() },
    ] {
        assert_eq!(proven(&instance, Objective::Makespan, &changed), None, "{changed:?}");
    }
    // In units of 2 s, times are rounded down. Tasks of 1 and 2 units on one processor need 3 units.
    let coarse = Refutation { value: 3, grid: 2_000_000_000, steps: Refutation::encoded(&[20, 9, 0, 0, 4]) };
    assert_eq!(proven(&instance, Objective::Makespan, &coarse), Some(6_000_000_000));
}

/// On 4 processors, the first task (3 processors) and the second task (2 processors) cannot run at the same time. The
/// third task (1 processor) can run at the same time as each of them. Consider a scale of which each task holds at
/// most 1. Its supply is 1 if only the first two tasks hold 1. If all three tasks hold 1, its supply is 2.
#[test]
fn a_scale_of_tasks_depends_on_all_tasks() {
    let job = |name: &str, processors| Job::new(name, Profile::rigid(processors, Time::from_seconds(5)).unwrap());
    let instance = |last| {
        let jobs = vec![job("a", 3), job("b", 2), job("c", last)];
        Instance::new(Platform::flat(4).unwrap(), jobs, vec![]).unwrap()
    };
    // The claim is that 9 s is too short. The step is `Energy` (kind 9) of supply 1, the scale, from 0 to 9.
    let below = |held: [u64; 3], last| {
        let steps = Refutation::encoded(&[&[32, 0, 3][..], &held[..], &[20, 9, 1, 0, 18][..]].concat());
        let proof = Refutation { value: 10, grid: 1_000_000_000, steps };
        proven(&instance(last), Objective::Makespan, &proof)
    };
    assert_eq!(below([1, 1, 0], 1), Some(10_000_000_000));
    // Two tasks that can run at the same time hold 2 of the scale together: the last two tasks, or the first and the
    // last one.
    assert_eq!(below([1, 1, 1], 1), None);
    assert_eq!(below([0, 1, 1], 2), None);
    // If no two tasks can run at the same time, the supply of the scale is 1 although all three tasks hold 1.
    assert_eq!(below([1, 1, 1], 3), Some(10_000_000_000));
    let energy = [32, 0, 3, 1, 1, 0, 20, 9, 1, 0, 18];
    for steps in
        [&energy[..1], &[32, 1, 3, 1, 1, 1], &energy[..5], &[32, 0, 2, 1, 1], &[&[31, 1, 0], &energy[..]].concat()]
    {
        let proof = Refutation { value: 10, grid: 1_000_000_000, steps: Refutation::encoded(steps) };
        assert_eq!(proven(&instance(1), Objective::Makespan, &proof), None);
    }
    // The steps contain more scales than the check permits.
    let many = [&[32, 0, 3, 1, 1, 0].repeat(64)[..], &energy[..]].concat();
    let proof = Refutation { value: 10, grid: 1_000_000_000, steps: Refutation::encoded(&many) };
    assert_eq!(proven(&instance(1), Objective::Makespan, &proof), None);
}

/// Returns the value that a lifted scale proves for the makespan of four tasks of 5 s. The task number i holds `held[i]`
/// of the scale. The claim is that 9 s is too short. The step is `Energy` (kind 9) of the scale from 0 to 9.
fn by_lifted_scale(instance: &Instance, supply: u64, held: [u64; 4]) -> Option<i128> {
    let steps = Refutation::encoded(&[&[33, 4][..], &held[..], &[20, 9, supply, 0, 18][..]].concat());
    proven(instance, Objective::Makespan, &Refutation { value: 10, grid: 1_000_000_000, steps })
}

#[test]
fn a_lifted_scale_distributes_tasks_to_nodes() {
    // All nodes together have enough memory for three tasks, but each node has enough memory for only one task.
    let instance = |nodes: &[(u32, u64)], width, waits: bool| {
        let node = |(number, &(processors, memory)): (usize, &(u32, u64))| Node {
            resources: Resources::new([("memory", memory)]).unwrap(),
            ..Node::new(number.to_string(), processors)
        };
        let job = |number: u32| {
            let needs = Needs::new([("memory", Need::whole(2))]).unwrap();
            let profile = Profile::rigid(width, Time::from_seconds(5)).unwrap();
            let before = (0..number).filter(|_| waits && number % 2 == 1).map(|before| before.to_string());
            Job::new(number.to_string(), profile).with_needs(needs).with_after(before)
        };
        let platform = Platform::new(nodes.iter().enumerate().map(node).collect()).unwrap();
        Instance::new(platform, (0..4).map(job).collect(), vec![]).unwrap()
    };
    let small = instance(&[(2, 3), (2, 3)], 1, false);
    assert_eq!(by_lifted_scale(&small, 2, [1; 4]), Some(10_000_000_000));
    assert_eq!(by_lifted_scale(&small, 2, [2, 1, 1, 1]), None);
    // Tasks on two processors may be spread over both nodes.
    assert_eq!(by_lifted_scale(&instance(&[(4, 3), (4, 3)], 2, false), 2, [1; 4]), None);
    assert_eq!(by_lifted_scale(&instance(&[(2, 3), (2, 4)], 1, false), 2, [1; 4]), None);
    assert_eq!(by_lifted_scale(&instance(&[(2, 3), (2, 0)], 1, false), 2, [1; 4]), Some(10_000_000_000));
    // On one node with enough memory, only waits exclude tasks: 1 waits for 0, and 3 waits for 0, 1 and 2.
    let roomy = |waits| instance(&[(4, 8)], 1, waits);
    assert_eq!(by_lifted_scale(&roomy(false), 2, [1, 1, 0, 1]), None);
    assert_eq!(by_lifted_scale(&roomy(true), 2, [1, 1, 0, 1]), Some(10_000_000_000));
    let energy = [33, 4, 1, 1, 1, 1, 20, 9, 2, 0, 18];
    for steps in [&energy[..5], &[&[33, 3], &energy[2..]].concat(), &[&[31, 2, 0, 0], &energy[..]].concat()] {
        let proof = Refutation { value: 10, grid: 1_000_000_000, steps: Refutation::encoded(steps) };
        assert_eq!(proven(&small, Objective::Makespan, &proof), None);
    }
}

#[test]
fn a_lifted_scale_that_takes_too_long_is_refused() {
    // The capacity of the scale is the maximum of a knapsack problem with two resources and 60 tasks.
    let job = |number: u64| {
        let (x, y) = (1000 + number * number % 97, 1000 + number * 31 % 89);
        let needs = Needs::new([("x", Need::whole(x)), ("y", Need::whole(y))]).unwrap();
        Job::new(number.to_string(), Profile::rigid(1, Time::from_seconds(1)).unwrap()).with_needs(needs)
    };
    let licences = Resources::new([("x", 31_000), ("y", 31_000)]).unwrap();
    let platform = Platform::flat(60).unwrap().with_licences(licences).unwrap();
    let instance = Instance::new(platform, (0..60).map(job).collect(), vec![]).unwrap();
    let held = (0..60).map(|number| 1000 + number * 7 % 61);
    let steps = Refutation::encoded(&[33, 60].into_iter().chain(held).collect::<Vec<u64>>());
    let proof = Proof::Refutation(Refutation { value: 9, grid: 1_000_000_000, steps });
    let error = proof.proves(Objective::Makespan, &instance).unwrap_err();
    assert!(error.to_string().contains("too large to check"), "{error}");
}

/// In each schedule that ends by 4, the task `middle` runs from 1 to 3. The mirror image of this run is the run
/// itself, so the mirror symmetry must not exclude its start.
#[test]
fn a_task_in_the_middle_is_its_own_mirror_image() {
    let job = |name: &str, processors, time, x, y| {
        let needs = Needs::new([("x", Need::whole(x)), ("y", Need::whole(y))]).unwrap();
        Job::new(name, Profile::rigid(processors, Time::from_seconds(time)).unwrap()).with_needs(needs)
    };
    // Because of the licences, `a` and `second` cannot run at the same time, and neither can `b` and `first`.
    let jobs = vec![
        job("middle", 1, 2, 0, 0),
        job("first", 2, 2, 0, 1),
        job("second", 2, 2, 1, 0),
        job("a", 1, 1, 1, 0),
        job("b", 1, 1, 0, 1),
    ];
    let licences = Resources::new([("x", 1), ("y", 1)]).unwrap();
    let platform = Platform::flat(3).unwrap().with_licences(licences).unwrap();
    let instance = Instance::new(platform, jobs, vec![]).unwrap();
    let below = |value| refutation(&instance, Objective::Makespan, 1_000_000_000, value, &Extras::mirrored());
    assert_eq!(below(4).and_then(|proof| proven(&instance, Objective::Makespan, &proof)), Some(4_000_000_000));
    assert_eq!(below(5), None);
}

#[test]
fn a_wider_allotment_that_needs_less_counts() {
    // On two processors, a task is not faster than on one processor, but it needs only one of the two licences. So two
    // tasks can run at the same time.
    let needs = Needs::new([("solver", Need::ByAllotment([2, 1].into()))]).unwrap();
    let profile = Profile::table(vec![Time::from_seconds(5); 2]).unwrap();
    let job = |name: &str| Job::new(name, profile.clone()).with_needs(needs.clone());
    let licences = Resources::new([("solver", 2)]).unwrap();
    let platform = Platform::flat(4).unwrap().with_licences(licences).unwrap();
    let instance = Instance::new(platform, vec![job("a"), job("b")], vec![]).unwrap();
    let second = |value| refutation(&instance, Objective::Makespan, 1_000_000_000, value, &Extras::default());
    assert_eq!(second(5).and_then(|proof| proven(&instance, Objective::Makespan, &proof)), Some(5_000_000_000));
    assert_eq!(second(6), None);
}

#[test]
fn other_kinds_can_contain_a_refutation() {
    let instance = pair();
    let proof = Box::new(Proof::Refutation(Refutation {
        value: 7,
        grid: 1_000_000_000,
        steps: Refutation::encoded(&[20, 9, 0, 0, 12]),
    }));
    let last = Proof::LastJob(LastJob { proof: proof.clone() });
    // The last job ends at 7 s, and the other one at 3 s or later.
    let value = last.proves(Objective::WeightedCompletion, &instance).map(|value| value.integer());
    assert_eq!(value, Ok(10_000_000_000 * i128::from(Weight::ONE.millionths())));
    let alone = Proof::Refutation(Refutation { value: 3, grid: 1_000_000_000, steps: vec![] });
    let due = Proof::DueBy(DueBy { due: instance.job(JobId(0)).deadline.unwrap(), proof: Box::new(alone) });
    assert_eq!(due.proves(Objective::MaxTardiness, &instance).map(|value| value.integer()), Ok(1_000_000_000));
}

#[test]
fn machines_that_differ_are_supplies() {
    // Supply 0 is all processors. Supplies 1 and 2 are the fast and the slow node, and modes are slow, then fast.
    let nodes = vec![Node { speed: 2.0, ..Node::new("a", 1) }, Node::new("b", 1)];
    let job = |name: &str| Job::new(name, Profile::rigid(1, Time::from_seconds(4)).unwrap());
    let instance = Instance::new(Platform::new(nodes).unwrap(), ["a", "b", "c"].map(job).into(), vec![]).unwrap();
    let claim = |value, steps: &[u64]| Refutation { value, grid: 1_000_000_000, steps: Refutation::encoded(steps) };
    // No job ends by 3 s on the slow node, and the three jobs take 6 s on the fast node.
    let slow = (0..3).flat_map(|task| [20, 8, task]);
    let steps: Vec<u64> = slow.chain([20, 9, 1, 0, 6]).collect();
    let makespan = |value, steps| proven(&instance, Objective::Makespan, &claim(value, steps));
    assert_eq!(makespan(4, &steps), Some(4_000_000_000));
    // The jobs end by 4 s: two on the fast node, and one on the slow node.
    assert_eq!(makespan(5, &steps), None);
    assert_eq!(makespan(4, &[20, 9, 1, 0, 6]), None);
}

#[test]
fn equal_tasks_without_transfers_form_pairs() {
    // Tasks 0 and 1 take part in no transfer. Tasks 3 and 4 are equal, but both receive data from task 2.
    let profile = || Profile::rigid(1, Time::from_seconds(5)).unwrap();
    let task = |name: &str| NamedTask { name: name.into(), task: Task::new(profile()) };
    let edge = |to| Edge { from: 0, to, payload: Payload::Fixed(Time::from_seconds(1)) };
    let graph = Graph::new(["c", "d", "e"].map(task).into(), [1, 2].map(edge).into()).unwrap();
    let jobs = vec![Job::new("a", profile()), Job::new("b", profile()), Job::compound("graph", graph)];
    let link = Link { bandwidth: 1e9, latency: Time::ZERO };
    let platform = Platform::cluster(2, 1).unwrap().with_interconnect(link).unwrap();
    let instance = Instance::new(platform, jobs, vec![]).unwrap();
    // The claim is that 11 s is too short. The last step is `Energy` of supply 0 from 0 to 11.
    let below = |records: &[u64]| {
        let steps = Refutation::encoded(&[records, &[20, 9, 0, 0, 22]].concat());
        proven(&instance, Objective::Makespan, &Refutation { value: 12, grid: 1_000_000_000, steps })
    };
    let pair = [22, 0, 1];
    assert_eq!(below(&[]), Some(12_000_000_000));
    assert_eq!(below(&pair), Some(12_000_000_000));
    assert_eq!(below(&[pair, pair].concat()), None);
    assert_eq!(below(&[22, 3, 4]), None);
    assert_eq!(below(&[22, 1, 2]), None);
}

#[test]
fn unsupported_instances_are_refused() {
    let proof = Refutation { value: 1, grid: 1, steps: vec![] };
    let nodes = vec![Node { speed: 2.0, ..Node::new("a", 1) }, Node::new("b", 1)];
    let job = Job::new("a", Profile::rigid(1, Time::from_seconds(3)).unwrap());
    let wide = Job::new("b", Profile::rigid(2, Time::from_seconds(3)).unwrap());
    let instance = Instance::new(Platform::new(nodes).unwrap(), vec![job.clone(), wide], vec![]).unwrap();
    let value = Proof::Refutation(proof.clone()).proves(Objective::Makespan, &instance);
    assert_eq!(value, Err(CertificateError::UnequalProcessors));
    let many = job.with_count(std::num::NonZeroU64::new(MAX_TASKS + 1).unwrap());
    let instance = Instance::new(Platform::flat(1).unwrap(), vec![many], vec![]).unwrap();
    assert_eq!(proven(&instance, Objective::Makespan, &proof), None);
    assert_eq!(proven(&pair(), Objective::Cost, &proof), None);
}
