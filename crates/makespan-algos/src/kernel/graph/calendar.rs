//! When one processor is busy.

/// Busy periods of a processor, in order, apart from each other; periods that touch are one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calendar {
    busy: Vec<(i64, i64)>,
}

impl Calendar {
    /// Of these periods, in any order; they may overlap.
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

    /// The busy periods, in order.
    pub fn busy(&self) -> &[(i64, i64)] {
        &self.busy
    }

    /// The first instant, not before `after`, from which the processor is free for `duration`. O(log k) for k busy
    /// periods, and one step for each gap that is too short.
    pub fn earliest_fit(&self, after: i64, duration: i64) -> i64 {
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

    /// Makes the processor busy, which it must not be already.
    pub fn occupy(&mut self, start: i64, end: i64) {
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
    }

    /// When both are busy.
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

    /// Makes the processor free again where it is busy all the time.
    pub fn vacate(&mut self, start: i64, end: i64) {
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
    fn gaps_are_found_and_filled() {
        let mut calendar = Calendar::new(&[(20, 30), (5, 10), (8, 12), (30, 31)]);
        assert_eq!(calendar.busy, [(5, 12), (20, 31)]);
        let fits = |calendar: &Calendar, after, duration| calendar.earliest_fit(after, duration);
        assert_eq!(fits(&calendar, 0, 5), 0);
        assert_eq!(fits(&calendar, 0, 6), 12);
        assert_eq!(fits(&calendar, 13, 7), 13);
        assert_eq!(fits(&calendar, 14, 7), 31);
        assert_eq!(fits(&calendar, 40, 7), 40);
        calendar.occupy(0, 5);
        calendar.occupy(15, 17);
        calendar.occupy(12, 15);
        assert_eq!(calendar.busy, [(0, 17), (20, 31)]);
        calendar.occupy(17, 20);
        assert_eq!(calendar.busy, [(0, 31)]);
        calendar.vacate(17, 20);
        calendar.vacate(0, 5);
        assert_eq!(calendar.busy, [(5, 17), (20, 31)]);
        calendar.vacate(20, 31);
        assert_eq!(calendar.busy, [(5, 17)]);
        let other = Calendar::new(&[(0, 6), (7, 8), (16, 30)]);
        assert_eq!(calendar.overlap(&other).busy, [(5, 6), (7, 8), (16, 17)]);
        assert_eq!(other.overlap(&calendar), calendar.overlap(&other));
    }
}
