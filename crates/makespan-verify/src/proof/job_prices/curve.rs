//! The minimum payments of a job, as functions of its end.

use makespan_core::EndPenalty;

use super::ways::TaskWay;
use crate::proof::prefix::PriceIntegral;

/// An instant, and the minimum payment of equal tasks if their job ends by this instant.
type Point = (i128, i128);

/// Returns the points of the payment curve of `count` equal tasks, in ascending order of the end of their job. The
/// curve can begin to fall, or stop falling, only at these points. For an end of the job, consider the latest run of a
/// task on each of its allotments. The end of the job is a point if such a run begins at the earliest start of the
/// task, or if such a run begins or ends at an instant of the prices. Between two points, the curve is concave. Returns
/// `None` on overflow.
fn points(ways: &[TaskWay], count: i128, integral: &PriceIntegral) -> Option<Vec<Point>> {
    let mut ends: Vec<i128> = ways.iter().map(TaskWay::first).collect();
    for way in ways {
        for instant in integral.instants() {
            let starts = [instant, instant - way.time].into_iter().filter(|&start| start > way.head);
            ends.extend(starts.map(|start| start + way.time + way.tail));
        }
    }
    ends.sort_unstable();
    ends.dedup();
    let first = ways.iter().map(TaskWay::first).min()?;
    let mut least = i128::MAX;
    let mut points = Vec::with_capacity(ends.len());
    for end in ends.into_iter().filter(|&end| end >= first) {
        for way in ways.iter().filter(|way| way.first() <= end) {
            let start = end - way.tail - way.time;
            let held = integral.until(start + way.time) - integral.until(start);
            least = least.min(held.checked_mul(way.rate)?);
        }
        points.push((end, least.checked_mul(count)?));
    }
    Some(points)
}

/// The cost of a job that ends at C: `weight * max(0, C - from)`, or `weight` multiplied by a penalty.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobCost<'a> {
    pub(super) weight: i128,
    pub(super) from: i128,
    pub(super) penalty: Option<&'a EndPenalty>,
}

impl JobCost<'_> {
    /// Returns a lower bound on the cost of an end. Between two successive instants of the penalty, the bound is at most
    /// the straight line between the costs of these instants. Returns `None` on overflow.
    fn at(&self, end: i128) -> Option<i128> {
        let ticks = self.penalty.map_or((end - self.from).max(0), |penalty| penalty.millionths_down(end));
        ticks.checked_mul(self.weight)
    }
}

/// The cost of the end of a job that ends at `soonest` or later.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobEnd<'a> {
    pub(super) cost: JobCost<'a>,
    pub(super) soonest: i128,
}

/// Returns the minimum over C of `f(C)` plus the sum of `m_i(C)`. Here `f(C)` is the cost of a job that ends at C, and
/// `m_i(C)` is the minimum payment of its task i if the job ends by C. Each row represents `count` equal tasks. Returns
/// `None` on overflow.
///
/// Let the chord be the straight line between two successive points of a curve. Between these points, the payment of a
/// task is concave in C. So the payment is at least the value of the chord. The sum of the chords is minimal at a point
/// of some task, or at an instant at which the slope of the cost of the job changes: at `from`, or at a point of its
/// penalty. A step of a penalty rises after its point, so the point itself has the smaller cost. The slopes of the chords are rounded so that
/// the chords become lower.
pub(super) fn least(rows: &[Vec<TaskWay>], count: u64, integral: &PriceIntegral, end: JobEnd<'_>) -> Option<i128> {
    let JobEnd { cost, soonest } = end;
    let curves: Option<Vec<Vec<Point>>> = rows.iter().map(|ways| points(ways, count.into(), integral)).collect();
    let curves = curves?;
    let mut events: Vec<(i128, usize, usize)> = Vec::with_capacity(curves.iter().map(Vec::len).sum());
    for (task, curve) in curves.iter().enumerate() {
        events.extend(curve.iter().enumerate().map(|(index, &(at, _))| (at, task, index)));
    }
    let soonest = curves.iter().map(|curve| curve[0].0).max().unwrap_or(0).max(soonest).max(cost.from);
    // The slope of the cost may change at an instant that is not a point of any curve.
    events.push((soonest, usize::MAX, 0));
    let bends = cost.penalty.into_iter().flat_map(EndPenalty::points).map(|&(at, _)| i128::from(at.ticks()));
    events.extend(bends.filter(|&at| at > soonest).map(|at| (at, usize::MAX, 0)));
    events.sort_unstable();
    let fall = |curve: &[Point], index: usize| {
        let Some(&(next, then)) = curve.get(index + 1) else { return 0 };
        let (at, now) = curve[index];
        // The fall per tick is rounded up, so the chord becomes lower.
        (now - then + (next - at) - 1) / (next - at)
    };
    let (mut paid, mut falls, mut before) = (0_i128, 0_i128, events[0].0);
    let mut least: Option<i128> = None;
    for (place, &(at, task, index)) in events.iter().enumerate() {
        paid = paid.checked_sub(falls.checked_mul(at - before)?)?;
        before = at;
        if let Some(curve) = curves.get(task) {
            let reached = match index.checked_sub(1) {
                Some(last) => curve[last].1.checked_sub(fall(curve, last).checked_mul(at - curve[last].0)?)?,
                None => 0,
            };
            paid = paid.checked_add(curve[index].1 - reached)?;
            let last = index.checked_sub(1).map_or(0, |last| fall(curve, last));
            falls = falls.checked_add(fall(curve, index))?.checked_sub(last)?;
        }
        let is_last = events.get(place + 1).is_none_or(|next| next.0 > at);
        if is_last && at >= soonest {
            let all = cost.at(at)?.checked_add(paid)?;
            least = Some(least.map_or(all, |least| least.min(all)));
        }
    }
    least
}
