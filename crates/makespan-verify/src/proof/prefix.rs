//! Integrals of a price from zero to any instant.

use makespan_core::Time;

/// An instant, in ticks, and the integral of the price until this instant.
pub(super) type Event = (i64, i128);

/// The integrals of a piecewise constant price from zero to each instant at which the price changes.
#[derive(Clone, Debug)]
pub(super) struct PriceIntegral {
    instants: Vec<i64>,
    prices: Vec<i64>,
    /// For each instant, the integral of the price until this instant.
    integrals: Vec<i128>,
    /// The instants at which the price falls, each with the integral of the price until this instant.
    falls: Vec<Event>,
    /// The instants at which the price rises, each with the integral of the price until this instant.
    rises: Vec<Event>,
    places: Places,
}

/// An index that finds the position of an instant with one lookup and a few steps. The time from the first to the last
/// instant is divided into equal parts.
#[derive(Clone, Debug)]
struct Places {
    first: i64,
    /// Logarithm of the length of a part, to base 2.
    shift: u32,
    /// For each part, the number of instants before it. The last entry is the number of all instants.
    before: Vec<u32>,
}

/// Minimum number of parts. The actual number is at most twice this minimum. If the instants span fewer ticks than this
/// minimum, each tick is a part.
const PARTS: i64 = 1024;

impl Places {
    /// Creates the index of ascending instants that are not negative.
    fn new(instants: &[i64]) -> Self {
        let (first, last) = (instants.first().copied().unwrap_or(0), instants.last().copied().unwrap_or(0));
        let shift = ((last - first) / PARTS).checked_ilog2().unwrap_or(0);
        let parts = ((last - first) >> shift) + 1;
        let before = |part: i64| instants.partition_point(|&instant| (instant - first) >> shift < part) as u32;
        Self { first, shift, before: (0..=parts).map(before).collect() }
    }

    /// Returns the number of instants that are at most `instant`.
    fn cursor(&self, instants: &[i64], instant: i64) -> usize {
        if instant < self.first {
            return 0;
        }
        let part = ((instant - self.first) >> self.shift) as usize;
        let Some(&until) = self.before.get(part + 1) else { return instants.len() };
        let from = self.before[part] as usize;
        from + instants[from..until as usize].partition_point(|&other| other <= instant)
    }
}

impl PriceIntegral {
    /// Creates the integrals from ascending instants that are not negative, and from one price for each pair of
    /// consecutive instants. Returns `None` on overflow.
    pub(super) fn new(instants: &[Time], prices: &[i64]) -> Option<Self> {
        let instants: Vec<i64> = instants.iter().map(|instant| instant.ticks()).collect();
        let mut integrals = vec![0_i128];
        for (pair, &price) in instants.windows(2).zip(prices) {
            integrals.push(integrals.last()?.checked_add(i128::from(price) * i128::from(pair[1] - pair[0]))?);
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
        let places = Places::new(&instants);
        Some(Self { places, instants, prices: prices.to_vec(), integrals, falls, rises })
    }

    /// Returns the last instant.
    pub(super) fn last(&self) -> i64 {
        self.instants.last().copied().unwrap_or(0)
    }

    /// Returns the instants at which the price may change.
    pub(super) fn instants(&self) -> impl Iterator<Item = i128> {
        self.instants.iter().map(|&instant| instant.into())
    }

    /// Returns the integral of the price from zero to `instant`. The instant may be beyond the range of `i64`.
    pub(super) fn until(&self, instant: i128) -> i128 {
        // The price is zero after the last instant, so the integral does not change after the last instant.
        self.at(i64::try_from(instant).unwrap_or(i64::MAX))
    }

    /// Returns the integral of the price over all time.
    pub(super) fn total(&self) -> i128 {
        self.integrals.last().copied().unwrap_or(0)
    }

    pub(super) fn falls_after(&self, instant: i64) -> &[Event] {
        &self.falls[self.falls.partition_point(|fall| fall.0 <= instant)..]
    }

    pub(super) fn rises_after(&self, instant: i64) -> &[Event] {
        &self.rises[self.rises.partition_point(|rise| rise.0 <= instant)..]
    }

    /// Sets the prices of `low`, which is a copy of `self`, so that these prices never rise after `release`. Until
    /// `release`, the prices of `low` equal the prices of `self`. After `release`, each price of `low` is the minimum
    /// price of `self` since `release`.
    pub(super) fn lowered(&self, release: i64, low: &mut Self) {
        low.prices.clone_from(&self.prices);
        low.integrals.clone_from(&self.integrals);
        let after = self.cursor(release);
        // The price is zero before the first instant.
        let mut least = after.checked_sub(1).map_or(0, |index| self.prices.get(index).copied().unwrap_or(0));
        for index in after..low.prices.len() {
            least = least.min(low.prices[index]);
            low.prices[index] = least;
            let length = low.instants[index + 1] - low.instants[index];
            low.integrals[index + 1] = low.integrals[index] + i128::from(least) * i128::from(length);
        }
    }

    /// Returns the number of instants that are at most `instant`.
    fn cursor(&self, instant: i64) -> usize {
        self.places.cursor(&self.instants, instant)
    }

    /// Returns the integral of the price from zero to `instant`.
    pub(super) fn at(&self, instant: i64) -> i128 {
        let Some(index) = self.cursor(instant).checked_sub(1) else { return 0 };
        let price = self.prices.get(index).copied().unwrap_or(0);
        self.integrals[index] + i128::from(price) * i128::from(instant - self.instants[index])
    }

    /// Returns the integral of the price over `ticks` ticks from `start` on. `before` is the integral until `start`.
    pub(super) fn over(&self, (start, before): Event, ticks: i64) -> i128 {
        // The sum saturates only after the last instant, where the integral is constant.
        self.at(start.saturating_add(ticks)) - before
    }
}
