//! Tests of the guarantee with thousands of adversarial profiles, for every guess that is not refuted.

use makespan_bounds::dual;
use makespan_core::{Instance, Job, Objective, Placement, Platform, Profile, Schedule, TaskId, Time, validate};
use makespan_verify::proof::time_grid;
use makespan_verify::{Bound, Proof};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Cluster, ConstructionPart, Partition, PlacedTask, build, partition, reduce};

/// The speed-up of a job, which is always monotone.
#[derive(Clone, Copy, Debug)]
enum Family {
    /// Perfect speed-up.
    Linear,
    /// No speed-up.
    Flat,
    /// Speed-up only at some allotments. At these allotments, the time is as short as possible.
    Steps,
    /// Perfect speed-up up to some allotment.
    Capped,
    /// Any speed-up between none and perfect.
    Any,
}

const FAMILIES: [Family; 5] = [Family::Linear, Family::Flat, Family::Steps, Family::Capped, Family::Any];

fn profile(family: Family, sequential: i64, most: u32, random: &mut ChaCha8Rng) -> Profile {
    let cap = random.random_range(1..=most);
    let chance = random.random_range(0.1..0.9);
    let mut times = vec![sequential];
    for processors in 2..=i64::from(most) {
        let last = times[times.len() - 1];
        // The least time on `processors` for which work does not decrease.
        let perfect = (last * (processors - 1) + processors - 1) / processors;
        times.push(match family {
            Family::Linear => perfect,
            Family::Flat => last,
            Family::Steps => {
                if random.random_bool(chance) {
                    perfect
                } else {
                    last
                }
            }
            Family::Capped => {
                if processors <= i64::from(cap) {
                    perfect
                } else {
                    last
                }
            }
            Family::Any => random.random_range(perfect..=last),
        });
    }
    let profile = Profile::table(times.into_iter().map(Time::from_ticks).collect()).unwrap();
    assert!(profile.is_monotone());
    profile
}

/// Returns jobs with a total work of about the area of the cluster, for a guessed makespan of about `length`.
fn jobs(cluster: Cluster, random: &mut ChaCha8Rng) -> Vec<Profile> {
    let length = *[4, 7, 24, 1000, 1_000_003].get(random.random_range(0..5)).unwrap();
    let only = random.random_bool(0.5).then(|| FAMILIES[random.random_range(0..FAMILIES.len())]);
    let width = random.random_range(1..=cluster.processors());
    let mut left = i64::from(cluster.processors()) * length * random.random_range(5..=11) / 10;
    let mut profiles = Vec::new();
    while left > 0 && profiles.len() < 60 {
        let family = only.unwrap_or(FAMILIES[random.random_range(0..FAMILIES.len())]);
        // Draw a time near the guessed makespan, or near a multiple of the guess, so that canonical allotments of every
        // size occur.
        let times = if random.random_bool(0.4) { 1 } else { i64::from(random.random_range(1..=width)) };
        let sequential = (length * times * random.random_range(4..=11) / 10).max(1);
        // Avoid jobs that are too long on every number of processors. One such job would determine the makespan alone.
        let long = sequential > length;
        let family = if long && matches!(family, Family::Flat) { Family::Linear } else { family };
        profiles.push(profile(family, sequential, cluster.processors(), random));
        left -= sequential;
    }
    profiles
}

/// Returns a few jobs for a few SMPs. The jobs leave little idle area, so that no transformation is possible at the
/// end. Let w be the work of some number of processors within the guessed makespan. The sequential time of a job is
/// near w, near half of w, or near three quarters of w.
fn tight(cluster: Cluster, random: &mut ChaCha8Rng) -> Vec<Profile> {
    let length = *[12, 1000, 100_003].get(random.random_range(0..3)).unwrap();
    let area = i64::from(cluster.processors()) * length;
    let mut left = area * random.random_range(85..=100) / 100;
    let mut profiles = Vec::new();
    while left > length / 2 && profiles.len() < 40 {
        let width = match random.random_range(0..4) {
            0 => 1,
            1 => random.random_range(1..=cluster.each.min(4)),
            _ => random.random_range(1..=cluster.processors()),
        };
        let percent = random.random_range(51..=100);
        let sequential = (length * i64::from(width) * percent / 100).clamp(1, left);
        let family = FAMILIES[random.random_range(0..FAMILIES.len())];
        let family = if sequential > length && !matches!(family, Family::Any) { Family::Linear } else { family };
        profiles.push(profile(family, sequential, cluster.processors(), random));
        left -= sequential;
    }
    profiles
}

/// The number of times that each event occurred.
#[derive(Debug, Default)]
struct Seen {
    refuted: usize,
    built: usize,
    parts: [usize; 5],
    one_left: usize,
    two_left: usize,
    transformed: usize,
    stacked: usize,
}

fn check(cluster: Cluster, profiles: &[Profile], random: &mut ChaCha8Rng, seen: &mut Seen) {
    let named = profiles.iter().enumerate().map(|(at, profile)| Job::new(at.to_string(), profile.clone())).collect();
    let platform = Platform::cluster(cluster.nodes, cluster.each).unwrap().requiring_compact();
    let instance = Instance::new(platform, named, vec![]).unwrap();
    let profiles: Vec<&Profile> = instance.task_ids().map(|task| instance.profile(task)).collect();
    let guess = dual::search(profiles.iter().copied(), cluster.processors()).guess.ticks();
    let more = |percent: i64| guess + (guess * percent + 99) / 100;
    let any = more(random.random_range(1..=120));
    for ticks in [guess - 1, guess * 9 / 10, guess, guess + 1, more(1), more(5), more(12), more(30), more(60), any] {
        if ticks > 0 {
            attempt(&instance, &profiles, cluster, Time::from_ticks(ticks), seen);
        }
    }
}

fn attempt(instance: &Instance, profiles: &[&Profile], cluster: Cluster, guess: Time, seen: &mut Seen) {
    let first_shelf = match partition(profiles, cluster, guess) {
        Partition::Refuted(rejection) => {
            let bound = Bound::proved_by(Objective::Makespan, Proof::Rejection(rejection), instance).unwrap();
            let least = i128::from(guess.ticks()) + 1;
            let grid = i128::from(time_grid(instance));
            assert_eq!(bound.value.integer(), (least + grid - 1) / grid * grid, "rounded up to a multiple of the grid");
            assert_eq!(bound.verify(instance), Ok(()));
            seen.refuted += 1;
            return;
        }
        Partition::Chosen(first_shelf) => first_shelf,
        Partition::Undecided(_) => panic!("the partition of a small instance is always decided"),
    };
    let (jobs, feasible) = watch(profiles, cluster, &first_shelf, guess, seen);
    assert!(feasible || jobs <= 2, "{jobs} jobs are left in the second shelf");
    let built = build(profiles, cluster, &first_shelf, guess);
    seen.built += 1;
    built.iter().for_each(|placed| seen.parts[placed.part as usize] += 1);
    let tell = || {
        let times = profiles.iter().map(|profile| profile.times()).collect::<Vec<_>>();
        format!("{cluster:?}, guess {guess:?}, {built:?}\n{times:?}")
    };
    let schedule = valid(instance, &built, &tell);
    assert!(built.iter().all(|placed| placed.part != ConstructionPart::Left), "left over: {}", tell());
    assert!(schedule.makespan() <= cluster.height(guess), "{:?}: {}", schedule.makespan(), tell());
}

fn valid(instance: &Instance, built: &[PlacedTask], tell: &dyn Fn() -> String) -> Schedule {
    let place = |placed: &PlacedTask| Placement {
        task: TaskId(placed.task as u64),
        start: placed.start,
        end: placed.end,
        processors: placed.processors.clone(),
    };
    let schedule = Schedule::new(built.iter().map(place).collect());
    assert_eq!(validate(instance, &schedule), Ok(()), "{}", tell());
    schedule
}

/// Repeats the construction up to its last step. Returns the number of jobs that remain in `P_2`, and whether these
/// jobs fit.
fn watch(profiles: &[&Profile], cluster: Cluster, first_shelf: &[bool], guess: Time, seen: &mut Seen) -> (usize, bool) {
    let mut parts = reduce::reduced(profiles, cluster, first_shelf, guess);
    seen.transformed += usize::from(!parts.is_feasible());
    while !parts.is_feasible() && parts.transform() {}
    let (jobs, feasible) = (parts.second.len(), parts.is_feasible());
    seen.one_left += usize::from(!feasible && jobs == 1);
    seen.two_left += usize::from(!feasible && jobs == 2);
    seen.stacked += parts.endings().iter().filter(|ending| ending.stacked.is_some()).count();
    (jobs, feasible)
}

#[test]
fn every_guess_that_is_not_refuted_is_met() {
    let mut random = ChaCha8Rng::seed_from_u64(2001);
    let mut seen = Seen::default();
    for nodes in 1..=8 {
        for each in [2, 4, 8, 16] {
            let cluster = Cluster { nodes, each };
            for _ in 0..100 {
                let profiles = jobs(cluster, &mut random);
                check(cluster, &profiles, &mut random, &mut seen);
            }
            for _ in 0..3000 / nodes {
                let profiles = tight(cluster, &mut random);
                check(cluster, &profiles, &mut random, &mut seen);
            }
        }
    }
    assert!(seen.refuted > 1000 && seen.built > 10_000 && seen.transformed > 1000, "{seen:?}");
    assert!(seen.parts[..4].iter().all(|&count| count > 1000), "{seen:?}");
    assert!(seen.one_left > 0 && seen.stacked > 0, "{seen:?}");
}

/// Checks that the schedule is valid for any first shelf and any jobs. Such a schedule may exceed the maximum length
/// for its guess ([`Cluster::height`]). This test also reaches the case of two remaining jobs in `P_2`, which
/// [`partition`] does not cause above.
#[test]
fn any_first_shelf_and_any_jobs_give_a_valid_schedule() {
    let mut random = ChaCha8Rng::seed_from_u64(2002);
    let mut seen = Seen::default();
    let mut left = 0;
    for case in 0..3000 {
        let cluster = Cluster { nodes: 1 + case % 4, each: 2 << (case % 3) };
        let mut profiles = tight(cluster, &mut random);
        if case % 2 == 0 {
            profiles.iter_mut().for_each(|profile| *profile = strange(cluster, &mut random));
        }
        let named = profiles.iter().enumerate().map(|(at, profile)| Job::new(at.to_string(), profile.clone()));
        let platform = Platform::cluster(cluster.nodes, cluster.each).unwrap().requiring_compact();
        let instance = Instance::new(platform, named.collect(), vec![]).unwrap();
        let profiles: Vec<&Profile> = instance.task_ids().map(|task| instance.profile(task)).collect();
        let first_shelf: Vec<bool> = profiles.iter().map(|_| random.random_bool(0.4)).collect();
        let guess = dual::search(profiles.iter().copied(), cluster.processors()).guess;
        let (jobs, feasible) = watch(&profiles, cluster, &first_shelf, guess, &mut seen);
        let built = build(&profiles, cluster, &first_shelf, guess);
        valid(&instance, &built, &|| format!("{cluster:?} {first_shelf:?} {jobs} {feasible} {built:?}"));
        left += built.iter().filter(|placed| placed.part == ConstructionPart::Left).count();
    }
    assert!(seen.two_left > 10 && left > 100, "{seen:?}, {left}");
}

/// Returns a profile that is rigid, superlinear, or needs more than one processor.
fn strange(cluster: Cluster, random: &mut ChaCha8Rng) -> Profile {
    let ticks = |random: &mut ChaCha8Rng| Time::from_ticks(random.random_range(1..1000));
    let width = random.random_range(1..=cluster.processors());
    match random.random_range(0..3) {
        0 => Profile::rigid(width, ticks(random)).unwrap(),
        1 => Profile::table((0..width).map(|_| ticks(random)).collect()).unwrap(),
        _ => {
            let table = Profile::table((0..cluster.processors()).map(|_| ticks(random)).collect()).unwrap();
            table.clone().at_least(width).unwrap_or(table)
        }
    }
}

/// The last job of `P_2` takes 7 processors of a box of 8, and 7 columns are not in `P_full`. The job fits neither on
/// the two idle processors nor on three. A third processor cannot become idle, because the last sequential job fits on
/// no other job. The paper has no step for this case.
#[test]
fn a_last_job_that_does_without_its_box() {
    let table = |times: [i64; 8]| Profile::table(times.map(Time::from_ticks).to_vec()).unwrap();
    let profiles = [
        table([2820, 1410, 940, 705, 564, 470, 403, 353]),
        table([3000, 1500, 1000, 750, 600, 500, 429, 376]),
        table([960, 480, 320, 240, 192, 160, 138, 121]),
        table([660, 660, 660, 660, 528, 528, 528, 528]),
    ];
    let cluster = Cluster { nodes: 2, each: 4 };
    let mut seen = Seen::default();
    check(cluster, &profiles, &mut ChaCha8Rng::seed_from_u64(1), &mut seen);
    assert!(seen.one_left > 0, "{seen:?}");
}
