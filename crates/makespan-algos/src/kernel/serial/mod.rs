//! Serial insertion. Tasks are placed one by one, each at its earliest fit.

use std::ops::Range;

use makespan_core::Instance;

use crate::free_time::Skyline;

/// The request of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SerialRequest {
    /// Number of processors.
    pub processors: u32,
    /// Time in ticks.
    pub duration: i64,
    /// Earliest start, in ticks.
    pub release: i64,
}

/// Schedules an order of tasks by serial insertion. After a change, evaluation begins at the first changed position.
/// Each task is placed at its earliest fit, given the tasks before it in the order. So a task that comes late in the
/// order may start early in a gap (Kelley 1963; R. Kolisch, "Serial and parallel resource-constrained project
/// scheduling methods revisited", EJOR 90, 1996, DOI 10.1016/0377-2217(95)00357-6). Suppose that the objective never
/// decreases when a task ends later. Then the serial scheme finds an optimum with the allotments of an optimal
/// schedule, if the order sorts the tasks by their starts in this schedule.
///
/// [`SerialInsertion::evaluate`] evaluates a changed order. [`SerialInsertion::accept`] makes the changed order the
/// current order.
#[derive(Debug)]
pub struct SerialInsertion {
    /// Number of tasks between two snapshots.
    stride: usize,
    present: Vec<Snapshot>,
    /// Number of leading snapshots of the current order that are up to date.
    valid: usize,
    tried: Vec<Snapshot>,
    skyline: Skyline,
}

/// The state before the task at a position of the order is placed.
#[derive(Clone, Debug)]
struct Snapshot {
    skyline: Skyline,
    value: f64,
}

/// The limits at which an evaluation stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvaluationLimit {
    /// Maximum value of the schedule that the order gives.
    pub most: f64,
    /// Maximum excess of the value at a snapshot over the value of the current order at the same snapshot. This limit
    /// is a heuristic, because the remaining tasks may reduce the excess.
    pub lead: f64,
    /// The last position at which the order differs from the current order. Values at snapshots are compared only
    /// after this position.
    pub after: usize,
}

impl EvaluationLimit {
    /// An evaluation without limits.
    pub const NONE: Self = Self::at(f64::INFINITY);

    /// Returns a limit on the value.
    pub const fn at(most: f64) -> Self {
        Self { most, lead: f64::INFINITY, after: 0 }
    }
}

/// Approximate number of snapshots of an order. More snapshots save placements but take time to copy.
const SNAPSHOTS: usize = 24;

impl SerialInsertion {
    /// Returns an insertion for orders of `tasks` tasks.
    pub fn new(instance: &Instance, tasks: usize) -> Self {
        Self::on(&Skyline::new(instance), tasks)
    }

    /// Returns an insertion for orders of `tasks` tasks on the free processors of `skyline`.
    pub fn on(skyline: &Skyline, tasks: usize) -> Self {
        let stride = tasks.div_ceil(SNAPSHOTS).max(4);
        let skyline = skyline.clone();
        let snapshots = vec![Snapshot { skyline: skyline.clone(), value: 0.0 }; tasks / stride + 1];
        Self { stride, present: snapshots.clone(), valid: snapshots.len(), tried: snapshots, skyline }
    }

    /// Returns the value of a changed order. Before the position `places.start`, the changed order must agree with the
    /// current order. `fold` receives the value so far, a position, the start of the task at this position and its
    /// request. `fold` returns the new value. The value begins with zero and must never decrease. If the value exceeds
    /// `limit`, the result is infinite. `fold` is called for the positions from [`SerialInsertion::begin`] on.
    pub fn evaluate(
        &mut self,
        places: Range<usize>,
        limit: EvaluationLimit,
        request: impl Fn(usize) -> SerialRequest,
        mut fold: impl FnMut(f64, usize, i64, &SerialRequest) -> f64,
    ) -> f64 {
        let begin = self.begin(places.start);
        let Snapshot { skyline, value } = &self.present[begin / self.stride];
        self.skyline.clone_from(skyline);
        let mut value = *value;
        for place in begin..places.end {
            if place % self.stride == 0 {
                let number = place / self.stride;
                if place > limit.after && number < self.valid && value - self.present[number].value > limit.lead {
                    return f64::INFINITY;
                }
                // Before the first change, the snapshot is also valid for the current order. Store the snapshot in
                // `present`, so that the next evaluation can use it.
                let agrees = place <= places.start && number >= self.valid;
                let snapshot = if agrees { &mut self.present[number] } else { &mut self.tried[number] };
                snapshot.skyline.clone_from(&self.skyline);
                snapshot.value = value;
                if agrees {
                    self.valid = number + 1;
                }
            }
            let request = request(place);
            let start = self.skyline.place(request.processors, request.duration, request.release);
            value = fold(value, place, start, &request);
            if value > limit.most {
                return f64::INFINITY;
            }
        }
        value
    }

    /// Returns the position at which the evaluation of a changed order begins. Before position `from`, the changed
    /// order agrees with the current one.
    pub fn begin(&self, from: usize) -> usize {
        (from / self.stride).min(self.valid - 1) * self.stride
    }

    /// Returns the end of the last task in the last evaluated order. The evaluation must not have stopped early.
    pub fn latest(&self) -> i64 {
        self.skyline.latest()
    }

    /// Makes the last evaluated order the current one. The new order differs from the old order only from position
    /// `from` on.
    pub fn accept(&mut self, from: usize) {
        // Snapshots up to `from` are unchanged.
        let others = self.present.iter_mut().zip(&mut self.tried).skip(from / self.stride + 1);
        others.for_each(|(present, tried)| std::mem::swap(present, tried));
        self.valid = self.present.len();
    }

    /// Discards the snapshots after position `from`, because the current order has changed from there on.
    pub fn forget(&mut self, from: usize) {
        self.valid = self.valid.min(from / self.stride + 1);
    }
}

#[cfg(test)]
mod tests;
