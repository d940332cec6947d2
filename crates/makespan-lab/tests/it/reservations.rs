//! Tests that compare plans around reservations with list schedules and proved bounds.

use std::collections::BTreeMap;

use makespan_algos::Context;
use makespan_algos::{catalogue, scheduler};
use makespan_core::{
    Instance, Job, Objective, Platform, ProcSet, Profile, Schedule, SpeedupLaw, Task, Time, Unavailable, Work, validate,
};
use makespan_generate::{Family, MoldableOptions, generate};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn plan(spec: &str, instance: &Instance) -> Schedule {
    let plan =
        scheduler(spec).unwrap().schedule(instance, &mut Context::with_seed(1)).unwrap().into_schedule().unwrap();
    assert_eq!(validate(instance, &plan), Ok(()), "{spec}");
    plan
}

fn drawn(family: Family, jobs: usize, processors: u32, seed: u64) -> Instance {
    generate(&MoldableOptions { family, jobs, processors, seed, arrival_rate: None }).unwrap()
}

fn closing(instance: &Instance, closed: Vec<Unavailable>) -> Instance {
    Instance::new(instance.platform().clone(), instance.all_submitted(), closed).unwrap()
}

/// Generates random jobs that follow speed-up laws or belong to a family. Some jobs are rigid.
fn any_jobs(random: &mut impl Rng) -> Instance {
    let processors = random.random_range(2..=48);
    let family = Family::ALL[random.random_range(0..Family::ALL.len())];
    let instance = drawn(family, random.random_range(1..=40), processors, random.random_range(0..1 << 32));
    let mut jobs = instance.all_submitted();
    let alone = |profile: Profile| Work::Task(Task::new(profile));
    let (laws, rigid) = (random.random_bool(0.4), random.random_bool(0.3));
    for job in &mut jobs {
        let time = Time::from_ticks(random.random_range(1_000_000_000..40_000_000_000));
        if laws {
            let law = match random.random_range(0..4) {
                0 => SpeedupLaw::Linear {},
                1 => SpeedupLaw::Amdahl { serial: random.random_range(0.0..0.5) },
                2 => SpeedupLaw::Power { exponent: random.random_range(0.0..1.0) },
                _ => SpeedupLaw::Downey {
                    parallelism: random.random_range(1.0..20.0),
                    sigma: random.random_range(0.0..2.0),
                },
            };
            job.work = alone(Profile::law(time, law, 1, processors).unwrap());
        }
        if rigid && random.random_bool(0.3) {
            job.work = alone(Profile::rigid(random.random_range(1..=processors), time).unwrap());
        }
    }
    // The shelf algorithms need platforms with nodes.
    let platform =
        if processors % 4 == 0 { Platform::cluster(processors / 4, 4).unwrap() } else { instance.platform().clone() };
    Instance::new(platform, jobs, Vec::new()).unwrap()
}

/// Generates one to four random reservations. Some are short, and some are much longer than the bound on the makespan.
fn any_closed(instance: &Instance, random: &mut impl Rng) -> Vec<Unavailable> {
    let bound = makespan_bounds::makespan(instance).value.integer() as f64;
    let processors = instance.processors();
    let count = random.random_range(1..=4);
    let period = |_| {
        let first = random.random_range(0..processors);
        let last = random.random_range(first..processors);
        let start = if random.random_bool(0.4) { 0.0 } else { bound * random.random_range(0.0..2.0) };
        let length = bound * [0.1, 0.3, 1.0, 3.0, 40.0][random.random_range(0..5)] * random.random_range(0.5..1.0);
        let (start, length) = (Time::from_ticks(start as i64), Time::from_ticks(1 + length as i64));
        Unavailable { processors: ProcSet::range(first, last), start, end: start + length }
    };
    (0..count).map(period).collect()
}

/// Returns the objective of a scheduler of moldable jobs.
fn aim(spec: &str) -> Objective {
    match spec {
        _ if spec.starts_with("optimise[steps") => Objective::WeightedCompletion,
        _ if spec.contains("mean-flow") => Objective::MeanFlow,
        _ => Objective::Makespan,
    }
}

#[test]
fn reservations_do_not_wreck_any_scheduler() {
    check_schedulers(8);
}

#[test]
#[ignore = "long: it plans 40 instances by all algorithms"]
fn reservations_do_not_wreck_any_scheduler_on_many_instances() {
    check_schedulers(40);
}

fn check_schedulers(cases: usize) {
    let mut random = ChaCha8Rng::seed_from_u64(14);
    let mut worst: BTreeMap<&str, f64> = BTreeMap::new();
    let moldable = catalogue().iter().filter(|entry| entry.supports.contains("moldable") || entry.name == "optimise");
    let specs = moldable.flat_map(|entry| entry.kind.representatives).copied();
    // These jobs have no costs, due dates or penalties.
    let others = ["sequential", "cost", "tard", "late", "penalty"];
    let specs: Vec<&str> = specs.filter(|spec| !others.iter().any(|other| spec.contains(other))).collect();
    for _ in 0..cases {
        let open = any_jobs(&mut random);
        let instance = closing(&open, any_closed(&open, &mut random));
        let references = ["sequential", "sweep[steps=300]"].map(|spec| plan(spec, &instance));
        for &spec in &specs {
            if scheduler(spec).unwrap().supports(&instance).is_ok() {
                let value = |plan: &Schedule| aim(spec).value(&instance, plan) as f64;
                let best = references.iter().map(value).fold(f64::INFINITY, f64::min);
                let ratio = value(&plan(spec, &instance)) / best;
                worst.entry(spec).and_modify(|worst| *worst = worst.max(ratio)).or_insert(ratio);
            }
        }
    }
    assert!(worst.len() > 8, "too few schedulers planned: {worst:?}");
    for (spec, ratio) in worst {
        println!("{spec:45} {ratio:.3}");
        assert!(ratio <= 2.0, "{spec}: {ratio} times the better of sequential and sweep");
    }
}

/// Returns an instance in which half of the processors are reserved. The length of the reservation is a third of the
/// bound on the makespan. The reservation ends by the bound.
fn half_reserved(family: Family, jobs: usize, processors: u32, seed: u64) -> Instance {
    let instance = drawn(family, jobs, processors, seed);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let bound = makespan_bounds::makespan(&instance).value.integer() as i64;
    let start = Time::from_ticks(random.random_range(0..=bound - bound / 3));
    let end = start + Time::from_ticks(bound / 3);
    closing(&instance, vec![Unavailable { processors: ProcSet::first(processors / 2), start, end }])
}

#[test]
fn demt_stays_near_the_bounds_with_half_of_the_processors_reserved() {
    for family in Family::ALL {
        for (jobs, seed) in [(20, 1), (40, 2), (60, 3)] {
            let instance = half_reserved(family, jobs, 32, seed);
            let plan = plan("demt", &instance);
            let ratio = |objective: Objective| {
                let bound = makespan_bounds::best(&instance, objective).unwrap();
                assert_eq!(bound.verify(&instance), Ok(()));
                objective.value(&instance, &plan) as f64 / bound.value.integer() as f64
            };
            let (makespan, weighted) = (ratio(Objective::Makespan), ratio(Objective::WeightedCompletion));
            println!("{family:?} {jobs} {seed}: {makespan:.3} {weighted:.3}");
            assert!(makespan <= 2.2 && weighted <= 2.9, "{family:?} {jobs} jobs, seed {seed}: {makespan} {weighted}");
        }
    }
}

/// Returns an instance on ten processors. Jobs have linear speed-up. Nine of the processors are reserved for the first
/// thousand seconds.
fn nine_of_ten() -> Instance {
    let job = |(name, seconds, weight): (&str, i64, &str)| {
        let profile = Profile::law(Time::from_seconds(seconds), SpeedupLaw::Linear {}, 1, 10).unwrap();
        Job::new(name, profile).with_weight(makespan_core::Weight::parse(weight).unwrap())
    };
    let jobs = [("a", 10, "5"), ("b", 20, "1"), ("c", 30, "1")].map(job).to_vec();
    let closed = Unavailable { processors: ProcSet::range(1, 9), start: Time::ZERO, end: Time::from_seconds(1000) };
    Instance::new(Platform::flat(10).unwrap(), jobs, vec![closed]).unwrap()
}

#[test]
fn nobody_waits_for_nine_of_ten_processors() {
    let instance = nine_of_ten();
    for spec in ["demt", "dual", "list", "gang", "sweep", "demt[compaction=shift]"] {
        assert_eq!(plan(spec, &instance).makespan(), Time::from_seconds(60), "{spec}");
    }
    let bound = makespan_bounds::weighted_completion(&instance);
    assert_eq!(bound.verify(&instance), Ok(()));
    let value = bound.value.integer() as f64 / 1e15;
    assert!((139.9..=140.0).contains(&value), "{value} of 140");
}
