//! The latest deadline that a window refutes, by what must be held within it.

use super::Holders;

/// Beginnings of windows, and as many ends, where there are few tasks.
const INSTANTS: usize = 32;
/// Ways to run tasks that are looked at for one deadline in all windows, for more tasks with fewer windows.
const LOOKED_AT: usize = 1 << 22;

/// A refuted deadline and its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) deadline: i64,
    pub(super) from: i64,
    pub(super) until: i64,
}

/// A window that refutes a deadline beyond the longest path, the latest of all that are tried: each begins at the earliest start of some
/// task, and ends as long before the deadline as some task must. Closed periods are left to the certificate, which proves more with
/// them. `None` where no window does.
pub(super) fn latest(holders: &Holders) -> Option<Found> {
    let fastest = |runs: &std::ops::Range<usize>| holders.runs.get(runs.start).map_or(0, |way| way.time);
    let path = holders.rows.iter().map(|row| row.head.saturating_add(fastest(&row.runs)).saturating_add(row.tail));
    let mut best = (path.max()? - 1).max(0);
    let mut found = None;
    let count = (LOOKED_AT / holders.runs.len().max(1)).isqrt().clamp(2, INSTANTS);
    let begins = spread(holders.rows.iter().map(|row| row.head).collect(), count);
    let before_end = spread(holders.rows.iter().map(|row| row.tail).collect(), count);
    for &from in &begins {
        for &before in &before_end {
            let window = Window { holders, from, before };
            let Some(over) = window.over(best + 1) else { continue };
            let mut low = best + 1;
            // Later deadlines need no more, and so much later there is enough.
            let mut high = low.saturating_add(i64::try_from(over / holders.rate.max(1)).unwrap_or(i64::MAX / 4) + 1);
            if high >= i64::MAX / 4 {
                continue;
            }
            while low + 1 < high {
                let middle = low + (high - low) / 2;
                if window.over(middle).is_some() { low = middle } else { high = middle }
            }
            best = low;
            found = Some(Found { deadline: low, from, until: low - before });
        }
    }
    found
}

struct Window<'a> {
    holders: &'a Holders,
    from: i64,
    /// How long before the deadline it ends.
    before: i64,
}

impl Window<'_> {
    /// By how much what must be held is more than what there is, if it is; of a deadline that the longest path keeps.
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
        (needed > there).then(|| needed - there)
    }
}

/// At most so many of these values, spread evenly over their order, the least among them.
fn spread(mut sorted: Vec<i64>, count: usize) -> Vec<i64> {
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() > count {
        sorted = (0..count).map(|at| sorted[at * sorted.len() / count]).collect();
    }
    sorted
}
