//! Refutation of deadlines by windows of time. Within a window that refutes a deadline, tasks must hold more of a
//! resource, or of the processors, than is available. The search finds the latest deadline that some window refutes.

use super::Holders;
use crate::Clock;

/// Maximum number of instants at which windows may begin, and maximum number of instants at which windows may end.
const INSTANTS: usize = 32;
/// Maximum number of pairs (run, window) that the search examines for one deadline. The more runs an instance has, the
/// fewer windows the search examines.
const LOOKED_AT: usize = 1 << 22;

/// Number of pairs (run, window) that the search examines even if the clock has expired. These pairs together take
/// about a millisecond.
const ALWAYS: usize = 1 << 16;

/// Maximum number of runs for which the bisection is exact.
const MANY: usize = 1 << 20;
/// If there are more than `MANY` runs, the relative precision of the bisection is 2^-`NEAR`.
const NEAR: u32 = 14;

/// A refuted deadline and its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RefutedDeadline {
    pub(super) deadline: i64,
    pub(super) from: i64,
    pub(super) until: i64,
}

/// Returns the latest refuted deadline, and the window that refutes it. Each window that the search tries begins at the
/// earliest start of some task. The time from the end of the window to the deadline is the tail of some task: the
/// length of the longest path after the task. Returns `None` if no window refutes a deadline at or after the end of the
/// longest path.
///
/// The search ignores unavailable periods. The check of the certificate includes these periods, so it may refute a
/// later deadline.
pub(super) fn latest(holders: &Holders, clock: &Clock) -> Option<RefutedDeadline> {
    let fastest = |runs: &std::ops::Range<usize>| holders.runs.get(runs.start).map_or(0, |way| way.time);
    let path = holders.rows.iter().map(|row| row.head.saturating_add(fastest(&row.runs)).saturating_add(row.tail));
    let mut best = (path.max()? - 1).max(0);
    let mut found = None;
    let count = (LOOKED_AT / holders.runs.len().max(1)).isqrt().clamp(2, INSTANTS);
    let begins = spread(holders.rows.iter().map(|row| row.head).collect(), count);
    let before_end = spread(holders.rows.iter().map(|row| row.tail).collect(), count);
    let windows = begins.iter().flat_map(|&from| before_end.iter().map(move |&before| (from, before)));
    // The first window is the longest one. This window proves the area bound.
    let always = (ALWAYS / holders.runs.len().max(1)).max(1);
    for (at, (from, before)) in windows.enumerate() {
        if at >= always && clock.is_over() {
            break;
        }
        let window = Window { holders, from, before };
        if let Some(deadline) = window.latest(best + 1) {
            best = deadline;
            found = Some(RefutedDeadline { deadline, from, until: deadline - before });
        }
    }
    found
}

struct Window<'a> {
    holders: &'a Holders,
    from: i64,
    /// The time from the end of the window to the deadline, in ticks.
    before: i64,
}

impl Window<'_> {
    /// Returns the latest deadline that the window refutes, or `None` if the window does not refute the deadline
    /// `first`. If there are very many runs, the result may be slightly too early.
    fn latest(&self, first: i64) -> Option<i64> {
        let mut over = self.over(first).filter(|&over| over > 0)?;
        let mut low = first;
        // A later deadline makes the window longer, but the tasks need no larger amount in the longer window. So the
        // capacity suffices if the deadline is later by `over / rate`.
        let mut high = low.saturating_add(i64::try_from(over / self.holders.rate.max(1)).unwrap_or(i64::MAX / 4) + 1);
        if high >= i64::MAX / 4 {
            return None;
        }
        let mut under = self.over(high)?.min(0);
        let near = if self.holders.runs.len() > MANY { low >> NEAR } else { 1 };
        let mut bisect = false;
        while low + 1 < high && high - low > near {
            // Alternate between bisection and linear interpolation.
            let share = if bisect { 0.5 } else { over as f64 / (over as f64 - under as f64) };
            let middle = (low + ((high - low) as f64 * share) as i64).clamp(low + 1, high - 1);
            bisect = !bisect;
            match self.over(middle) {
                Some(more) if more > 0 => (low, over) = (middle, more),
                less => (high, under) = (middle, less.unwrap_or(0)),
            }
        }
        Some(low)
    }

    /// Returns the amount that tasks must hold in the window minus the capacity of the window. The result is negative
    /// if the capacity suffices. Returns `None` if the window is empty. The deadline must not be before the end of the
    /// longest path.
    fn over(&self, deadline: i64) -> Option<i128> {
        let until = deadline - self.before;
        if until <= self.from {
            return None;
        }
        let there = self.holders.rate.saturating_mul(i128::from(until - self.from));
        let mut needed = 0_i128;
        for row in &self.holders.rows {
            let latest = deadline - row.tail;
            let mut least = i128::MAX;
            for way in &self.holders.runs[row.runs.clone()] {
                if row.head + way.time > latest {
                    break;
                }
                let (early, late) = (row.head + way.time - self.from, until - (latest - way.time));
                let within = way.time.min(until - self.from).min(early).min(late).max(0);
                least = least.min(i128::from(within) * i128::from(way.rate));
            }
            if least < i128::MAX {
                needed = needed.saturating_add(least.saturating_mul(i128::from(row.count)));
            }
        }
        Some(needed - there)
    }
}

/// Returns up to `count` of the values, including the smallest one. The returned values are spread evenly over the
/// sorted values.
fn spread(mut sorted: Vec<i64>, count: usize) -> Vec<i64> {
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() > count {
        sorted = (0..count).map(|at| sorted[at * sorted.len() / count]).collect();
    }
    sorted
}
