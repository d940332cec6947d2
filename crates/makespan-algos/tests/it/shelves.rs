//! Tests of `shelves` on nodes of any size, `dual`, and lists: their guarantees hold, for tables and laws.

use makespan_algos::scheduler;
use makespan_algos::{Context, Guarantee};
use makespan_bounds::dual;
use makespan_core::{Instance, Job, Objective, Platform, Profile, SpeedupLaw, Time, validate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn law(most: u32, random: &mut ChaCha8Rng) -> SpeedupLaw {
    match random.random_range(0..4) {
        0 => SpeedupLaw::Linear {},
        1 => SpeedupLaw::Amdahl { serial: random.random_range(0.0..0.3) * random.random_range(0.0..1.0) },
        2 => SpeedupLaw::Power { exponent: random.random_range(0.5..=1.0) },
        _ => {
            let parallelism = random.random_range(1.0..=f64::from(most));
            SpeedupLaw::Downey { parallelism, sigma: random.random_range(0.0..2.0) }
        }
    }
}

/// Returns a monotone profile, with steps and caps.
fn table(ticks: i64, most: u32, random: &mut ChaCha8Rng) -> Profile {
    let mut times = vec![ticks];
    for processors in 2..=i64::from(most) {
        let last = times[times.len() - 1];
        let perfect = (last * (processors - 1) + processors - 1) / processors;
        times.push(if random.random_bool(0.6) { perfect } else { last });
    }
    Profile::table(times.into_iter().map(Time::from_ticks).collect()).unwrap()
}

/// Returns jobs that nearly fill a platform for `length` ticks.
fn jobs(processors: u32, laws: bool, random: &mut ChaCha8Rng) -> Vec<Job> {
    let length = [3, 12, 60, 1_000_003][random.random_range(0..4)];
    let mut left = length * i64::from(processors) * random.random_range(5..=12) / 10;
    let mut jobs = Vec::new();
    while left > 0 && jobs.len() < 60 {
        let width = if random.random_bool(0.4) { 1 } else { i64::from(random.random_range(1..=processors)) };
        let ticks = (length * width * random.random_range(4..=11) / 10).max(1);
        left -= ticks;
        let profile = if laws {
            Profile::law(Time::from_ticks(ticks), law(processors, random), 1, processors).unwrap()
        } else {
            table(ticks, processors, random)
        };
        jobs.push(Job::new(jobs.len().to_string(), profile));
    }
    jobs
}

/// Plans an instance. Checks that the plan is valid and within the guarantee of the guess on the whole platform. The
/// guess is a lower bound on all schedules.
fn check(name: &str, instance: &Instance, guarantee: Guarantee) -> i128 {
    let schedule =
        scheduler(name).unwrap().schedule(instance, &mut Context::default()).unwrap().into_schedule().unwrap();
    assert_eq!(validate(instance, &schedule), Ok(()), "{name}");
    let profiles = instance.task_ids().map(|task| instance.profile(task));
    let guess = i128::from(dual::search(profiles, instance.processors()).guess.ticks());
    let makespan = i128::from(schedule.makespan().ticks());
    assert!(guarantee.holds(makespan, guess), "{name}: {makespan} is above {guarantee} times {guess}");
    makespan
}

fn guarantee(name: &str, instance: &Instance) -> Guarantee {
    scheduler(name).unwrap().guarantee(instance, Objective::Makespan).expect("there is a guarantee")
}

#[test]
fn nodes_of_any_size_have_their_ratio() {
    let mut random = ChaCha8Rng::seed_from_u64(1404);
    let mut widest = 0;
    for case in 0..600 {
        let (nodes, each) = (random.random_range(1..=6), [1, 2, 3, 4, 5, 6, 7, 8, 12, 24][case % 10]);
        let compact = Platform::cluster(nodes, each).unwrap().requiring_compact();
        let laws = random.random_bool(0.5);
        let instance = Instance::new(compact, jobs(nodes * each, laws, &mut random), vec![]).unwrap();
        if !instance.simple_jobs().all(|job| job.profile().is_monotone()) {
            continue;
        }
        let found = guarantee("shelves", &instance);
        let ratio = match each {
            1 | 2 | 4 => (3, 2),
            8 => (7, 4),
            3 | 5..=7 => (3, 1),
            12 => (7, 2),
            _ => (15, 4),
        };
        assert_eq!((found.numerator, found.denominator), ratio, "{each}");
        let rounds = instance.simple_jobs().any(|job| job.profile().rounds_up());
        assert_eq!(found.plus > Time::ZERO, rounds);
        check("shelves", &instance, found);
        widest = widest.max(instance.processors());
    }
    assert!(widest > 100);
}

#[test]
fn laws_keep_the_ratios_of_dual_and_lists() {
    let mut random = ChaCha8Rng::seed_from_u64(145);
    for _ in 0..400 {
        let processors = random.random_range(1..40);
        let flat = Platform::flat(processors).unwrap();
        let instance = Instance::new(flat, jobs(processors, true, &mut random), vec![]).unwrap();
        for name in ["dual", "list[order=shelf]", "list[order=saf]", "sweep[steps=0]"] {
            check(name, &instance, guarantee(name, &instance));
        }
        if instance.simple_jobs().all(|job| job.profile().is_monotone()) {
            let dual = guarantee("dual", &instance);
            assert_eq!((dual.numerator, dual.denominator), (3, 2));
        }
    }
}

#[test]
fn release_dates_keep_the_shelves_by_the_batch_rule() {
    let mut random = ChaCha8Rng::seed_from_u64(1444);
    let mut shelved = 0;
    for _ in 0..60 {
        let compact = Platform::cluster(3, 4).unwrap().requiring_compact();
        let jobs = jobs(12, random.random_bool(0.5), &mut random).into_iter();
        let late = |job: Job| job.with_release(Time::from_ticks(random.random_range(0..30)));
        let instance = Instance::new(compact, jobs.map(late).collect(), vec![]).unwrap();
        if !instance.simple_jobs().all(|job| job.profile().is_monotone()) {
            continue;
        }
        let found = guarantee("shelves", &instance);
        let ratio = if instance.has_release_dates() { (3, 1) } else { (3, 2) };
        assert_eq!((found.numerator, found.denominator), ratio);
        let scheduler = scheduler("shelves").unwrap();
        let schedule = scheduler.schedule(&instance, &mut Context::default()).unwrap().into_schedule().unwrap();
        assert_eq!(validate(&instance, &schedule), Ok(()));
        shelved += usize::from((0..instance.jobs().len()).any(|at| schedule.group(at).is_some()));
        let guess = dual::search(instance.task_ids().map(|task| instance.profile(task)), 12).guess.ticks();
        let release = instance.jobs().iter().map(|job| job.release.ticks()).max().unwrap();
        // The last batch starts no later than the last release plus the length of the preceding batch.
        let most = release + 2 * (guess * 3 / 2 + found.plus.ticks());
        assert!(schedule.makespan().ticks() <= most, "{}", schedule.makespan());
    }
    assert!(shelved > 0, "lists are always shorter");
}

#[test]
fn a_knapsack_that_is_too_large_doubles_what_is_promised() {
    let job = |index: u32| Job::new(index.to_string(), Profile::rigid(1, Time::from_seconds(5)).unwrap());
    let wide = |count: u32| Instance::new(Platform::flat(1 << 24).unwrap(), (0..count).map(job).collect(), vec![]);
    let (few, many) = (wide(3).unwrap(), wide(4).unwrap());
    for name in ["dual", "list[order=shelf]", "shelves"] {
        assert_eq!(guarantee(name, &many), guarantee(name, &few).doubled(), "{name}");
    }
}
