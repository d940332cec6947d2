//! The minimum cost of a job under prices, by branch and bound. The bound of [`super::TimePrices`] is a sum of these
//! costs.

use super::blocks::{Block, Blocks};
use super::closed::ClosedPeriods;
use makespan_core::{Profile, Time};

use crate::proof::choices::{self, Group};
use crate::proof::prefix::{Event, PriceIntegral};

/// A block with at most this number of choices per instant is split into two halves of its instants. A block with more
/// choices per instant is split into two halves of its choices. With the value 8, the check takes half as long as with
/// the value 1.
const MORE_STARTS: usize = 8;

/// Finds the minimum costs of jobs, one job after another. The memory of one job is reused for the next job.
///
/// The minimum is taken over cells. A cell is a choice with k processors and a start, or a choice and an end. The
/// starts are the release date, and the instants at which the price falls or processors open. The ends are the instants
/// at which the price rises or processors close. Cells are tried in blocks of successive choices and successive
/// instants from a to b. If a lower bound on the cost of a block is not below the minimum cost found so far, the search
/// skips the block. Otherwise, it halves the block. For the lower bound, let k be the smallest number of processors of
/// the block, and p its shortest time. These facts are true for all cells of the block. Unless stated otherwise, the
/// instants from a to b are starts.
///
/// * Each run ends at a + p or later.
/// * If prices never rise after the release date, each cell pays at least for k processors for a time q from its own
///   start ([`Blocks::hold`]). So it pays at least as much as a run on k processors from b to b + q.
/// * If prices rise, each price is at least the minimum price since the release date. This minimum never rises. So the
///   previous fact is true with this minimum instead of the price.
/// * In this case, each cell also pays at least for k processors from b to a + p, because each run starts by b and ends
///   at a + p or later. The lower bound uses the larger one of these two payments.
/// * If the instants from a to b are ends, each run ends at a or later and starts at b - p or earlier. So all runs
///   overlap from b - p to a.
/// * If fewer than k processors are open throughout the overlap of all runs, no run is possible.
///
/// So each skipped cell costs at least the minimum, and the result is correct. The search first tries the half of a
/// block that has the smaller bound.
pub(super) struct CostMinimiser<'a> {
    prefix: &'a PriceIntegral,
    closed: Option<ClosedPeriods>,
    /// The integrals of the minimum price since the release date.
    low: PriceIntegral,
    /// True if the price never rises after the release date.
    falling: bool,
    horizon: i64,
    /// The release date for which the current lists of starts and ends were computed.
    release: Option<i64>,
    starts: Vec<Event>,
    ends: Vec<Event>,
    groups: Vec<Group>,
    blocks: Blocks,
    /// The time for which each choice pays, if this time has been computed.
    paid: Vec<Option<i64>>,
    /// The choice and the start with the minimum cost for the previous job.
    before: (usize, usize),
}

/// The search for the minimum cost of one job.
struct Search<'a> {
    profile: &'a Profile,
    weight: i128,
    release: i64,
    /// True if prices never rise after the release date of the job.
    falling: bool,
    least: i128,
}

/// A range of positions in a list of instants, from the first to the last.
#[derive(Clone, Copy)]
struct Range {
    first: usize,
    last: usize,
}

/// The kind of the instants of a range: starts or ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RangeKind {
    Starts,
    Ends,
}

impl<'a> CostMinimiser<'a> {
    pub(super) fn new(prefix: &'a PriceIntegral, closed: Option<ClosedPeriods>, horizon: Option<Time>) -> Self {
        let horizon = horizon.map_or(i64::MAX, Time::ticks);
        let (starts, ends, groups, paid) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let blocks = Blocks::default();
        let low = prefix.clone();
        let (release, falling, before) = (None, true, (0, 0));
        Self { prefix, closed, low, falling, horizon, release, starts, ends, groups, blocks, paid, before }
    }

    /// Returns the minimum cost of a job with this weight, which is in the unit of the prices. Returns `None` on
    /// overflow, and [`i128::MAX`] if the job cannot end by the horizon.
    pub(super) fn cost(&mut self, profile: &Profile, release: Time, weight: i128) -> Option<i128> {
        let release = release.ticks();
        self.take_release(release);
        let falling = self.falling;
        choices::groups(profile, &mut self.groups);
        self.check_range(release, weight)?;
        self.blocks.hold(&self.groups);
        self.paid.clear();
        self.paid.resize(self.groups.len(), None);
        let mut search = Search { profile, weight, release, falling, least: i128::MAX };
        // A good first cell rules out most other cells. Consecutive jobs are often similar, so the best cell of the
        // previous job is tried first.
        let (choice, start) = (self.before.0.min(self.groups.len() - 1), self.before.1.min(self.starts.len() - 1));
        self.descend(&mut search, RangeKind::Starts, self.blocks.index(choice), Range { first: start, last: start });
        for side in [RangeKind::Starts, RangeKind::Ends] {
            let last = self.events(side).len();
            if last > 0 {
                self.descend(&mut search, side, Blocks::ROOT, Range { first: 0, last: last - 1 });
            }
        }
        if self.horizon < i64::MAX {
            self.try_latest(&mut search);
        }
        Some(search.least)
    }

    fn take_release(&mut self, release: i64) {
        if self.release != Some(release) {
            self.release = Some(release);
            self.starts.clear();
            self.starts.push((release, self.prefix.at(release)));
            self.starts.extend_from_slice(self.prefix.falls_after(release));
            self.ends.clear();
            self.ends.extend_from_slice(self.prefix.rises_after(release));
            self.falling = self.ends.is_empty();
            if !self.falling {
                self.prefix.lowered(release, &mut self.low);
            }
            if let Some(closed) = &self.closed {
                self.starts.extend_from_slice(closed.ends_after(release));
                self.ends.extend_from_slice(closed.begins_after(release));
                for events in [&mut self.starts, &mut self.ends] {
                    events.sort_unstable_by_key(|event| event.0);
                    events.dedup_by_key(|event| event.0);
                }
            }
        }
    }

    /// Returns `None` if some value in the computation for this job may exceed 128 bits.
    fn check_range(&self, release: i64, weight: i128) -> Option<()> {
        let widest = i128::from(self.groups.iter().map(|group| group.first).max()?);
        let longest = i128::from(self.groups.iter().map(|group| group.time).max()?);
        let horizon = if self.horizon < i64::MAX { self.horizon } else { 0 };
        let opens = self.closed.as_ref().map_or(0, ClosedPeriods::last);
        let latest = i128::from(release.max(self.prefix.last()).max(horizon).max(opens)) + longest;
        weight.checked_mul(latest)?.checked_add(widest.checked_mul(self.prefix.total())?)?;
        Some(())
    }

    fn events(&self, side: RangeKind) -> &[Event] {
        match side {
            RangeKind::Starts => &self.starts,
            RangeKind::Ends => &self.ends,
        }
    }

    /// Returns a lower bound on the cost of all cells of a block. For a single cell with a computed paid time, the
    /// bound is exact. For a block without cells, returns the maximum value.
    fn bound(&self, search: &Search, side: RangeKind, block: Block, range: Range) -> i128 {
        let (from, until) = (self.events(side)[range.first], self.events(side)[range.last]);
        let Block { processors, shortest, paid, .. } = block;
        if processors == 0 || (side == RangeKind::Ends && until.0 - shortest <= search.release) {
            return i128::MAX;
        }
        let completion = match side {
            RangeKind::Starts => i128::from(from.0) + i128::from(shortest),
            RangeKind::Ends => i128::from(from.0),
        };
        let waiting = search.weight * completion;
        if waiting >= search.least || completion > i128::from(self.horizon) {
            return i128::MAX;
        }
        // The period in which all runs of the block overlap. This period may be empty.
        let (begin, end) = match side {
            RangeKind::Starts => (until.0, from.0.saturating_add(shortest)),
            RangeKind::Ends => (until.0 - shortest, from.0),
        };
        let closed = |closed: &ClosedPeriods| begin < end && !closed.allows(processors, begin, end);
        if self.closed.as_ref().is_some_and(closed) {
            return i128::MAX;
        }
        let price = if search.falling {
            let latest = match side {
                RangeKind::Starts => until,
                RangeKind::Ends => (begin, self.prefix.at(begin)),
            };
            self.prefix.over(latest, paid)
        } else {
            let (latest, common) = match side {
                RangeKind::Starts => (until.0, self.prefix.at(from.0.saturating_add(shortest)) - until.1),
                RangeKind::Ends => (until.0 - shortest, from.1 - self.prefix.at(until.0 - shortest)),
            };
            // If the block is a single cell, the overlap is its whole run.
            let single = range.first == range.last && paid == shortest;
            if single { common } else { common.max(self.low.over((latest, self.low.at(latest)), paid)) }
        };
        waiting + i128::from(processors) * price
    }

    /// Tries the cells of a block. Skips cells that cannot cost less than the minimum cost found so far.
    fn descend(&mut self, search: &mut Search, side: RangeKind, index: usize, range: Range) {
        let choice = self.blocks.choice(index);
        if let Some(choice) = choice {
            self.learn(search, choice);
            if range.first == range.last {
                let cost = self.bound(search, side, self.blocks.get(index), range);
                if cost < search.least {
                    search.least = cost;
                    self.before = if side == RangeKind::Starts { (choice, range.first) } else { self.before };
                }
                return;
            }
        }
        let cell = |index, range| (self.bound(search, side, self.blocks.get(index), range), index, range);
        let mut halves =
            if choice.is_some() || MORE_STARTS * (range.last - range.first) >= self.blocks.choices_below(index) {
                let middle = usize::midpoint(range.first, range.last);
                [cell(index, Range { last: middle, ..range }), cell(index, Range { first: middle + 1, ..range })]
            } else {
                [cell(2 * index, range), cell(2 * index + 1, range)]
            };
        if halves[1].0 < halves[0].0 {
            halves.swap(0, 1);
        }
        for (bound, index, range) in halves {
            if bound < search.least {
                self.descend(search, side, index, range);
            }
        }
    }

    /// Returns the time for which a choice pays. Computes the time at the first call.
    fn learn(&mut self, search: &Search, choice: usize) -> i64 {
        *self.paid[choice].get_or_insert_with(|| {
            let paid = self.groups[choice].paid(search.profile, search.falling);
            self.blocks.pay(choice, paid);
            paid
        })
    }

    /// Tries, for every choice, the latest start with which the job ends by the horizon.
    fn try_latest(&mut self, search: &mut Search) {
        let waiting = search.weight * i128::from(self.horizon);
        for choice in 0..self.groups.len() {
            if waiting >= search.least {
                break;
            }
            let Group { first, time, .. } = self.groups[choice];
            let latest = self.horizon.saturating_sub(time);
            let closed = |closed: &ClosedPeriods| !closed.allows(first, latest, self.horizon);
            if latest < search.release || self.closed.as_ref().is_some_and(closed) {
                continue;
            }
            let start = (latest, self.prefix.at(latest));
            let cost = |ticks| waiting + i128::from(first) * self.prefix.over(start, ticks);
            if cost(time) < search.least {
                let paid = self.learn(search, choice);
                search.least = search.least.min(waiting + i128::from(first) * self.prefix.over(start, paid));
            }
        }
    }
}
