//! The minimum cost of one choice of a job. Every start that may be minimal is tried.

use super::closed::ClosedPeriods;
use crate::proof::prefix::PriceIntegral;

/// A run of `time` ticks on a number of processors, which starts at or after the release.
#[derive(Clone, Copy)]
pub(super) struct PricedRun {
    pub(super) processors: u32,
    pub(super) release: i64,
    pub(super) time: i64,
    /// Latest end of the run, or the maximum value if there is no limit.
    pub(super) horizon: i64,
}

impl PricedRun {
    /// Calls `attempt` with the starts between which the cost of the run is linear, in this order:
    ///
    /// * the release date;
    /// * the start for which the run ends at the horizon;
    /// * the instants at which the price falls;
    /// * the starts for which the run ends when the price rises;
    /// * the instants at which processors open;
    /// * the starts for which the run ends when processors close.
    ///
    /// Each list is ascending. If `attempt` returns false, the rest of the current list is skipped.
    fn each_start(&self, prefix: &PriceIntegral, closed: Option<&ClosedPeriods>, mut attempt: impl FnMut(i64) -> bool) {
        let (release, end) = (self.release, self.release.saturating_add(self.time));
        attempt(release);
        if self.horizon < i64::MAX {
            attempt(self.horizon.saturating_sub(self.time));
        }
        prefix.falls_after(release).iter().all(|fall| attempt(fall.0));
        prefix.rises_after(end).iter().all(|rise| attempt(rise.0 - self.time));
        if let Some(closed) = closed {
            closed.ends_after(release).iter().all(|opens| attempt(opens.0));
            closed.begins_after(end).iter().all(|closes| attempt(closes.0 - self.time));
        }
    }

    /// Returns true if the run may start at this instant.
    fn is_possible(&self, closed: Option<&ClosedPeriods>, start: i64) -> bool {
        let end = start.saturating_add(self.time);
        start >= self.release
            && start <= self.horizon.saturating_sub(self.time)
            && closed.is_none_or(|closed| closed.allows(self.processors, start, end))
    }

    /// Returns `None` if some value in the computation may exceed 128 bits.
    fn check_range(
        &self,
        prefix: &PriceIntegral,
        closed: Option<&ClosedPeriods>,
        weight: i128,
        (later, tasks): (i64, u64),
    ) -> Option<()> {
        let opens = closed.map_or(0, ClosedPeriods::last);
        let horizon = if self.horizon < i64::MAX { self.horizon } else { 0 };
        let latest = i128::from(self.release.max(prefix.last()).max(horizon).max(opens));
        let latest = latest + i128::from(self.time) + i128::from(later);
        let paid = prefix.total().checked_mul(i128::from(tasks))?;
        weight.checked_mul(latest)?.checked_add(paid)?;
        Some(())
    }

    /// Returns the minimum cost of the run over all starts, or `known` if `known` is smaller. Returns `None` on
    /// overflow. The price is for all processors of the run.
    pub(super) fn least(
        &self,
        prefix: &PriceIntegral,
        closed: Option<&ClosedPeriods>,
        weight: i128,
        known: i128,
    ) -> Option<i128> {
        self.check_range(prefix, closed, weight, (0, 1))?;
        let mut least = known;
        self.each_start(prefix, closed, |start| {
            let waiting = weight * (i128::from(start) + i128::from(self.time));
            if waiting >= least {
                // From this start on, the weighted end alone is at least the minimum cost found so far, so later starts
                // are not tried.
                return false;
            }
            if self.is_possible(closed, start) {
                least = least.min(waiting + prefix.over((start, prefix.at(start)), self.time));
            }
            true
        });
        Some(least)
    }

    /// Returns the minimum cost of a bag of `tasks` equal tasks over all its ends C. Each task takes the processors and
    /// the time of this run, and ends by C. At most `beside` tasks run at any instant, and `weight` is the weight of
    /// the bag. Returns `None` on overflow.
    ///
    /// Among the l tasks that end last, there are ceil(l / beside) tasks that run one after the other. Proof:
    /// intervals that overlap pairwise have an instant in common. So intervals of which at most q overlap at any
    /// instant can be divided into q chains (Dilworth). So the l-th task from the end ends by
    /// `C - (ceil(l / beside) - 1) time`, and pays at least the minimum price of a run that ends by this instant.
    pub(super) fn least_of_bag(
        &self,
        prefix: &PriceIntegral,
        closed: Option<&ClosedPeriods>,
        weight: i128,
        tasks: u64,
        beside: u64,
    ) -> Option<i128> {
        let rounds = Rounds::new(tasks, beside, self.time)?;
        let last = rounds.0.last().map_or(0, |round| round.0);
        self.check_range(prefix, closed, weight, (last, tasks))?;
        // Pairs of an instant, and the minimum price of a run that ends by this instant. The list contains the instants
        // at which this minimum price may stop falling.
        let mut ends: Vec<(i64, i128)> = Vec::new();
        self.each_start(prefix, closed, |start| {
            if self.is_possible(closed, start) {
                ends.push((start.saturating_add(self.time), prefix.over((start, prefix.at(start)), self.time)));
            }
            true
        });
        ends.sort_unstable();
        let mut least = i128::MAX;
        ends.iter_mut().for_each(|end| {
            least = least.min(end.1);
            end.1 = least;
        });
        let price = |by: i64| {
            let before = ends.partition_point(|end| end.0 <= by).checked_sub(1)?;
            let start = by - self.time;
            let own = if self.is_possible(closed, start) {
                prefix.over((start, prefix.at(start)), self.time)
            } else {
                i128::MAX
            };
            Some(ends[before].1.min(own))
        };
        let mut least = i128::MAX;
        for &(offset, _) in &rounds.0 {
            for &(end, _) in &ends {
                let Some(end) = end.checked_add(offset).filter(|&end| end <= self.horizon) else { break };
                let mut cost = weight * i128::from(end);
                if cost >= least {
                    break;
                }
                let all = rounds.0.iter().try_for_each(|&(offset, tasks)| {
                    cost += price(end - offset)? * i128::from(tasks);
                    (cost < least).then_some(())
                });
                if all.is_some() {
                    least = cost;
                }
            }
        }
        Some(least)
    }
}

/// Maximum number of rounds that are computed separately.
const MAX_ROUNDS: u64 = 8;

/// For each round of a bag, the time from the latest end of the round's tasks to the end of the bag, and the number of
/// these tasks.
struct Rounds(Vec<(i64, u64)>);

impl Rounds {
    /// Creates the rounds. If there are more than [`MAX_ROUNDS`], several rounds are combined, and all their tasks end
    /// at the latest end of these rounds. Returns `None` on overflow.
    fn new(tasks: u64, beside: u64, time: i64) -> Option<Self> {
        let beside = beside.max(1);
        let rounds = tasks.div_ceil(beside);
        let each = rounds.div_ceil(MAX_ROUNDS).max(1);
        let (mut left, mut first, mut all) = (tasks, 0, Vec::new());
        while left > 0 {
            let now = left.min(each.saturating_mul(beside));
            all.push((i64::try_from(first).ok()?.checked_mul(time)?, now));
            left -= now;
            first += each;
        }
        Some(Self(all))
    }
}
