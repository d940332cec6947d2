//! The minimum cost of a job or bag under prices of functions of the width.

use std::collections::BTreeMap;

use super::WidthPrices;
use super::closed::ClosedPeriods;
use super::run::PricedRun;
use makespan_core::{Profile, Time};

use crate::proof::choices::{self, Group};
use crate::proof::prefix::PriceIntegral;

/// The payments of a run for each number of processors.
pub(super) struct WidthPayments<'a> {
    instants: &'a [Time],
    prices: &'a [i64],
    widths: &'a [WidthPrices],
    closed: Option<ClosedPeriods>,
    horizon: i64,
    /// For each number of processors that was needed so far, the integrals of the payment per tick.
    prefixes: BTreeMap<u32, PriceIntegral>,
    groups: Vec<Group>,
}

impl<'a> WidthPayments<'a> {
    pub(super) fn new(
        instants: &'a [Time],
        prices: &'a [i64],
        widths: &'a [WidthPrices],
        closed: Option<ClosedPeriods>,
        horizon: Option<Time>,
    ) -> Self {
        let horizon = horizon.map_or(i64::MAX, Time::ticks);
        Self { instants, prices, widths, closed, horizon, prefixes: BTreeMap::new(), groups: Vec::new() }
    }

    /// Returns the minimum cost of a job with this weight, in the unit of the prices. Returns [`i128::MAX`] if the job
    /// cannot end by the horizon. Returns `None` if a value exceeds 128 bits, or if the payment of some allotment for
    /// one tick exceeds 64 bits.
    ///
    /// The payment of a group of allotments is the payment of its smallest allotment for the shortest time of the
    /// group. This payment is a lower bound for each allotment of the group, because functions of the width never fall.
    pub(super) fn cost(&mut self, profile: &Profile, release: Time, weight: i128) -> Option<i128> {
        let mut groups = std::mem::take(&mut self.groups);
        choices::groups(profile, &mut groups);
        let mut least = i128::MAX;
        for &Group { first, time, .. } in &groups {
            self.learn(first)?;
            let run = PricedRun { processors: first, release: release.ticks(), time, horizon: self.horizon };
            least = run.least(&self.prefixes[&first], self.closed.as_ref(), weight, least)?;
        }
        self.groups = groups;
        Some(least)
    }

    /// Returns the minimum cost of a bag of rigid tasks, of which at most `beside` can run at the same time. `weight`
    /// is the weight of the whole bag.
    pub(super) fn bag(
        &mut self,
        rigid: (u32, i64),
        release: Time,
        weight: i128,
        tasks: u64,
        beside: u64,
    ) -> Option<i128> {
        let (processors, time) = rigid;
        self.learn(processors)?;
        let run = PricedRun { processors, release: release.ticks(), time, horizon: self.horizon };
        run.least_of_bag(&self.prefixes[&processors], self.closed.as_ref(), weight, tasks, beside)
    }

    fn learn(&mut self, processors: u32) -> Option<()> {
        if !self.prefixes.contains_key(&processors) {
            let prefix = self.prefix(processors)?;
            self.prefixes.insert(processors, prefix);
        }
        Some(())
    }

    fn prefix(&self, processors: u32) -> Option<PriceIntegral> {
        let price = |(at, &price): (usize, &i64)| {
            let mut sum = i128::from(price) * i128::from(processors);
            for term in self.widths {
                let value = i128::from(term.widths.value(i64::from(processors)));
                sum = sum.checked_add(i128::from(term.prices[at]) * value)?;
            }
            i64::try_from(sum).ok()
        };
        let prices: Option<Vec<i64>> = self.prices.iter().enumerate().map(price).collect();
        PriceIntegral::new(self.instants, &prices?)
    }
}
