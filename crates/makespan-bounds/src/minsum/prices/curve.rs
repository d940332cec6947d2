//! The cheapest choice of a job at given prices, in floating point.

use super::allotments::PricedAllotment;
use super::rooms::LevelPeriods;

/// Prices that are constant between instants, and their integral.
pub(super) struct Curve {
    instants: Vec<f64>,
    prices: Vec<f64>,
    /// For each instant, the integral of the price from the first instant to this instant.
    integrals: Vec<f64>,
    /// The instants at which the price falls, each with the integral of the price up to this instant.
    falls: Vec<(f64, f64)>,
    /// The instants at which the price rises, each with the integral of the price up to this instant.
    rises: Vec<(f64, f64)>,
    /// The instant by which all jobs must end. It may be infinite.
    horizon: f64,
    /// The periods in which jobs may run, or `None` if jobs may run at all times.
    rooms: Option<LevelPeriods>,
}

/// The data of a job that determine its cheapest start.
#[derive(Clone, Copy)]
struct Waiting {
    weight: f64,
    release: f64,
}

/// The cheapest choice of a job.
#[derive(Clone, Copy)]
pub(super) struct Best {
    pub(super) cost: f64,
    pub(super) start: f64,
    pub(super) allotment: usize,
}

impl Curve {
    /// Builds a curve from instants and the prices between them. The number of prices is one less than the number of
    /// instants.
    pub(super) fn new(instants: Vec<f64>, mut prices: Vec<f64>, horizon: f64, rooms: Option<LevelPeriods>) -> Self {
        prices.push(0.0);
        let integrals = vec![0.0; instants.len()];
        let mut curve = Self { instants, prices, integrals, falls: Vec::new(), rises: Vec::new(), horizon, rooms };
        curve.integrate();
        curve
    }

    fn integrate(&mut self) {
        let (mut integral, mut before) = (0.0, 0.0);
        for index in 0..self.instants.len() {
            if index > 0 {
                integral += before * (self.instants[index] - self.instants[index - 1]);
            }
            self.integrals[index] = integral;
            let after = self.prices[index];
            if after < before {
                self.falls.push((self.instants[index], integral));
            } else if after > before {
                self.rises.push((self.instants[index], integral));
            }
            before = after;
        }
    }

    fn cursor(&self, instant: f64) -> usize {
        self.instants.partition_point(|&other| other <= instant)
    }

    fn advance(&self, cursor: &mut usize, instant: f64) -> f64 {
        while *cursor < self.instants.len() && self.instants[*cursor] <= instant {
            *cursor += 1;
        }
        match cursor.checked_sub(1) {
            Some(index) => self.integrals[index] + self.prices[index] * (instant - self.instants[index]),
            None => 0.0,
        }
    }

    /// Finds the cheapest start of one allotment. If this start costs less than `best`, replaces `best` by this start.
    /// `before` is the integral of the price up to the release.
    #[inline]
    fn improve(&self, best: &mut Best, job: Waiting, before: f64, shape: PricedAllotment, allotment: usize) {
        let (Waiting { weight, release }, PricedAllotment { processors, time, .. }) = (job, shape);
        let latest = self.horizon - time;
        if latest < release {
            return;
        }
        if let Some(rooms) = &self.rooms {
            self.improve_within(rooms, best, job, shape, allotment);
            return;
        }
        let mut end = self.cursor(release + time);
        let price = self.advance(&mut end, release + time) - before;
        let mut least = (weight * (release + time) + processors * price, release);
        let from = self.falls.partition_point(|fall| fall.0 <= release);
        for &(start, before) in &self.falls[from..] {
            let waiting = weight * (start + time);
            if waiting >= least.0 || start > latest {
                break;
            }
            let cost = waiting + processors * (self.advance(&mut end, start + time) - before);
            if cost < least.0 {
                least = (cost, start);
            }
        }
        let from = self.rises.partition_point(|rise| rise.0 <= release + time);
        if from < self.rises.len() {
            let mut begin = self.cursor(release);
            for &(end, after) in &self.rises[from..] {
                let waiting = weight * end;
                if waiting >= least.0 || end > self.horizon {
                    break;
                }
                let cost = waiting + processors * (after - self.advance(&mut begin, end - time));
                if cost < least.0 {
                    least = (cost, end - time);
                }
            }
        }
        if latest.is_finite() {
            let price = |instant| self.advance(&mut self.cursor(instant), instant);
            let cost = weight * self.horizon + processors * (price(self.horizon) - price(latest));
            if cost < least.0 {
                least = (cost, latest);
            }
        }
        if least.0 < best.cost {
            *best = Best { cost: least.0, start: least.1, allotment };
        }
    }

    /// Finds the cheapest start as [`Self::improve`] does, but only in the periods of `rooms`.
    fn improve_within(
        &self,
        rooms: &LevelPeriods,
        best: &mut Best,
        Waiting { weight, release }: Waiting,
        PricedAllotment { processors, time, .. }: PricedAllotment,
        allotment: usize,
    ) {
        for &(from, until) in rooms.of_processors(processors) {
            let (first, last) = (from.max(release), until.min(self.horizon) - time);
            if last < first {
                continue;
            }
            if weight * (first + time) >= best.cost {
                break;
            }
            let falls = self.falls.iter().map(|fall| fall.0);
            let rises = self.rises.iter().map(|rise| rise.0 - time);
            let ends = [first, last].into_iter().filter(|start| start.is_finite());
            for start in ends.chain(falls).chain(rises).filter(|start| (first..=last).contains(start)) {
                let at = |instant: f64| self.advance(&mut self.cursor(instant), instant);
                let cost = weight * (start + time) + processors * (at(start + time) - at(start));
                if cost < best.cost {
                    *best = Best { cost, start, allotment };
                }
            }
        }
    }

    /// Returns the cheapest choice of a job among the allotments `shapes`.
    pub(super) fn best(&self, weight: f64, release: f64, shapes: &[PricedAllotment]) -> Best {
        let before = self.advance(&mut self.cursor(release), release);
        let mut best = Best { cost: f64::INFINITY, start: release, allotment: shapes.len() - 1 };
        for (allotment, &shape) in shapes.iter().enumerate() {
            if weight * (release + shape.time) < best.cost {
                self.improve(&mut best, Waiting { weight, release }, before, shape, allotment);
            }
        }
        best
    }
}
