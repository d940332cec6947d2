use makespan_core::{Instance, Job, Objective, Platform};
use makespan_verify::Proof;
use makespan_verify::proof::time_grid;
use proptest::prelude::*;

use super::*;

fn instance(processors: u32, tables: &[Vec<i64>]) -> Instance {
    let job = |(index, ticks): (usize, &Vec<i64>)| {
        Job::new(index.to_string(), Profile::table(ticks.iter().map(|&t| Time::from_ticks(t)).collect()).unwrap())
    };
    Instance::new(Platform::flat(processors).unwrap(), tables.iter().enumerate().map(job).collect(), vec![]).unwrap()
}

/// Returns true if the total work of some choice of crossing jobs fits into the area before `deadline`. Tries all
/// choices.
fn acceptable(instance: &Instance, deadline: i64) -> bool {
    let m = instance.processors();
    let profiles: Vec<&Profile> = instance.simple_jobs().map(|job| job.profile()).collect();
    (0_u32..1 << profiles.len()).any(|mask| {
        let mut width = 0;
        let mut work = 0;
        for (index, profile) in profiles.iter().enumerate() {
            let crosses = mask >> index & 1 == 1;
            let limit = Time::from_ticks(if crosses { deadline } else { deadline / 2 });
            let (Some(least), Some(fewest)) = (profile.least_work(limit), profile.min_allotment(limit)) else {
                return false;
            };
            work += least;
            width += if crosses { fewest } else { 0 };
        }
        width <= m && work <= Area::from(m) * Area::from(deadline)
    })
}

proptest! {
    #[test]
    fn the_guess_is_the_smallest_acceptable_deadline(
        processors in 1_u32..6,
        tables in proptest::collection::vec(proptest::collection::vec(1_i64..30, 1..6), 1..7),
    ) {
        let instance = instance(processors, &tables);
        let dual = search(instance.simple_jobs().map(|job| job.profile()), processors);
        let guess = (1..).find(|&deadline| acceptable(&instance, deadline)).unwrap();
        prop_assert_eq!(dual.guess.ticks(), guess);
        match dual.rejection {
            Some(rejection) => {
                prop_assert_eq!(rejection.deadline.ticks(), guess - 1);
                let proof = Proof::Rejection(rejection);
                let step = i128::from(time_grid(&instance));
                let least = (i128::from(guess) + step - 1).div_euclid(step) * step;
                prop_assert_eq!(proof.proves(Objective::Makespan, &instance), Ok(least.into()));
            }
            None => prop_assert_eq!(guess, 1),
        }
    }
}

/// Checks an instance for which the knapsack is too large, so that some deadlines remain undecided.
#[test]
fn a_coarse_guess_is_below_twice_what_is_not_refuted() {
    use makespan_core::SpeedupLaw;
    let mut coarse = 0;
    for case in 0..100_u64 {
        let processors = 1 << 23;
        // A few bits of a linear congruential generator are random enough for this test.
        let mut state = case;
        let mut next = |range: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % range
        };
        // One job holds half of the processors for a little more than half of the time, so not all other jobs can
        // cross.
        let mut profiles = vec![Profile::rigid(processors / 2, Time::from_ticks(560_000)).unwrap()];
        profiles.extend((0..24).map(|_| {
            let ticks = Time::from_ticks((15 + next(30)) as i64 * 1000 * i64::from(processors));
            let law = SpeedupLaw::Amdahl { serial: (10 + next(40)) as f64 * 1e-8 };
            Profile::law(ticks, law, 1, processors).unwrap()
        }));
        assert!(!is_exact(profiles.len(), processors));
        let dual = search(profiles.iter(), processors);
        let refuted = dual.rejection.map_or(0, |rejection| rejection.deadline.ticks());
        assert!(dual.guess.ticks() <= 2 * (refuted + 2), "{:?} {refuted}", dual.guess);
        coarse += usize::from(dual.guess.ticks() > refuted + 1);
    }
    assert!(coarse > 0, "no deadline remained undecided");
}
