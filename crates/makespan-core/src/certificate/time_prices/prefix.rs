//! The integral of the price from zero to any instant.

use crate::Time;

/// Prefix integrals of a piecewise constant function, and the instants at which it changes.
pub(super) struct Prefix {
    instants: Vec<i128>,
    prices: Vec<i128>,
    /// At each instant.
    integrals: Vec<i128>,
    /// Instants at which the price falls, with the integral there.
    falls: Vec<(i128, i128)>,
    /// Instants at which the price rises, with the integral there.
    rises: Vec<(i128, i128)>,
}

impl Prefix {
    /// From ascending instants and one price fewer; `None` on overflow.
    pub(super) fn new(instants: &[Time], prices: &[i64]) -> Option<Self> {
        let instants: Vec<i128> = instants.iter().map(|instant| i128::from(instant.ticks())).collect();
        let prices: Vec<i128> = prices.iter().map(|&price| i128::from(price)).collect();
        let mut integrals = vec![0_i128];
        for (pair, price) in instants.windows(2).zip(&prices) {
            integrals.push(integrals.last()?.checked_add(price.checked_mul(pair[1] - pair[0])?)?);
        }
        let (mut falls, mut rises, mut before) = (Vec::new(), Vec::new(), 0);
        for (index, (&instant, &integral)) in instants.iter().zip(&integrals).enumerate() {
            let after = prices.get(index).copied().unwrap_or(0);
            if after < before {
                falls.push((instant, integral));
            }
            if after > before {
                rises.push((instant, integral));
            }
            before = after;
        }
        Some(Self { instants, prices, integrals, falls, rises })
    }

    /// The last instant.
    pub(super) fn last(&self) -> i128 {
        self.instants.last().copied().unwrap_or(0)
    }

    /// The integral over all time.
    pub(super) fn total(&self) -> i128 {
        self.integrals.last().copied().unwrap_or(0)
    }

    pub(super) fn falls_after(&self, instant: i128) -> &[(i128, i128)] {
        &self.falls[self.falls.partition_point(|fall| fall.0 <= instant)..]
    }

    pub(super) fn rises_after(&self, instant: i128) -> &[(i128, i128)] {
        &self.rises[self.rises.partition_point(|rise| rise.0 <= instant)..]
    }

    pub(super) fn never_rises_after(&self, release: Time) -> bool {
        self.rises_after(i128::from(release.ticks())).is_empty()
    }

    /// Where to look for an instant: how many instants are at most it.
    pub(super) fn cursor(&self, instant: i128) -> usize {
        self.instants.partition_point(|&other| other <= instant)
    }

    /// The integral until `instant`, which is not before the cursor's place; moves the cursor there.
    pub(super) fn advance(&self, cursor: &mut usize, instant: i128) -> i128 {
        while self.instants.get(*cursor).is_some_and(|&next| next <= instant) {
            *cursor += 1;
        }
        let Some(index) = cursor.checked_sub(1) else { return 0 };
        let price = self.prices.get(index).copied().unwrap_or(0);
        self.integrals[index] + price * (instant - self.instants[index])
    }

    /// The integral until `instant`.
    pub(super) fn at(&self, instant: i128) -> i128 {
        self.advance(&mut self.cursor(instant), instant)
    }
}
