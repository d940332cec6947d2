//! What has ended of one kind.

use std::borrow::Cow;
use std::collections::VecDeque;

use makespan_core::Time;

use super::FIRST;

/// The latest ends that count.
const RECENT: usize = 50;
/// A median that is off by less than one in so many is near enough.
const NEAR: i128 = 10;
/// The standard deviation of a normal distribution over its median absolute deviation.
const NORMAL: f64 = 1.4826;

/// What has ended of one kind, and who is of it.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// Numbers of different tasks, some of which have not ended.
    pub members: Vec<u32>,
    /// Times on the fewest processors, in ticks.
    pub times: Recent,
    /// Of what was learned before: what it took over what was expected, in millionths.
    ratios: Recent,
    /// For each ratio in `ratios`, the instant at which its task ended.
    ends: VecDeque<Time>,
    /// The medians when the members were last told.
    told: (Option<i64>, Option<i64>),
}

impl Group {
    /// Adds an end; whether members may have to be told.
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
        let tell = few || !is_near(self.told.0, now.0) || !is_near(self.told.1, now.1);
        if tell {
            self.told = now;
        }
        tell
    }

    /// Returns whether `ratios` contains the ratio of a task that ended after `after`, or any ratio if `after` is zero.
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

/// Whether two figures differ by no more than a tenth of the first.
fn near(before: i64, now: i64) -> bool {
    (i128::from(now) - i128::from(before)).abs() * NEAR <= i128::from(before)
}

/// The latest figures, and the same in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent {
    latest: VecDeque<i64>,
    sorted: Vec<i64>,
}

impl Recent {
    /// How many there are.
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

    /// The median of these figures and so many times `prior`, of two the larger; `None` of none.
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

    /// The standard deviation over the median, by the median absolute deviation; 0 of one.
    pub fn spread(&self) -> f64 {
        let Some(median) = self.median(0, 0).filter(|&median| median > 0) else { return 0.0 };
        let mut away: Vec<i64> = self.sorted.iter().map(|&figure| (figure - median).abs()).collect();
        away.sort_unstable();
        NORMAL * away[away.len() / 2] as f64 / median as f64
    }
}
