//! Tests of the searches for instances in which each resource is one pool.

use makespan_core::{Instance, Objective, Stop, Time, validate};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::modes::Repair;
use super::*;
use crate::kernel::cumulative::tests::draft;

/// Returns the value of a schedule in the unit of the search. Weights are in millionths, and sums replace means.
fn value(objective: Objective, instance: &Instance, schedule: &Schedule) -> f64 {
    let mut ends = vec![0; instance.jobs().len()];
    for placement in schedule.placements() {
        let end = &mut ends[instance.job_id(placement.task).index()];
        *end = placement.end.ticks().max(*end);
    }
    super::super::search::of_ends(objective, instance, &ends, schedule.makespan().ticks())
}

proptest! {
    /// Checks that justification makes no list worse under any objective. Checks that the stated value of the
    /// resulting list is correct.
    #[test]
    fn no_list_becomes_worse(
        draft in draft(), seed in 0_u64..1000, limit in proptest::option::weighted(0.3, 1_i64..40),
    ) {
        let Some(instance) = draft.instance(1) else { return Ok(()) };
        let Ok(packing) = Packing::new(&instance) else { return Ok(()) };
        let Some(problem) = problem(&packing) else { return Ok(()) };
        let Some(pools) = Pools::new(&packing, &problem) else { return Ok(()) };
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for objective in Objective::OF_TIME {
            let aim = SearchAim { objective, limit, floor: f64::NEG_INFINITY };
            let mut decoder = Decoder::new(&problem, aim);
            let (order, modes) = pools.starts.random(&problem, seed % 2 == 0, &mut Repair::new(&problem), &mut random);
            let mut solution = ModeSolution { order, modes, value: 0.0 };
            let before = decoder.value_by(Scheme::Serial, &solution);
            decoder.improve(&mut solution, i64::MAX);
            prop_assert!(solution.value <= before, "{:?}", objective);
            prop_assert!(decoder.value_by(Scheme::Serial, &solution) <= solution.value);
            let schedule = pools.schedule(&solution);
            prop_assert_eq!(validate(&instance, &schedule), Ok(()));
            if limit.is_none_or(|limit| schedule.makespan() <= Time::from_ticks(limit)) {
                prop_assert!(value(objective, &instance, &schedule) <= solution.value, "{:?}", objective);
            }
        }
    }

    /// Checks that a search ends at a value that is not higher than the value of any initial solution. Checks that the
    /// result depends on the number of steps and not on the clock.
    #[test]
    fn searches_keep_what_is_known(draft in draft(), seed in 0_u64..1000) {
        let Some(instance) = draft.instance(1) else { return Ok(()) };
        let Ok(packing) = Packing::new(&instance) else { return Ok(()) };
        let Some(problem) = problem(&packing) else { return Ok(()) };
        let Some(pools) = Pools::new(&packing, &problem) else { return Ok(()) };
        for objective in Objective::OF_TIME {
            let aim = SearchAim { objective, limit: None, floor: f64::NEG_INFINITY };
            let find = |known: &[ModeSolution], steps| {
                let course = &mut SearchCourse::of(steps, &Stop::default());
                pools.search(aim, known, ChaCha8Rng::seed_from_u64(seed), course).unwrap()
            };
            let (first, known) = find(&[], 40);
            prop_assert_eq!(first.to_bits(), find(&[], 40).0.to_bits());
            let again = find(std::slice::from_ref(&known), 1).0;
            prop_assert!(again <= first, "{:?}", objective);
        }
    }
}
