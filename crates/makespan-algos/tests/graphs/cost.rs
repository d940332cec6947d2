//! The cost of graphs under a horizon: what is proved is true, whoever made the prices.

use makespan_core::certificate::CostPrices;
use makespan_core::{Bound, Certificate, Instance, Time};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use super::draft::drafts;
use super::optimum::costs;

/// The least cost of what ends by an instant.
fn least(front: &[(Time, i128)], horizon: Time) -> Option<i128> {
    front.iter().rev().find(|(end, _)| *end <= horizon).map(|&(_, cost)| cost)
}

fn check(instance: &Instance, front: &[(Time, i128)], certificate: CostPrices) -> TestCaseResult {
    let horizon = certificate.horizon.unwrap();
    let Ok(bound) = Bound::proved_by(Certificate::CostPrices(certificate), instance) else {
        return Ok(());
    };
    let least = least(front, horizon);
    prop_assert!(least.is_none_or(|least| bound.value <= least), "{:?} is above {:?}", bound, least);
    prop_assert_eq!(bound.verify(instance), Ok(()));
    let higher = Bound { value: bound.value + 1, ..bound.clone() };
    prop_assert!(higher.verify(instance).is_err());
    for makespan_at_most in [None, Some(horizon + Time::TICK)] {
        let other = Bound { makespan_at_most, ..bound.clone() };
        prop_assert!(other.verify(instance).is_err());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn bounds_under_a_horizon_are_true(draft in drafts()) {
        let instance = draft.instance(1);
        let front = costs(&instance);
        let horizons = front.iter().flat_map(|&(end, _)| [end - Time::TICK, end, end + Time::from_ticks(3)]);
        for horizon in horizons {
            let bound = makespan_bounds::cost::within(&instance, horizon, 60);
            prop_assert!(bound.is_some() || least(&front, horizon).is_none());
            let Some(Bound { certificate: Certificate::CostPrices(prices), .. }) = bound else { continue };
            prop_assert_eq!(prices.horizon, Some(horizon));
            check(&instance, &front, prices)?;
        }
    }

    #[test]
    fn no_prices_prove_too_much(
        draft in drafts(),
        which in any::<prop::sample::Index>(),
        instants in prop::collection::btree_set(0_i64..80, 1..5),
        drawn in prop::collection::vec(prop_oneof![Just(0_i64), 0_i64..900], 24),
        more in 0_i64..5,
    ) {
        let instance = draft.instance(1);
        let front = costs(&instance);
        let horizon = front[which.index(front.len())].0 + Time::from_ticks(more);
        let graphs = instance.jobs().iter().filter_map(|job| job.graph.as_ref());
        let edges = graphs.map(|graph| graph.edges().len()).sum::<usize>();
        let instants: Vec<Time> = instants.into_iter().map(Time::from_ticks).collect();
        let mut drawn = drawn.into_iter().cycle();
        let mut take = |count: usize| -> Vec<i64> { drawn.by_ref().take(count).collect() };
        let prices = (0..instance.platform().nodes().len()).map(|_| take(instants.len() - 1)).collect();
        check(&instance, &front, CostPrices { horizon: Some(horizon), instants, prices, edges: take(edges), scale: 2 })?;
    }
}
