//! Tables of measured times, and their useful allotments. An allotment is useful if no smaller allotment dominates it.

use crate::model::Time;

/// Times on `1 ..= times.len()` processors. The task does not accept allotments below `min`.
#[derive(Debug, PartialEq)]
pub(super) struct TimeTable {
    pub(super) times: Vec<Time>,
    pub(super) min: u32,
    /// The allotments that are not dominated, with their times; `None` if no allotment is dominated.
    kept: Option<Vec<(u32, Time)>>,
    /// For each useful allotment, the allotment with the least work that has at least as many processors. `None` if
    /// work never falls as processors are added.
    pub(super) least: Option<Vec<u32>>,
}

impl TimeTable {
    pub(super) fn new(times: Vec<Time>, min: u32) -> Self {
        // In most tables, each additional processor shortens the run time and increases the work. Then `kept` and
        // `least` are not needed.
        let costs = |(index, pair): (usize, &[Time])| {
            let before = index as u32 + 1;
            pair[1] < pair[0] && pair[1].area(before + 1) >= pair[0].area(before)
        };
        if min == 1 && times.windows(2).enumerate().all(costs) {
            return Self { times, min, kept: None, least: None };
        }
        let mut kept: Vec<(u32, Time)> = Vec::with_capacity(times.len());
        for (index, &time) in times.iter().enumerate().skip(min as usize - 1) {
            if kept.last().is_none_or(|&(_, best)| time < best) {
                kept.push((index as u32 + 1, time));
            }
        }
        let mut least: Vec<u32> = kept.iter().map(|&(processors, _)| processors).collect();
        let mut falls = false;
        for index in (0..kept.len() - 1).rev() {
            let next = least[index + 1];
            if times[next as usize - 1].area(next) < kept[index].1.area(kept[index].0) {
                least[index] = next;
                falls = true;
            }
        }
        let all = kept.len() == times.len();
        Self { times, min, kept: (!all).then_some(kept), least: falls.then_some(least) }
    }

    pub(super) fn useful(&self) -> usize {
        self.kept.as_ref().map_or(self.times.len(), Vec::len)
    }

    pub(super) fn allotment(&self, index: usize) -> u32 {
        self.kept.as_ref().map_or(index as u32 + 1, |kept| kept[index].0)
    }

    pub(super) fn time(&self, index: usize) -> Time {
        self.kept.as_ref().map_or_else(|| self.times[index], |kept| kept[index].1)
    }

    /// Returns the position of the first useful allotment on which the task takes at most `deadline`.
    pub(super) fn index(&self, deadline: Time) -> Option<usize> {
        let index = match &self.kept {
            Some(kept) => kept.partition_point(|&(_, time)| time > deadline),
            None => self.times.partition_point(|&time| time > deadline),
        };
        (index < self.useful()).then_some(index)
    }
}
