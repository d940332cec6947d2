//! Tests with instances at the limits of valid input: every algorithm plans them, and every bound is proved.

use makespan_core::validate;
use makespan_core::{Instance, Job, Platform, ProcSet, Profile, SpeedupLaw, Time, Unavailable, Weight};
use makespan_verify::Bound;

use super::{plan, representatives};

/// The longest sum of times that an instance accepts. It is just below half the range of `Time`.
const LIMIT: i64 = i64::MAX / 2 - 1;

fn named(index: usize, profile: Profile) -> Job {
    Job::new(index.to_string(), profile)
}

fn rigid(index: usize, width: u32, ticks: i64) -> Job {
    named(index, Profile::rigid(width, Time::from_ticks(ticks)).unwrap())
}

fn table(index: usize, ticks: &[i64]) -> Job {
    named(index, Profile::table(ticks.iter().map(|&time| Time::from_ticks(time)).collect()).unwrap())
}

fn law(index: usize, seconds: i64, law: SpeedupLaw, most: u32) -> Job {
    named(index, Profile::law(Time::from_seconds(seconds), law, 1, most).unwrap())
}

fn weighing(job: Job, weight: &str) -> Job {
    job.with_weight(Weight::parse(weight).unwrap())
}

fn check(processors: u32, jobs: Vec<Job>) {
    check_closed(processors, jobs, Vec::new());
}

fn check_closed(processors: u32, jobs: Vec<Job>, closed: Vec<Unavailable>) {
    // The same jobs are also planned on nodes of two processors with best placement, if the number of processors allows
    // it.
    if processors.is_multiple_of(2) && processors <= 1000 {
        let nodes = Platform::cluster(processors / 2, 2).unwrap().requiring_compact();
        check_on(nodes, jobs.clone(), closed.clone());
    }
    check_on(Platform::flat(processors).unwrap(), jobs, closed);
}

fn check_on(platform: Platform, jobs: Vec<Job>, closed: Vec<Unavailable>) {
    let instance = Instance::new(platform, jobs, closed).unwrap();
    let bounds = super::bounds::all(&instance);
    for bound in &bounds {
        assert_eq!(bound.verify(&instance), Ok(()), "{bound:?}");
    }
    for scheduler in representatives() {
        if scheduler.supports(&instance).is_err() {
            continue;
        }
        let (schedule, _) = plan(scheduler.as_ref(), &instance, 3);
        assert_eq!(validate(&instance, &schedule), Ok(()), "{}", scheduler.name());
        for Bound { objective, value: bound, .. } in &bounds {
            let value = objective.value(&instance, &schedule);
            assert!(value >= bound.integer(), "{}: {objective} {value} is below its bound {bound}", scheduler.name());
        }
    }
}

#[test]
fn no_job_at_all() {
    check(3, Vec::new());
}

#[test]
fn one_processor() {
    check(1, (0..20).map(|index| table(index, &[7 + index as i64])).collect());
    check(1, vec![rigid(0, 1, 1)]);
}

#[test]
fn one_job_on_a_thousand_processors() {
    check(1000, vec![rigid(0, 1, 5)]);
    check(1000, vec![rigid(0, 1000, 5)]);
    check(1000, vec![law(0, 1000, SpeedupLaw::Linear {}, 1000)]);
    let falling: Vec<i64> = (0..1000).map(|less| 10_000 - less).collect();
    check(1000, vec![table(0, &falling)]);
}

#[test]
fn times_of_one_tick() {
    check(4, (0..30).map(|index| rigid(index, 1 + index as u32 % 4, 1)).collect());
    check(4, (0..30).map(|index| table(index, &[1, 1, 1, 1])).collect());
    check(4, (0..9).map(|index| table(index, &[2, 1])).collect());
    let linear = |index| named(index, Profile::law(Time::TICK, SpeedupLaw::Linear {}, 1, 4).unwrap());
    check(4, (0..9).map(linear).collect());
}

#[test]
fn times_near_the_limit() {
    check(1, vec![rigid(0, 1, LIMIT)]);
    check(1000, vec![rigid(0, 1000, LIMIT)]);
    check(3, vec![table(0, &[LIMIT / 2, LIMIT / 3, LIMIT / 4]), table(1, &[LIMIT / 2, LIMIT / 3])]);
    check(5, (0..100).map(|index| rigid(index, 1 + index as u32 % 5, LIMIT / 100)).collect());
    // One job takes one tick, and the other takes more than a century.
    check(2, vec![rigid(0, 1, 1), rigid(1, 2, LIMIT - 1)]);
    check(2, vec![rigid(0, 2, 1), rigid(1, 1, LIMIT - 1)]);
}

#[test]
fn times_weights_and_processors_near_their_limits_together() {
    let heavy = |index| weighing(rigid(index, 1 + index as u32 % 1000, LIMIT / 50), "1000000000");
    check(1000, (0..50).map(heavy).collect());
}

#[test]
fn releases_and_closed_periods_near_the_limit() {
    let late = Time::from_ticks(LIMIT - 1000);
    check(2, vec![rigid(0, 1, 10), rigid(1, 2, 20).with_release(late), table(2, &[30, 20]).with_release(late)]);
    check(2, (0..5).map(|index| rigid(index, 1, 10).with_release(late)).collect());
    let all = |start: i64, end: i64| Unavailable {
        processors: ProcSet::first(2),
        start: Time::from_ticks(start),
        end: Time::from_ticks(end),
    };
    // Processors are closed for 73 years from the start. In the sum of times that an instance limits, this period
    // counts twice.
    check_closed(2, vec![rigid(0, 1, 10), table(1, &[30, 20])], vec![all(0, LIMIT / 2 - 100)]);
    let everyone = |start| all(start, start + 3);
    check_closed(
        2,
        vec![rigid(0, 1, 10), table(1, &[30, 20]), rigid(2, 2, 2)],
        (0..200).step_by(5).map(everyone).collect(),
    );
}

#[test]
fn weights_of_nothing_and_of_a_thousand_million() {
    check(3, (0..20).map(|index| weighing(rigid(index, 1, 5), "0")).collect());
    check(3, (0..20).map(|index| weighing(rigid(index, 1, 5), "1000000000")).collect());
    let mixed = |index: usize| weighing(table(index, &[9, 6, 4]), ["0", "0.000001", "1000000000"][index % 3]);
    check(3, (0..21).map(mixed).collect());
}

#[test]
fn three_hundred_equal_jobs() {
    check(50, (0..300).map(|index| table(index, &[100, 60, 45])).collect());
    check(50, (0..300).map(|index| rigid(index, 7, 100)).collect());
}

#[test]
fn gangs_as_wide_as_the_platform() {
    check(64, (0..100).map(|index| rigid(index, 64, 1 + index as i64)).collect());
}

#[test]
fn laws_on_ten_thousand_processors() {
    let downey =
        |index: usize| SpeedupLaw::Downey { parallelism: 1.0 + 97.0 * index as f64, sigma: index as f64 / 10.0 };
    let laws = |index: usize| match index % 4 {
        0 => downey(index),
        1 => SpeedupLaw::Amdahl { serial: 0.001 * index as f64 },
        2 => SpeedupLaw::Power { exponent: 0.9 },
        _ => SpeedupLaw::Linear {},
    };
    check(10_000, (0..40).map(|index| law(index, 100 + index as i64, laws(index), 10_000)).collect());
    // Jobs without speed-up, and jobs with the maximum speed-up.
    let flat = [SpeedupLaw::Amdahl { serial: 1.0 }, SpeedupLaw::Power { exponent: 0.0 }, SpeedupLaw::Linear {}];
    check(10_000, (0..9).map(|index| law(index, 1, flat[index % 3], 10_000)).collect());
}

fn bag(index: usize, profile: Job, count: u64, weight: &str) -> Job {
    let bag = weighing(profile, weight).with_count(count.try_into().unwrap());
    Job { name: format!("bag {index}"), ..bag }
}

#[test]
fn bags_of_hundreds_of_tasks() {
    let bags = |weights: [&str; 3]| {
        let shapes = [rigid(0, 3, 7), rigid(1, 1, 2), table(2, &[9, 6, 4])];
        let counts = [40, 300, 100];
        let bags = shapes.into_iter().zip(counts).zip(weights).enumerate();
        bags.map(|(index, ((shape, count), weight))| bag(index, shape, count, weight)).collect::<Vec<_>>()
    };
    check(7, bags(["0", "0", "0"]));
    check(7, bags(["1", "0", "1000000000"]));
    check(7, bags(["0.000001", "3", "0"]).into_iter().chain((0..9).map(|index| rigid(index, 5, 50))).collect());
    let late = Time::from_ticks(40);
    check(3, bags(["2", "0", "0"]).into_iter().chain([rigid(0, 3, 30).with_release(late)]).collect());
    let closed = Unavailable { processors: ProcSet::range(0, 1), start: Time::from_ticks(20), end: late };
    check_closed(4, bags(["0", "2", "1"]), vec![closed]);
    // The longest times that an instance may have.
    check(2, vec![bag(0, rigid(0, 1, LIMIT / 200), 100, "1000000000"), bag(1, rigid(1, 2, LIMIT / 300), 100, "0")]);
}

/// Checks that instances that are too large to plan still get bounds, and that finding them does not take a step for
/// each task.
#[test]
fn bags_of_a_million_million_tasks_are_bounded() {
    let count = 1_000_000_000_000;
    for weight in ["0", "0.000001", "1", "1000000000"] {
        let ticks = LIMIT / count as i64 / 4;
        let shapes = [rigid(0, 1, ticks), rigid(1, 3, ticks), table(2, &[ticks, ticks / 2, ticks / 4])];
        for (index, shape) in shapes.into_iter().enumerate() {
            let jobs = vec![bag(index, shape, count, weight), rigid(9, 2, LIMIT / 10), table(10, &[100, 60])];
            let instance = Instance::new(Platform::flat(3).unwrap(), jobs, Vec::new()).unwrap();
            let bounds = super::bounds::all(&instance);
            for bound in &bounds {
                assert_eq!(bound.verify(&instance), Ok(()), "{bound:?}");
            }
            assert!(bounds[0].value.integer() >= i128::from(ticks) * i128::from(count) / 4, "{bounds:?}");
        }
    }
    let all: Vec<Job> = (0..6).map(|index| bag(index, rigid(0, 2, 3), 1 << 57, "1000000000")).collect();
    let instance = Instance::new(Platform::flat(16_000_000).unwrap(), all, Vec::new()).unwrap();
    for bound in super::bounds::all(&instance) {
        assert_eq!(bound.verify(&instance), Ok(()), "{bound:?}");
    }
}
