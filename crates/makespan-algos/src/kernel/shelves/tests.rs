use makespan_bounds::dual;
use makespan_core::{Instance, Job, Placement, Platform, Schedule, SpeedupLaw, validate};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// Returns a profile of up to `processors` processors. More processors make a task faster, but do not reduce its work.
/// `falls` states how steeply the times decrease.
fn monotone(first: i64, falls: &[u8], processors: u32) -> Profile {
    let mut ticks = vec![first];
    for (k, fall) in (2_i64..).zip(falls).take(processors as usize - 1) {
        let last = ticks[ticks.len() - 1];
        // Choose a time between no speed-up and linear speed-up. Round this time so that work does not decrease.
        let least = (last * (k - 1) + k - 1) / k;
        ticks.push(last - (last - least) * i64::from(*fall) / 255);
    }
    Profile::table(ticks.into_iter().map(Time::from_ticks).collect()).unwrap()
}

fn falls() -> impl Strategy<Value = Vec<u8>> {
    // Draw the extreme values as often as the values between them, because steps and caps are difficult for
    // constructions.
    let fall = prop_oneof![Just(0_u8), Just(255_u8), any::<u8>()];
    prop_oneof![
        proptest::collection::vec(fall, 11),
        (0_usize..12).prop_map(|cap| (0..11).map(|k| if k < cap { 255 } else { 0 }).collect()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn monotone_jobs_always_fit_in_a_guess_and_a_half(
        processors in 1_u32..13,
        raw in proptest::collection::vec((prop_oneof![1_i64..8, 1_i64..60, 20_i64..40], falls()), 1..14),
    ) {
        let jobs = raw.iter().enumerate().map(|(index, (first, falls))| Job::new(index.to_string(), monotone(*first, falls, processors)));
        let instance = Instance::new(Platform::flat(processors).unwrap(), jobs.collect(), vec![]).unwrap();
        let profiles: Vec<&Profile> = instance.task_ids().map(|task| instance.profile(task)).collect();
        prop_assert!(profiles.iter().all(|profile| profile.is_monotone()));
        let dual = dual::search(profiles.iter().copied(), processors);
        let shelved = two_shelves(&profiles, &dual.first_shelf, dual.guess, processors);
        prop_assert!(shelved.is_some(), "the shelves overflow at the guess {}", dual.guess.ticks());
        let placement = |shelved: ShelvedTask| Placement {
            task: makespan_core::TaskId(shelved.task as u64),
            start: shelved.start,
            end: shelved.start + profiles[shelved.task].time(shelved.processors.len()),
            processors: shelved.processors,
        };
        let schedule = Schedule::new(shelved.unwrap().into_iter().map(placement).collect());
        prop_assert_eq!(validate(&instance, &schedule), Ok(()));
        prop_assert!(2 * schedule.makespan().ticks() <= 3 * dual.guess.ticks());
    }
}

/// Returns speed-up laws of all kinds, with times of few ticks, so that rounding matters.
fn law(random: &mut ChaCha8Rng) -> SpeedupLaw {
    match random.random_range(0..4) {
        0 => SpeedupLaw::Linear {},
        1 => SpeedupLaw::Amdahl { serial: random.random_range(0.0..0.3) * random.random_range(0.0..1.0) },
        2 => SpeedupLaw::Power { exponent: random.random_range(0.5..=1.0) },
        _ => SpeedupLaw::Downey { parallelism: random.random_range(1.0..14.0), sigma: random.random_range(0.0..2.0) },
    }
}

#[test]
fn jobs_with_laws_fit_in_a_guess_and_a_half_and_some_ticks() {
    let mut random = ChaCha8Rng::seed_from_u64(1405);
    let mut built = 0;
    for _ in 0..20_000 {
        let processors = random.random_range(1..20);
        let length = [3, 8, 20, 60, 1_000_000][random.random_range(0..5)];
        let mut left = length * i64::from(processors) * random.random_range(6..=12) / 10;
        let mut jobs = Vec::new();
        while left > 0 && jobs.len() < 40 {
            let width = i64::from(random.random_range(1..=processors));
            let ticks = (length * width * random.random_range(4..=11) / 10).max(1);
            left -= ticks;
            let profile = Profile::law(Time::from_ticks(ticks), law(&mut random), 1, processors).unwrap();
            jobs.push(Job::new(jobs.len().to_string(), profile));
        }
        let instance = Instance::new(Platform::flat(processors).unwrap(), jobs, vec![]).unwrap();
        let profiles: Vec<&Profile> = instance.task_ids().map(|task| instance.profile(task)).collect();
        if !profiles.iter().all(|profile| profile.is_monotone()) {
            continue;
        }
        let dual = dual::search(profiles.iter().copied(), processors);
        built += 1;
        // Also test the larger guess of the proof. `two_shelves` rarely uses it, because the original guess hardly
        // ever fails.
        let whole = Time::from_ticks(4 * (dual.guess.ticks() / 4 + 1));
        let proved = build(&profiles, &dual.first_shelf, whole, Time::TICK, processors);
        let either = two_shelves(&profiles, &dual.first_shelf, dual.guess, processors);
        for shelved in [proved, either].map(|shelved| shelved.expect("the shelves fit")) {
            let end = |shelved: &ShelvedTask| shelved.start + profiles[shelved.task].time(shelved.processors.len());
            let makespan = shelved.iter().map(end).max().unwrap();
            assert!(2 * makespan.ticks() <= 3 * dual.guess.ticks() + 2 * ROUNDING, "{makespan} {:?}", dual.guess);
        }
    }
    assert!(built > 2000, "{built} instances of monotone jobs");
}
