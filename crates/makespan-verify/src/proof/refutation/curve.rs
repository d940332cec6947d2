//! The cost of a task in one mode, as a function of its start.

/// A function of whole numbers that is linear between consecutive points. The points are ascending.
#[derive(Clone, Debug, Default)]
pub(super) struct Curve {
    points: Vec<(i64, i128)>,
    /// A tree of minima: entry `points.len() + i` is the value of point i, and entry i is the minimum of the entries
    /// 2i and 2i + 1.
    minima: Vec<i128>,
}

impl Curve {
    pub(super) fn new(points: Vec<(i64, i128)>) -> Self {
        let count = points.len();
        let mut minima = vec![i128::MAX; 2 * count];
        for (at, point) in points.iter().enumerate() {
            minima[count + at] = point.1;
        }
        for at in (1..count).rev() {
            minima[at] = minima[2 * at].min(minima[2 * at + 1]);
        }
        Self { points, minima }
    }

    /// Returns the number of points.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// Returns the minimum value from `from` to `until`, both included, or `None` if the function has no argument in
    /// this range.
    pub(super) fn least(&self, from: i64, until: i64) -> Option<i128> {
        let (from, until) = self.clipped(from, until)?;
        let ends = self.at(from)?.min(self.at(until)?);
        let first = self.points.partition_point(|point| point.0 < from);
        let end = self.points.partition_point(|point| point.0 <= until);
        Some(ends.min(self.least_of(first, end)))
    }

    /// Returns the first argument from `from` to `until` at which the value is below `limit`.
    pub(super) fn first_below(&self, from: i64, until: i64, limit: i128) -> Option<i64> {
        let (from, until) = self.clipped(from, until)?;
        let (mut start, mut value) = (from, self.at(from)?);
        if value < limit {
            return Some(start);
        }
        let next = self.points.partition_point(|point| point.0 <= from);
        for point in self.points[next..].iter().map(|point| point.0.min(until)) {
            let reached = self.at(point)?;
            if reached < limit {
                return Some(start.saturating_add(beyond(value, reached, point - start, limit)));
            }
            (start, value) = (point, reached);
            if start == until {
                break;
            }
        }
        None
    }

    /// Returns the last argument from `from` to `until` at which the value is below `limit`.
    pub(super) fn last_below(&self, from: i64, until: i64, limit: i128) -> Option<i64> {
        let (from, until) = self.clipped(from, until)?;
        let (mut end, mut value) = (until, self.at(until)?);
        if value < limit {
            return Some(end);
        }
        let next = self.points.partition_point(|point| point.0 < until);
        for point in self.points[..next].iter().rev().map(|point| point.0.max(from)) {
            let reached = self.at(point)?;
            if reached < limit {
                return Some(end.saturating_sub(beyond(value, reached, end - point, limit)));
            }
            (end, value) = (point, reached);
            if end == from {
                break;
            }
        }
        None
    }

    fn clipped(&self, from: i64, until: i64) -> Option<(i64, i64)> {
        let (first, last) = (self.points.first()?.0, self.points.last()?.0);
        let (from, until) = (from.max(first), until.min(last));
        (from <= until).then_some((from, until))
    }

    /// Returns the value at an argument between the first and the last point.
    fn at(&self, argument: i64) -> Option<i128> {
        let next = self.points.partition_point(|point| point.0 <= argument);
        let &(start, value) = self.points.get(next.checked_sub(1)?)?;
        let Some(&(end, reached)) = self.points.get(next) else { return Some(value) };
        let slope = (reached - value) / i128::from(end - start);
        Some(value + slope * i128::from(argument - start))
    }

    fn least_of(&self, first: usize, end: usize) -> i128 {
        let (mut first, mut end) = (first + self.len(), end + self.len());
        let mut least = i128::MAX;
        while first < end {
            if first % 2 == 1 {
                least = least.min(self.minima[first]);
                first += 1;
            }
            if end % 2 == 1 {
                end -= 1;
                least = least.min(self.minima[end]);
            }
            (first, end) = (first / 2, end / 2);
        }
        least
    }
}

/// Returns the number of steps after which a linear function is below `limit`. In `length` steps, the function falls
/// from `value`, which is at least the limit, to `reached`.
fn beyond(value: i128, reached: i128, length: i64, limit: i128) -> i64 {
    let fall = (value - reached) / i128::from(length);
    i64::try_from((value - limit) / fall + 1).unwrap_or(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minima_and_crossings_are_those_of_all_arguments() {
        let points = [(2, 6), (4, 0), (5, 9), (9, 1), (12, 4), (13, 4)];
        let curve = Curve::new(points.to_vec());
        let values: Vec<(i64, i128)> = (2..=13).map(|at| (at, curve.at(at).unwrap())).collect();
        assert_eq!(values[..6], [(2, 6), (3, 3), (4, 0), (5, 9), (6, 7), (7, 5)]);
        for from in 0..15 {
            for until in 0..15 {
                let inside = || values.iter().filter(|(at, _)| (from..=until).contains(at));
                assert_eq!(curve.least(from, until), inside().map(|point| point.1).min(), "{from} {until}");
                for limit in -1..11 {
                    let below = || inside().filter(|point| point.1 < limit).map(|point| point.0);
                    assert_eq!(curve.first_below(from, until, limit), below().next(), "{from} {until} {limit}");
                    assert_eq!(curve.last_below(from, until, limit), below().next_back(), "{from} {until} {limit}");
                }
            }
        }
        assert_eq!(Curve::default().least(0, 9), None);
        assert_eq!(Curve::new(vec![(3, 7)]).least(0, 9), Some(7));
    }
}
