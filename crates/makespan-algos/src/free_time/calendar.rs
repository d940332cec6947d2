//! The busy periods of one processor.

use makespan_core::FreeTime;

/// The busy periods of a processor, disjoint and in ascending order. Adjacent periods are merged. Every query must ask
/// for exactly one processor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calendar {
    busy: Vec<(i64, i64)>,
}

impl Calendar {
    /// Returns a calendar of busy periods, which may overlap and may be in any order.
    pub fn new(periods: &[(i64, i64)]) -> Self {
        let mut sorted = periods.to_vec();
        sorted.sort_unstable();
        let mut busy: Vec<(i64, i64)> = Vec::with_capacity(sorted.len());
        for (start, end) in sorted {
            match busy.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => busy.push((start, end)),
            }
        }
        Self { busy }
    }

    /// Returns the busy periods in ascending order.
    pub fn busy(&self) -> &[(i64, i64)] {
        &self.busy
    }

    /// Returns the periods in which the processors of both calendars are busy.
    pub fn overlap(&self, other: &Self) -> Self {
        let (mut own, mut others, mut busy) = (self.busy.iter().peekable(), other.busy.iter().peekable(), Vec::new());
        while let (Some(&&(from, until)), Some(&&(start, end))) = (own.peek(), others.peek()) {
            if from.max(start) < until.min(end) {
                busy.push((from.max(start), until.min(end)));
            }
            if until <= end {
                own.next();
            } else {
                others.next();
            }
        }
        Self { busy }
    }
}

impl FreeTime for Calendar {
    /// An instant in ticks.
    type Instant = i64;
    /// The start and the end of a busy period.
    type Held = (i64, i64);

    /// Takes O(log k) for k busy periods, plus one step for each gap that is too short.
    fn earliest_fit(&self, width: u32, duration: i64, after: i64) -> i64 {
        debug_assert_eq!(width, 1);
        let next = self.busy.partition_point(|&(_, end)| end <= after);
        let mut start = after;
        for &(from, until) in &self.busy[next..] {
            if start + duration <= from {
                return start;
            }
            start = start.max(until);
        }
        start
    }

    fn fits(&self, width: u32, start: i64, duration: i64) -> bool {
        debug_assert_eq!(width, 1);
        let next = self.busy.partition_point(|&(_, end)| end <= start);
        self.busy.get(next).is_none_or(|&(from, _)| start + duration <= from)
    }

    fn hold(&mut self, width: u32, start: i64, end: i64) -> (i64, i64) {
        debug_assert_eq!(width, 1);
        let next = self.busy.partition_point(|&(from, _)| from < start);
        let joins_next = self.busy.get(next).is_some_and(|&(from, _)| from == end);
        let joins_last = next > 0 && self.busy[next - 1].1 == start;
        match (joins_last, joins_next) {
            (true, true) => {
                self.busy[next - 1].1 = self.busy[next].1;
                self.busy.remove(next);
            }
            (true, false) => self.busy[next - 1].1 = end,
            (false, true) => self.busy[next].0 = start,
            (false, false) => self.busy.insert(next, (start, end)),
        }
        (start, end)
    }

    /// Releases a part of a busy period. The time before and after this part stays busy.
    fn release(&mut self, &(start, end): &(i64, i64)) {
        let at = self.busy.partition_point(|&(_, until)| until <= start);
        let Some(&(from, until)) = self.busy.get(at) else { return };
        let rest = [(from, start), (end, until)].into_iter().filter(|(from, until)| from < until);
        self.busy.splice(at..=at, rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_that_touch_are_one() {
        let mut calendar = Calendar::new(&[(20, 30), (5, 10), (8, 12), (30, 31)]);
        assert_eq!(calendar.busy, [(5, 12), (20, 31)]);
        calendar.hold(1, 0, 5);
        calendar.hold(1, 15, 17);
        calendar.hold(1, 12, 15);
        assert_eq!(calendar.busy, [(0, 17), (20, 31)]);
        calendar.hold(1, 17, 20);
        assert_eq!(calendar.busy, [(0, 31)]);
        calendar.release(&(17, 20));
        calendar.release(&(0, 5));
        assert_eq!(calendar.busy, [(5, 17), (20, 31)]);
    }

    #[test]
    fn two_calendars_overlap_where_both_are_busy() {
        let calendar = Calendar::new(&[(5, 17)]);
        let other = Calendar::new(&[(0, 6), (7, 8), (16, 30)]);
        assert_eq!(calendar.overlap(&other).busy, [(5, 6), (7, 8), (16, 17)]);
        assert_eq!(other.overlap(&calendar), calendar.overlap(&other));
    }
}
