//! The run times of ended tasks of one kind.

use std::borrow::Cow;
use std::collections::VecDeque;

use makespan_core::Time;

use super::FIRST;

/// Maximum number of run times that a group stores, and maximum number of ratios. If the maximum is reached, each new
/// value replaces the oldest one.
const RECENT: usize = 50;
/// A group replaces the estimates of its members again only after some further tasks have ended: at least one task,
/// plus one task for every `MEMBERS` members.
const MEMBERS: usize = 250;
/// The estimates are kept while each median has changed by at most the fraction 1 / `NEAR`.
const NEAR: i128 = 10;
/// Ratio of the standard deviation of a normal distribution to its median absolute deviation.
const NORMAL: f64 = 1.4826;

/// The tasks of one kind, and the run times of ended tasks of this kind.
#[derive(Debug, Default)]
pub(super) struct EstimateGroup {
    /// The indices of the tasks of this kind that had not ended at the last update of the estimates. The equal tasks of
    /// a bag have one index.
    pub members: Vec<u32>,
    /// Run times of ended tasks, in ticks. Each is converted to the time on the minimum number of processors.
    pub times: Recent,
    /// Ratios of run time to expected time, in millionths, for the tasks with an expected time that was learned from
    /// earlier runs.
    ratios: Recent,
    /// For each ratio in `ratios`, the instant at which its task ended.
    ends: VecDeque<Time>,
    /// The medians of `times` and of `ratios` at the time when the estimates of the members were last replaced.
    told: (Option<i64>, Option<i64>),
    /// The number of tasks that have ended since the estimates of the members were last replaced.
    ends_since: usize,
}

impl EstimateGroup {
    /// Adds the run time of an ended task. If the expected time of the task was learned, `ratio` contains the end of
    /// the task, and its run time divided by its expected time. Returns whether the estimates of the members must be
    /// replaced.
    pub fn add(&mut self, time: i64, ratio: Option<(Time, i64)>) -> bool {
        self.times.add(time);
        if let Some((end, ratio)) = ratio {
            if self.ends.len() == RECENT {
                self.ends.pop_front();
            }
            self.ends.push_back(end);
            self.ratios.add(ratio);
        }
        let now = (self.times.median(0, 0), self.ratios.median(0, 0));
        let is_near = |before: Option<i64>, now: Option<i64>| match (before, now) {
            (Some(before), Some(now)) => near(before, now),
            (before, now) => before == now,
        };
        let few = ratio.is_some() && self.ratios.len() <= FIRST;
        self.ends_since += 1;
        // Wait for several ends, because replacing the estimates of a large group after each end would take too much
        // time.
        let is_first = self.told == (None, None);
        let is_due = is_first || self.ends_since > self.members.len() / MEMBERS;
        let tell = is_due && (few || !is_near(self.told.0, now.0) || !is_near(self.told.1, now.1));
        if tell {
            (self.told, self.ends_since) = (now, 0);
        }
        tell
    }

    /// Returns whether `ratios` contains a ratio of a task that ended after `after`. If `after` is zero, any ratio
    /// suffices.
    pub fn has_ratios(&self, after: Time) -> bool {
        self.ends.iter().any(|&end| end > after || after == Time::ZERO)
    }

    /// Returns the ratios of the tasks that ended after `after`, or all ratios if `after` is zero.
    pub fn ratios(&self, after: Time) -> Cow<'_, Recent> {
        if after == Time::ZERO || self.ends.iter().all(|&end| end > after) {
            return Cow::Borrowed(&self.ratios);
        }
        let mut later = Recent::default();
        let pairs = self.ends.iter().zip(&self.ratios.latest);
        pairs.filter(|(end, _)| **end > after).for_each(|(_, &ratio)| later.add(ratio));
        Cow::Owned(later)
    }
}

/// Returns whether `now` differs from `before` by at most a tenth of `before`.
fn near(before: i64, now: i64) -> bool {
    (i128::from(now) - i128::from(before)).abs() * NEAR <= i128::from(before)
}

/// The latest figures, stored twice: in the order of their arrival, and in ascending order.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent {
    latest: VecDeque<i64>,
    sorted: Vec<i64>,
}

impl Recent {
    /// Returns the number of figures.
    pub fn len(&self) -> usize {
        self.latest.len()
    }

    fn add(&mut self, figure: i64) {
        if self.latest.len() == RECENT
            && let Some(oldest) = self.latest.pop_front()
        {
            self.sorted.remove(self.sorted.partition_point(|&other| other < oldest));
        }
        self.latest.push_back(figure);
        self.sorted.insert(self.sorted.partition_point(|&other| other < figure), figure);
    }

    /// Returns the median of all figures and `times` copies of `prior`. If the number of these values is even, the
    /// median is the larger of the two middle values. Returns `None` if there are no values.
    pub fn median(&self, prior: i64, times: usize) -> Option<i64> {
        let middle = usize::midpoint(self.sorted.len(), times);
        let before = self.sorted.partition_point(|&figure| figure < prior);
        match times {
            0 => self.sorted.get(middle).copied(),
            _ if middle < before => Some(self.sorted[middle]),
            _ if middle < before + times => Some(prior),
            _ => self.sorted.get(middle - times).copied(),
        }
    }

    /// Returns the standard deviation divided by the median. The standard deviation is estimated from the median
    /// absolute deviation. The result for a single figure is 0.
    pub fn spread(&self) -> f64 {
        let Some(median) = self.median(0, 0).filter(|&median| median > 0) else { return 0.0 };
        let mut away: Vec<i64> = self.sorted.iter().map(|&figure| (figure - median).abs()).collect();
        away.sort_unstable();
        NORMAL * away[away.len() / 2] as f64 / median as f64
    }
}
