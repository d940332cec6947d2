//! Prices that are constant within intervals, and the cost of a task as a function of its start.

use crate::complete::model::Model;

/// The number of points in a block. For each block, the least cost of its points is stored.
const BLOCK: usize = 32;
/// The cost of an impossible start. It is larger than the cost of every possible start.
pub(super) const NEVER: i64 = i64::MAX / 4;
/// Up to this horizon, in units of time, each unit of time has its own price.
const MAX_INSTANTS: i64 = 4000;
/// The approximate number of intervals if the horizon is longer than `MAX_INSTANTS`. Prices are constant within each
/// interval.
const FEW_INTERVALS: i64 = 250;

/// The intervals in which prices are constant. All intervals have the same length, except that the last may be
/// shorter.
#[derive(Clone, Copy, Debug)]
pub(in crate::complete) struct Intervals {
    pub(super) length: i64,
    end: i64,
}

impl Intervals {
    /// Returns intervals of one unit of time if the horizon is at most `MAX_INSTANTS`, and about `FEW_INTERVALS`
    /// intervals otherwise.
    pub(in crate::complete) fn new(model: &Model) -> Self {
        let end = model.last_end().max(0);
        let length = if end <= MAX_INSTANTS { 1 } else { (end / FEW_INTERVALS).max(1) };
        Self { length, end }
    }

    pub(super) fn count(self) -> usize {
        (self.end / self.length + i64::from(self.end % self.length > 0)) as usize
    }

    /// Returns the index of the interval that contains an instant. For the end of the last interval, the result may be
    /// the number of intervals.
    pub(super) fn of(self, instant: i64) -> usize {
        if self.length == 1 { instant as usize } else { (instant / self.length) as usize }
    }

    pub(super) fn bounds(self, interval: usize) -> (i64, i64) {
        let from = interval as i64 * self.length;
        (from, (from + self.length).min(self.end))
    }

    /// Consider the cost of a run of length `time` as a function of its start. Up to `free_until`, its end costs
    /// nothing. Returns, in ascending order, `from`, `until`, and all starts between them at which the slope of this
    /// function can change. The result is empty if `from` is after `until`.
    pub(super) fn starts(self, (from, until): (i64, i64), time: i64, free_until: i64) -> Vec<i64> {
        if from > until {
            return Vec::new();
        }
        if self.length == 1 {
            return (from..=until).collect();
        }
        let inner = |shift: i64| {
            let changes = (from + shift).div_euclid(self.length)..=(until + shift).div_euclid(self.length) + 1;
            changes.map(move |change| (change * self.length).min(self.end) - shift)
        };
        let all = inner(0).chain(inner(time)).chain([free_until - time]);
        let mut starts: Vec<i64> = all.filter(|start| (from..=until).contains(start)).collect();
        starts.extend([from, until]);
        starts.sort_unstable();
        starts.dedup();
        starts
    }
}

/// The prices of one supply, with their sums.
pub(super) struct PriceLine<'a> {
    intervals: Intervals,
    prices: &'a [i64],
    /// For each interval, the sum of the prices of all instants before the interval.
    before: Vec<i64>,
}

impl<'a> PriceLine<'a> {
    pub(super) fn new(intervals: Intervals, prices: &'a [i64]) -> Self {
        let mut before = vec![0];
        for (number, price) in prices.iter().enumerate() {
            let (from, until) = intervals.bounds(number);
            before.push(before[number] + price * (until - from));
        }
        Self { intervals, prices, before }
    }

    /// Returns the sum of the prices of all instants before `instant`.
    pub(super) fn until(&self, instant: i64) -> i64 {
        let number = self.intervals.of(instant);
        let Some(price) = self.prices.get(number) else { return self.before[self.prices.len()] };
        self.before[number] + price * (instant - number as i64 * self.intervals.length)
    }
}

/// The cost of a task in one mode as a function of its start. The function is linear between consecutive points.
pub(super) struct Costs {
    /// The first possible start.
    first: i64,
    /// The starts of all points. Empty if every possible start is a point.
    starts: Vec<i64>,
    values: Vec<i64>,
    /// The least cost in each block of consecutive points.
    of_blocks: Vec<i64>,
}

impl Costs {
    pub(super) fn new(starts: Vec<i64>, cost: impl Fn(i64) -> i64) -> Self {
        let values: Vec<i64> = starts.iter().map(|&start| cost(start)).collect();
        let of_blocks = values.chunks(BLOCK).map(|block| block.iter().copied().min().unwrap_or(NEVER)).collect();
        let first = starts.first().copied().unwrap_or(0);
        let is_dense = starts.last().is_none_or(|last| last - first + 1 == starts.len() as i64);
        Self { first, starts: if is_dense { Vec::new() } else { starts }, values, of_blocks }
    }

    /// Returns the first and the last possible start from `from` to `until`, or `None` if no start in this range is
    /// possible.
    fn clipped(&self, from: i64, until: i64) -> Option<(i64, i64)> {
        let last = self.starts.last().map_or(self.first + self.values.len() as i64 - 1, |&last| last);
        let (from, until) = (from.max(self.first), until.min(last));
        (from <= until).then_some((from, until))
    }

    /// Returns the number of points before `start`.
    fn before(&self, start: i64) -> usize {
        if self.starts.is_empty() {
            (start - self.first) as usize
        } else {
            self.starts.partition_point(|&point| point < start)
        }
    }

    /// Returns the cost of a start, which must be possible.
    fn at(&self, start: i64) -> i64 {
        let next = self.before(start);
        if self.starts.is_empty() || self.starts[next] == start {
            return self.values[next];
        }
        let (from, until) = (self.starts[next - 1], self.starts[next]);
        let (value, reached) = (self.values[next - 1], self.values[next]);
        value + (reached - value) / (until - from) * (start - from)
    }

    /// Returns the least cost of the starts from `from` to `until`, or [`NEVER`] if none of them is possible.
    pub(super) fn least(&self, from: i64, until: i64) -> i64 {
        let Some((from, until)) = self.clipped(from, until) else { return NEVER };
        let (first, end) = (self.before(from), self.before(until + 1));
        if self.starts.is_empty() {
            return self.least_of(first, end);
        }
        self.at(from).min(self.at(until)).min(self.least_of(first, end.min(self.values.len())))
    }

    /// Returns the least cost of the points with the indices `from..end`.
    fn least_of(&self, from: usize, end: usize) -> i64 {
        let least = |costs: &[i64]| costs.iter().copied().min().unwrap_or(NEVER);
        if from >= end {
            return NEVER;
        }
        let (first, last) = (from.div_ceil(BLOCK), end / BLOCK);
        if first >= last {
            return least(&self.values[from..end]);
        }
        let ends = least(&self.values[from..first * BLOCK]).min(least(&self.values[last * BLOCK..end]));
        ends.min(least(&self.of_blocks[first..last]))
    }

    /// Returns the first start from `from` to `until` that costs less than `limit`.
    pub(super) fn first_below(&self, from: i64, until: i64, limit: i64) -> Option<i64> {
        let (from, until) = self.clipped(from, until)?;
        if self.starts.is_empty() {
            return (from..=until).find(|&start| self.values[(start - self.first) as usize] < limit);
        }
        let (mut start, mut value) = (from, self.at(from));
        if value < limit {
            return Some(start);
        }
        for at in self.before(from + 1)..self.values.len() {
            let point = self.starts[at].min(until);
            let reached = self.at(point);
            if reached < limit {
                let fall = (value - reached) / (point - start);
                return Some(start + (value - limit) / fall + 1);
            }
            (start, value) = (point, reached);
            if start == until {
                break;
            }
        }
        None
    }

    /// Returns the last start from `from` to `until` that costs less than `limit`.
    pub(super) fn last_below(&self, from: i64, until: i64, limit: i64) -> Option<i64> {
        let (from, until) = self.clipped(from, until)?;
        if self.starts.is_empty() {
            return (from..=until).rev().find(|&start| self.values[(start - self.first) as usize] < limit);
        }
        let (mut start, mut value) = (until, self.at(until));
        if value < limit {
            return Some(start);
        }
        for at in (0..self.before(until)).rev() {
            let point = self.starts[at].max(from);
            let reached = self.at(point);
            if reached < limit {
                let fall = (value - reached) / (start - point);
                return Some(start - (value - limit) / fall - 1);
            }
            (start, value) = (point, reached);
            if start == from {
                break;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_between_points_are_those_of_all_starts() {
        let intervals = Intervals { length: 4, end: 22 };
        let prices = [3, 0, 7, 2, 9, 1];
        let line = PriceLine::new(intervals, &prices);
        let (time, head, latest) = (3, 2, 19);
        let cost = |start: i64| 5 * (start + time) + 2 * (line.until(start + time) - line.until(start));
        let starts = intervals.starts((head, latest), time, 0);
        assert!(starts.len() < 18, "{starts:?}");
        let costs = Costs::new(starts, cost);
        for from in 0..23 {
            for until in from..23 {
                let inside = || (from.max(head)..=until.min(latest)).map(|start| (start, cost(start)));
                let least = inside().map(|one| one.1).min().unwrap_or(NEVER);
                assert_eq!(costs.least(from, until), least, "{from} {until}");
                for limit in 0..150 {
                    let below = || inside().filter(|one| one.1 < limit).map(|one| one.0);
                    assert_eq!(costs.first_below(from, until, limit), below().next(), "{from} {until} {limit}");
                    assert_eq!(costs.last_below(from, until, limit), below().next_back(), "{from} {until} {limit}");
                }
            }
        }
        let sums: Vec<i64> = (0..=22).map(|at| line.until(at)).collect();
        assert_eq!(sums[..7], [0, 3, 6, 9, 12, 12, 12]);
        assert_eq!(sums[22], 3 * 4 + 7 * 4 + 2 * 4 + 9 * 4 + 2);
    }
}
