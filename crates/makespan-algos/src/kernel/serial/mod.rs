//! Serial insertion: tasks placed one by one, each at its earliest fit.

use std::ops::Range;

use makespan_core::Instance;

use crate::free_time::Skyline;

/// What one task asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Processors.
    pub processors: u32,
    /// In ticks.
    pub duration: i64,
    /// Not before this instant, in ticks.
    pub release: i64,
}

/// The schedule of an order of tasks by serial insertion, evaluated again from where the order has changed.
///
/// Each task is placed at its earliest fit among those before it, so a task that comes late in the order may still start
/// early in a hole (Kelley 1963; R. Kolisch, "Serial and parallel resource-constrained project scheduling methods
/// revisited", EJOR 90, 1996, DOI 10.1016/0377-2217(95)00357-6). For any objective that never falls when a task ends
/// later, some order and some allotments give an optimum: those of an optimal schedule, by start.
///
/// An order is tried by [`SerialInsertion::evaluate`] from its first changed place on, and becomes the present one by
/// [`SerialInsertion::accept`].
#[derive(Debug)]
pub struct SerialInsertion {
    /// Tasks between two snapshots.
    stride: usize,
    present: Vec<Snapshot>,
    /// How many snapshots of the present order are up to date, from the first one on.
    valid: usize,
    tried: Vec<Snapshot>,
    skyline: Skyline,
}

/// What stands before a place of the order.
#[derive(Clone, Debug)]
struct Snapshot {
    skyline: Skyline,
    value: f64,
}

/// When an evaluation is given up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// As soon as the value is more.
    pub most: f64,
    /// As soon as the value is by more than this above that of the present order, at a snapshot of that one. A guess: what follows
    /// might make up for it.
    pub lead: f64,
    /// The last place where the orders differ: values are compared after it.
    pub after: usize,
}

impl Limit {
    /// Never.
    pub const NONE: Self = Self::at(f64::INFINITY);

    /// As soon as the value is more than this.
    pub const fn at(most: f64) -> Self {
        Self { most, lead: f64::INFINITY, after: 0 }
    }
}

/// Snapshots over the order: more save placements and cost copies.
const SNAPSHOTS: usize = 24;

impl SerialInsertion {
    /// For orders of this many tasks.
    pub fn new(instance: &Instance, tasks: usize) -> Self {
        Self::on(&Skyline::new(instance), tasks)
    }

    /// The same on what is free then.
    pub fn on(skyline: &Skyline, tasks: usize) -> Self {
        let stride = tasks.div_ceil(SNAPSHOTS).max(4);
        let skyline = skyline.clone();
        let snapshots = vec![Snapshot { skyline: skyline.clone(), value: 0.0 }; tasks / stride + 1];
        Self { stride, present: snapshots.clone(), valid: snapshots.len(), tried: snapshots, skyline }
    }

    /// The value of an order that agrees with the present one before place `from`: what `fold` makes of the value so
    /// far, a place, the start of its task and its request, from zero on; infinite as soon as the value, which never falls, is
    /// beyond `limit`. Places are folded from [`SerialInsertion::begin`] on.
    pub fn evaluate(
        &mut self,
        places: Range<usize>,
        limit: Limit,
        request: impl Fn(usize) -> Request,
        mut fold: impl FnMut(f64, usize, i64, &Request) -> f64,
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
                // What agrees with the present order need not be evaluated again for another one.
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

    /// The first place that is evaluated where an order agrees with the present one before `from`.
    pub fn begin(&self, from: usize) -> usize {
        (from / self.stride).min(self.valid - 1) * self.stride
    }

    /// When the last task of the order that was evaluated last ends, if it was evaluated to its end.
    pub fn latest(&self) -> i64 {
        self.skyline.latest()
    }

    /// The order that was evaluated last, from place `from` on, is the present one.
    pub fn accept(&mut self, from: usize) {
        // What stands before a place up to `from` is as it was.
        let others = self.present.iter_mut().zip(&mut self.tried).skip(from / self.stride + 1);
        others.for_each(|(present, tried)| std::mem::swap(present, tried));
        self.valid = self.present.len();
    }

    /// The present order has changed from place `from` on: what follows is evaluated again.
    pub fn forget(&mut self, from: usize) {
        self.valid = self.valid.min(from / self.stride + 1);
    }
}

#[cfg(test)]
mod tests;
