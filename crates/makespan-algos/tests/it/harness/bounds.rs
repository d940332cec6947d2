//! Tests of bounds, and of certificates that are modified: an accepted bound must be valid.

use makespan_bounds::{
    Grid, PriceOptions, PriceSearch, makespan, makespan_in_time, mean_flow, standard, weighted_completion,
    weighted_completion_on,
};
use makespan_core::{Instance, JobId, Objective, Time};
use makespan_verify::proof::{Alone, IntervalPrices, LastJob, Rejection, Selection, TimePrices};
use makespan_verify::{Bound, Proof};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use super::draft::drafts;
use super::optimum::{optimum, optimum_until};

/// Returns every bound that the project can find: the standard bounds, the bound on the mean flow, and the bound of the
/// paper's grid.
pub fn all(instance: &Instance) -> Vec<Bound> {
    let mut bounds = standard(instance).unwrap();
    bounds.push(mean_flow(instance));
    bounds.push(weighted_completion_on(instance, &Grid::doubling(instance)));
    bounds
}

/// An instance with its optima.
pub(super) struct Truth {
    pub(super) instance: Instance,
    optima: [i128; 5],
}

impl Truth {
    pub(super) fn of(instance: Instance) -> Self {
        let optima = Objective::OF_TIME.map(|objective| optimum(&instance, objective));
        Self { instance, optima }
    }

    pub(super) fn least(&self, objective: Objective) -> i128 {
        self.optima[Objective::OF_TIME.iter().position(|&other| other == objective).unwrap()]
    }

    /// For each objective of the proof, checks that the proved value is a valid bound, and that a bound one tick higher
    /// is refused.
    pub(super) fn check(&self, proof: &Proof) -> TestCaseResult {
        for &objective in proof.objectives().iter().filter(|objective| Objective::OF_TIME.contains(objective)) {
            self.check_of(objective, proof.clone())?;
        }
        Ok(())
    }

    fn check_of(&self, objective: Objective, proof: Proof) -> TestCaseResult {
        let Ok(bound) = Bound::proved_by(objective, proof, &self.instance) else { return Ok(()) };
        let least = self.least(bound.objective);
        prop_assert!(bound.value.integer() <= least, "{:?} is above the optimum {}", bound, least);
        prop_assert_eq!(bound.verify(&self.instance), Ok(()));
        let greedy = Bound { value: (bound.value.integer() + 1).into(), ..bound.clone() };
        prop_assert!(greedy.verify(&self.instance).is_err(), "a tick too much is accepted: {:?}", greedy);
        // Every certificate also holds under any condition.
        let conditional = Bound { makespan_at_most: Some(Time::from_ticks(1)), ..bound.clone() };
        prop_assert_eq!(conditional.verify(&self.instance), Ok(()));
        let silent = |objective: &Objective| !bound.proof.objectives().contains(objective);
        for objective in Objective::OF_SCHEDULES.into_iter().filter(silent) {
            let other = Bound { objective, ..bound.clone() };
            prop_assert!(other.verify(&self.instance).is_err(), "accepted for another objective: {:?}", other);
        }
        Ok(())
    }
}

/// Checks that a bound under a condition is at most the least value under the condition, and proves nothing about other
/// schedules.
fn check_conditional(instance: &Instance, bound: &Bound, least: Option<i128>) -> TestCaseResult {
    prop_assert_eq!(bound.verify(instance), Ok(()));
    prop_assert!(least.is_none_or(|least| bound.value.integer() <= least), "{:?} is above {:?}", bound, least);
    let cap = bound.makespan_at_most.unwrap();
    for other in [None, Some(cap + Time::TICK), Some(Time::MAX)] {
        let more = Bound { makespan_at_most: other, ..bound.clone() };
        prop_assert!(more.verify(instance).is_err(), "accepted of more schedules: {:?}", more);
    }
    for other in [cap - Time::TICK, Time::ZERO] {
        let fewer = Bound { makespan_at_most: Some(other), ..bound.clone() };
        prop_assert_eq!(fewer.verify(instance), Ok(()));
    }
    let greedy = Bound { value: (bound.value.integer() + 1).into(), ..bound.clone() };
    prop_assert!(greedy.verify(instance).is_err(), "a tick too much is accepted: {:?}", greedy);
    Ok(())
}

/// A wrong number, close to the correct one or far from it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Twist {
    Add(i64),
    Times(i64, i64),
    Become(i64),
}

impl Twist {
    pub(super) fn of(self, figure: i64) -> i64 {
        match self {
            Self::Add(more) => figure.saturating_add(more),
            Self::Times(over, under) => {
                i64::try_from(i128::from(figure) * i128::from(over) / i128::from(under)).unwrap_or(i64::MAX)
            }
            Self::Become(other) => other,
        }
    }

    pub(super) fn time(self, time: Time) -> Time {
        Time::from_ticks(self.of(time.ticks()))
    }
}

pub(super) fn twist() -> impl Strategy<Value = Twist> {
    let far = prop_oneof![Just(0), Just(-1), Just(i64::MAX), Just(i64::MIN), any::<i64>(), 0_i64..100];
    prop_oneof![
        3 => Just(Twist::Add(0)),
        3 => (-3_i64..=3).prop_map(Twist::Add),
        3 => (0_i64..8, 1_i64..6).prop_map(|(over, under)| Twist::Times(over, under)),
        1 => far.prop_map(Twist::Become),
    ]
}

fn rejections(instance: &Instance) -> Vec<Rejection> {
    let bound = makespan(instance);
    let found = match bound.proof {
        Proof::Rejection(rejection) => Some(rejection),
        _ => None,
    };
    // The bound may be proved by a single job, without a rejection. So another rejection is added, which refutes
    // nothing until it is modified.
    let deadline = Time::from_ticks(i64::try_from(bound.value.integer()).unwrap());
    let at = Time::from_ticks(deadline.ticks() / 2);
    let made = Rejection { deadline, from: Time::ZERO, at, selection: Selection::Knapsack };
    found.into_iter().chain([made]).collect()
}

fn interval_prices(instance: &Instance) -> Vec<IntervalPrices> {
    let found = [Grid::doubling(instance), Grid::fine(instance)].map(|grid| weighted_completion_on(instance, &grid));
    let prices = found.into_iter().filter_map(|bound| match bound.proof {
        Proof::IntervalPrices(prices) => Some(prices),
        _ => None,
    });
    prices.collect()
}

/// Returns the time prices that the search finds. Also converts interval prices to time prices, which then decrease
/// over time.
fn time_prices(instance: &Instance) -> Vec<TimePrices> {
    let found = match weighted_completion(instance).proof {
        Proof::TimePrices(mut prices) => {
            // With unavailable periods, an empty list of prices may be best. A price of zero proves the same bound and
            // can be modified.
            if prices.prices.is_empty() {
                let length = instance.profile_of(JobId(0)).shortest();
                prices.instants.push(prices.instants[0] + length);
                prices.prices.push(0);
            }
            Some(prices)
        }
        _ => None,
    };
    let made = interval_prices(instance).into_iter().map(|intervals| {
        let mut prices = intervals.prices;
        for index in (1..prices.len()).rev() {
            prices[index - 1] = prices[index - 1].saturating_add(prices[index]);
        }
        let origin = if intervals.ends[0] > instance.first_release() { instance.first_release() } else { Time::ZERO };
        let instants = [origin].into_iter().chain(intervals.ends).collect();
        TimePrices { instants, prices, scale: intervals.scale, horizon: None, widths: Vec::new() }
    });
    found.into_iter().chain(made).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::cases(250), ..ProptestConfig::default() })]

    #[test]
    fn a_bound_raised_by_a_tick_is_refused(draft in drafts()) {
        let truth = Truth::of(draft.instance(1));
        for bound in all(&truth.instance) {
            truth.check(&bound.proof)?;
        }
    }

    #[test]
    fn the_standard_bounds_are_the_best_of_each_kind(draft in drafts()) {
        let instance = draft.instance(1);
        let fine = weighted_completion_on(&instance, &Grid::fine(&instance));
        let standard = standard(&instance).unwrap();
        prop_assert_eq!(standard.len(), if instance.has_deadlines() { 4 } else { 2 });
        let shortest = makespan_in_time(&instance);
        let last = Proof::LastJob(LastJob { proof: Box::new(shortest.proof.clone()) });
        let last = Bound::proved_by(Objective::WeightedCompletion, last, &instance).unwrap();
        let priced = weighted_completion(&instance);
        let sum = if priced.value >= last.value { priced } else { last };
        prop_assert_eq!(&standard[..2], &[shortest, sum]);
        prop_assert!(standard[0].value >= makespan(&instance).value);
        prop_assert!(weighted_completion(&instance).value >= fine.value);
    }

    #[test]
    fn naming_another_job_proves_nothing_false(draft in drafts()) {
        let truth = Truth::of(draft.instance(1));
        for job in [0, 1, 2, 3, 4, 5, 6, 7, u32::MAX] {
            truth.check(&Proof::Alone(Alone { job: JobId(job) }))?;
        }
    }

    #[test]
    fn twisted_rejections_prove_nothing_false(
        draft in drafts(),
        twists in prop::collection::vec([twist(), twist(), twist(), twist()], 12),
        release in 0_usize..6,
    ) {
        let truth = Truth::of(draft.instance(1));
        for rejection in rejections(&truth.instance) {
            for &[deadline, from, at, price] in &twists {
                let deadline = deadline.time(rejection.deadline);
                let jobs = truth.instance.jobs();
                let base = if release % 2 == 0 { rejection.from } else { jobs[release % jobs.len()].release };
                let from = from.time(base);
                let at = at.time(rejection.at);
                let middle = Time::from_ticks(from.ticks() / 2 + deadline.ticks() / 2);
                let old = if let Selection::Price(price) = rejection.selection { price } else { draft.unit };
                for at in [at, middle] {
                    for selection in [Selection::Knapsack, Selection::Price(price.of(old))] {
                        truth.check(&Proof::Rejection(Rejection { deadline, from, at, selection }))?;
                    }
                }
            }
        }
    }

    #[test]
    fn twisted_prices_prove_nothing_false(
        draft in drafts(),
        twists in prop::collection::vec((any::<prop::sample::Index>(), twist(), twist()), 1..8),
        scale in prop_oneof![2 => Just(None), 2 => (0_u32..70).prop_map(Some), 1 => any::<u32>().prop_map(Some)],
    ) {
        let truth = Truth::of(draft.instance(1));
        for mut prices in interval_prices(&truth.instance) {
            for (index, end, price) in &twists {
                let at = index.index(prices.ends.len());
                prices.ends[at] = end.time(prices.ends[at]);
                prices.prices[at] = price.of(prices.prices[at]);
                // Other tests check the order. Here, the ends of the prices are sorted, so that most of the modified
                // lists of prices are well formed.
                prices.ends.sort_unstable();
                prices.scale = scale.unwrap_or(prices.scale);
                truth.check(&Proof::IntervalPrices(prices.clone()))?;
                let keep = IntervalPrices { scale: scale.unwrap_or(0).min(40), ..prices.clone() };
                truth.check(&Proof::IntervalPrices(keep))?;
            }
            prices.prices.pop();
            truth.check(&Proof::IntervalPrices(prices))?;
        }
    }

    #[test]
    fn twisted_prices_in_time_prove_nothing_false(
        draft in drafts(),
        twists in prop::collection::vec((any::<prop::sample::Index>(), twist(), twist()), 1..8),
        scale in prop_oneof![2 => Just(None), 2 => (0_u32..70).prop_map(Some), 1 => any::<u32>().prop_map(Some)],
    ) {
        let truth = Truth::of(draft.instance(1));
        for mut prices in time_prices(&truth.instance) {
            truth.check(&Proof::TimePrices(prices.clone()))?;
            for (index, instant, price) in &twists {
                let at = index.index(prices.prices.len());
                prices.instants[at] = instant.time(prices.instants[at]);
                prices.prices[at] = price.of(prices.prices[at]);
                prices.instants.sort_unstable();
                prices.scale = scale.unwrap_or(prices.scale);
                truth.check(&Proof::TimePrices(prices.clone()))?;
                let keep = TimePrices { scale: scale.unwrap_or(0).min(40), ..prices.clone() };
                truth.check(&Proof::TimePrices(keep))?;
            }
            prices.prices.pop();
            truth.check(&Proof::TimePrices(prices))?;
        }
    }

    #[test]
    fn any_prices_in_time_prove_nothing_false(
        draft in drafts(),
        steps in prop::collection::vec((1_i64..8, prop_oneof![Just(0), 0_i64..40]), 1..9),
        first in 0_i64..4,
        unit in 0_i64..400_000,
    ) {
        let truth = Truth::of(draft.instance(1));
        let mut instants = vec![Time::from_ticks(first * draft.unit)];
        for (length, _) in &steps {
            let last = instants[instants.len() - 1];
            instants.push(last + Time::from_ticks(length * draft.unit));
        }
        let prices = steps.iter().map(|&(_, price)| price * unit).collect();
        truth.check(&Proof::TimePrices(TimePrices { instants, prices, scale: 0, horizon: None, widths: Vec::new() }))?;
    }

    /// Checks the price of each objective by itself, and under a cap on the makespan. A bound under a condition holds
    /// for the schedules that meet the condition, and is not accepted as a bound on more schedules.
    #[test]
    fn bounds_under_a_cap_hold_for_schedules_that_keep_it(draft in drafts(), over in 0_i64..5, steps in 0_usize..40) {
        let instance = draft.instance(1);
        let least = i64::try_from(optimum(&instance, Objective::Makespan)).unwrap();
        let caps = [least - 1, least, least + least * over / 4, least * 3];
        for (cap, objective) in caps.into_iter().flat_map(|cap| Objective::OF_TIME.map(|objective| (cap, objective))) {
            let makespan_at_most = Some(Time::from_ticks(cap));
            let best = optimum_until(&instance, objective, Time::from_ticks(cap));
            prop_assert_eq!(best.is_some(), cap >= least);
            let options = PriceOptions { objective, makespan_at_most };
            let Some(mut search) = PriceSearch::new(&instance, options) else {
                let priced = [Objective::WeightedCompletion, Objective::MeanFlow].contains(&objective);
                prop_assert!(cap < least || !priced);
                continue;
            };
            search.improve(steps);
            if objective == Objective::Makespan {
                // If the cap is refuted, no schedule keeps the cap.
                if let Some(bound) = search.bound(&instance) {
                    prop_assert_eq!((bound.makespan_at_most, bound.value.integer()), (None, i128::from(cap) + 1));
                    prop_assert!(cap < least);
                    prop_assert_eq!(bound.verify(&instance), Ok(()));
                }
                continue;
            }
            let Some(bound) = search.bound(&instance) else {
                // If no schedule meets the condition, the prices may increase until they exceed 128 bits.
                prop_assert!(cap < least);
                continue;
            };
            prop_assert_eq!(bound.makespan_at_most, makespan_at_most);
            check_conditional(&instance, &bound, best)?;
        }
    }

    #[test]
    fn any_prices_with_a_horizon_prove_nothing_false(
        draft in drafts(),
        steps in prop::collection::vec((1_i64..8, prop_oneof![Just(0), 0_i64..40]), 1..9),
        first in 0_i64..4,
        unit in 0_i64..400_000,
        over in -2_i64..12,
    ) {
        let instance = draft.instance(1);
        let least = i64::try_from(optimum(&instance, Objective::Makespan)).unwrap();
        let horizon = Time::from_ticks(least + over * draft.unit);
        let mut instants = vec![Time::from_ticks(first * draft.unit)];
        for (length, _) in &steps {
            let last = instants[instants.len() - 1];
            instants.push(last + Time::from_ticks(length * draft.unit));
        }
        let prices: Vec<i64> = steps.iter().map(|&(_, price)| price * unit).collect();
        let prices = TimePrices { instants, prices, scale: 0, horizon: Some(horizon), widths: Vec::new() };
        for objective in [Objective::WeightedCompletion, Objective::MeanFlow] {
            let Ok(bound) = Bound::proved_by(objective, Proof::TimePrices(prices.clone()), &instance) else {
                prop_assert!(over < 0);
                continue;
            };
            check_conditional(&instance, &bound, optimum_until(&instance, bound.objective, horizon))?;
        }
    }
}
