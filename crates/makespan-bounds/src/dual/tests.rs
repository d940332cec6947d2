use makespan_core::{Instance, Job, Platform};
use proptest::prelude::*;

use super::*;

fn instance(processors: u32, tables: &[Vec<i64>]) -> Instance {
    let job = |(index, ticks): (usize, &Vec<i64>)| {
        Job::new(index.to_string(), Profile::table(ticks.iter().map(|&t| Time::from_ticks(t)).collect()).unwrap())
    };
    Instance::new(Platform::flat(processors).unwrap(), tables.iter().enumerate().map(job).collect(), vec![]).unwrap()
}

/// Whether the best choice under `deadline` has at most the area, by trying all choices.
fn acceptable(instance: &Instance, deadline: i64) -> bool {
    let m = instance.processors();
    let profiles: Vec<&Profile> = instance.jobs().iter().map(Job::profile).collect();
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
        let dual = search(instance.jobs().iter().map(Job::profile), processors);
        let guess = (1..).find(|&deadline| acceptable(&instance, deadline)).unwrap();
        prop_assert_eq!(dual.guess.ticks(), guess);
        match dual.rejection {
            Some(rejection) => {
                prop_assert_eq!(rejection.deadline.ticks(), guess - 1);
                prop_assert_eq!(rejection.proves(&instance), Ok(i128::from(guess)));
            }
            None => prop_assert_eq!(guess, 1),
        }
    }
}
