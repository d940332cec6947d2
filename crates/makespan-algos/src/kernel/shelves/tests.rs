use makespan_bounds::dual;
use makespan_core::{Instance, Job, Placement, Platform, Schedule, validate};
use proptest::prelude::*;

use super::*;

/// Times on 1 .. processors that fall while work does not, from how steeply they fall.
fn monotone(first: i64, falls: &[u8], processors: u32) -> Profile {
    let mut ticks = vec![first];
    for (k, fall) in (2_i64..).zip(falls).take(processors as usize - 1) {
        let last = ticks[ticks.len() - 1];
        // From no speed-up to the linear one, rounded so that work does not fall.
        let least = (last * (k - 1) + k - 1) / k;
        ticks.push(last - (last - least) * i64::from(*fall) / 255);
    }
    Profile::table(ticks.into_iter().map(Time::from_ticks).collect()).unwrap()
}

fn falls() -> impl Strategy<Value = Vec<u8>> {
    // All or nothing as often as in between: steps and caps are what breaks constructions.
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
        let profiles: Vec<&Profile> = instance.jobs().iter().map(Job::profile).collect();
        prop_assert!(profiles.iter().all(|profile| profile.is_monotone()));
        let dual = dual::search(profiles.iter().copied(), processors);
        let shelved = two_shelves(&profiles, &dual.first_shelf, dual.guess, processors);
        prop_assert!(shelved.is_some(), "the shelves overflow at the guess {}", dual.guess.ticks());
        let placement = |shelved: Shelved| Placement {
            job: makespan_core::JobId(shelved.job as u32),
            task: 0,
            start: shelved.start,
            end: shelved.start + profiles[shelved.job].time(shelved.processors.len()),
            processors: shelved.processors,
        };
        let schedule = Schedule::new(shelved.unwrap().into_iter().map(placement).collect());
        prop_assert_eq!(validate(&instance, &schedule), Ok(()));
        prop_assert!(2 * schedule.makespan().ticks() <= 3 * dual.guess.ticks());
    }
}
