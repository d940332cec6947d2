//! Newton's method on the smoothed Lagrangian function, while the smoothing decreases.
//!
//! Source of the smoothing: Y. Nesterov, "Smooth minimization of non-smooth functions", Math. Programming 103, 2005,
//! DOI 10.1007/s10107-004-0552-5. A logarithmic barrier keeps the prices positive.

use super::matrix::Matrix;
use super::smooth::{Landscape, Point, Scope};

/// The first temperature. The temperature is the width of a soft minimum as a fraction of the cost of the job.
const HOT: f64 = 0.03;
/// The lowest temperature of most searches.
pub(super) const COLD: f64 = 1e-4;
/// The factor by which the temperature is multiplied when it decreases.
const COOLING: f64 = 0.4;
/// The lowest temperature at which every step tries all choices.
const WARM: f64 = 4e-3;
/// Below the temperature `WARM`, one of every `REFRESH` steps tries all choices. All other steps try only choices near
/// the best choice.
const REFRESH: usize = 4;
/// The weight of the barrier, divided by a product: the temperature times the total cost of the jobs.
const BARRIER: f64 = 0.1;
/// The temperature decreases when a step gains less than this fraction of the possible loss by smoothing. The possible
/// loss is the temperature times the value.
const SMALL: f64 = 0.3;
/// Maximum number of steps at one temperature.
const MAX_STEPS: usize = 24;
/// Maximum number of lengths that are tried for one step. If all of them fail, the temperature decreases.
const SHORTER: usize = 8;

/// The state of the search on one grid of instants.
pub(super) struct Newton {
    pub(super) landscape: Landscape,
    temperature: f64,
    /// The temperature at which the search ends.
    coldest: f64,
    /// For each job, the width of its soft minimum.
    widths: Vec<f64>,
    barrier: f64,
    /// The strength of the damping, which keeps the relative changes of prices in a step small.
    caution: f64,
    point: Point,
    /// The last point at which all choices were tried. The first field contains its integrals, the second its value
    /// with the barrier.
    anchor: (Vec<f64>, f64),
    /// The number of steps at the current temperature.
    steps: usize,
    /// The best bound, and the integrals of its prices.
    best: (f64, Vec<f64>),
    done: bool,
}

impl Newton {
    /// Begins a search at the integrals of positive prices. The temperature never falls below `coldest`.
    pub(super) fn new(mut landscape: Landscape, integrals: Vec<f64>, coldest: f64) -> Self {
        let widths = vec![0.0; landscape.jobs.count()];
        let point = landscape.evaluate(&integrals, &widths, Scope::All);
        let anchor = (integrals.clone(), f64::NEG_INFINITY);
        let best = (point.value, integrals);
        let (temperature, barrier, caution, steps) = (HOT, 0.0, 0.0, 0);
        let mut newton =
            Self { landscape, temperature, coldest, widths, barrier, caution, point, anchor, steps, best, done: false };
        newton.rescale();
        newton
    }

    /// Continues the search on a new grid of instants. `integrals` contains the integrals of the current prices on this
    /// grid, and `open` the capacities between the instants.
    pub(super) fn place_on(&mut self, instants: Vec<f64>, open: Vec<f64>, integrals: Vec<f64>) {
        self.landscape.place_on(instants, open);
        self.point = self.landscape.evaluate(&integrals, &self.widths, Scope::All);
        self.anchor = (integrals.clone(), self.total(&self.point));
        self.best = (self.point.value, integrals);
    }

    /// Replaces the allotments of each job by up to `most` allotments near the best allotments of the job, and up to
    /// `far` other allotments.
    pub(super) fn look_closer(&mut self, most: usize, far: usize) {
        self.landscape.look_closer(most, far);
        // Compute the value of the best prices again, because this value depends on the allotments that are tried.
        self.best.0 = self.landscape.evaluate(&self.best.1, &self.widths, Scope::All).value;
        self.rescale();
    }

    /// Returns true if further steps would change nothing.
    pub(super) fn has_ended(&self) -> bool {
        self.done
    }

    pub(super) fn temperature(&self) -> f64 {
        self.temperature
    }

    pub(super) fn point(&self) -> &Point {
        &self.point
    }

    /// Returns the bound from the best prices, before rounding.
    pub(super) fn value(&self) -> f64 {
        self.best.0
    }

    /// Returns the integrals of the best prices on the current grid of instants.
    pub(super) fn best(&self) -> &[f64] {
        &self.best.1
    }

    /// Sets the widths for the current temperature, and evaluates the current point.
    fn rescale(&mut self) {
        let Landscape { jobs, .. } = &self.landscape;
        let total: f64 = self.point.costs.iter().zip(&jobs.counts).map(|(cost, count)| cost * count).sum();
        for (width, cost) in self.widths.iter_mut().zip(&self.point.costs) {
            *width = self.temperature * cost;
        }
        self.barrier = BARRIER * self.temperature * total / self.point.integrals.len() as f64;
        self.steps = 0;
        self.point = self.landscape.evaluate(&self.point.integrals, &self.widths, Scope::All);
        self.keep();
        self.anchor = (self.point.integrals.clone(), self.total(&self.point));
        self.done |= total <= 0.0;
    }

    /// Tries all choices at the current point. The anchor is the last point at which all choices were tried. If the
    /// value is less than the value at the anchor, moves back to the anchor and returns false. Keeps the choices that
    /// were found.
    fn refresh(&mut self) -> bool {
        self.point = self.landscape.evaluate(&self.point.integrals, &self.widths, Scope::More);
        self.keep();
        let total = self.total(&self.point);
        if total < self.anchor.1 {
            self.point = self.landscape.evaluate(&self.anchor.0, &self.widths, Scope::Near);
            return false;
        }
        self.anchor.0.clone_from(&self.point.integrals);
        self.anchor.1 = total;
        true
    }

    fn keep(&mut self) {
        if self.point.value > self.best.0 {
            self.best.0 = self.point.value;
            self.best.1.clone_from(&self.point.integrals);
            // The prices refute the deadline. More steps would only increase the prices without limit.
            self.done |= self.best.0 > self.landscape.most();
        }
    }

    /// Makes one step of Newton's method. Decreases the temperature if more steps at the current temperature would gain
    /// little.
    pub(super) fn step(&mut self) {
        if self.done {
            return;
        }
        let scope = if self.temperature >= WARM { Scope::All } else { Scope::Near };
        self.steps += 1;
        if scope == Scope::Near && self.steps.is_multiple_of(REFRESH) {
            self.refresh();
        }
        let (gradient, curvature) = self.with_barrier();
        let Some(direction) = curvature.solve(&gradient) else {
            self.done = true;
            return;
        };
        let gain: f64 = gradient.iter().zip(&direction).map(|(slope, step)| slope * step).sum();
        let from = self.total(&self.point);
        let mut length = self.longest(&direction).min(1.0);
        let mut next = None;
        for _ in 0..SHORTER {
            let along = self.point.integrals.iter().zip(&direction);
            let moved: Vec<f64> = along.map(|(integral, step)| integral + length * step).collect();
            let point = self.landscape.evaluate(&moved, &self.widths, scope);
            if self.total(&point) >= from + 0.01 * length * gain {
                next = Some(point);
                break;
            }
            length *= 0.4;
        }
        let loss = self.temperature * self.point.value.abs();
        // Ignore a small gain if the damping is strong, because an undamped step could gain much more.
        let free = self.caution * self.point.integrals.len() as f64 <= loss;
        let small = gain <= if free { SMALL } else { 0.01 * SMALL } * loss || self.steps >= MAX_STEPS;
        let stuck = next.is_none();
        if let Some(next) = next {
            self.point = next;
            if scope == Scope::All {
                self.keep();
            }
        }
        if length >= 0.9 {
            self.caution /= 8.0;
        } else if length < 0.3 {
            self.hold_back();
        }
        if (stuck || (small && length >= 0.9)) && (scope == Scope::All || self.refresh()) {
            self.cool();
        }
    }

    fn hold_back(&mut self) {
        let least = 1e-2 * self.temperature * self.point.value.abs() / self.point.integrals.len() as f64;
        self.caution = (self.caution * 6.0).max(least).max(f64::MIN_POSITIVE);
    }

    fn cool(&mut self) {
        if self.temperature * COOLING < self.coldest {
            self.done = true;
            return;
        }
        self.temperature *= COOLING;
        self.rescale();
    }

    /// Returns the value of the smooth function plus the barrier.
    fn total(&self, point: &Point) -> f64 {
        let after = &point.integrals[self.landscape.terms().count()..];
        let logarithm = |(before, after): (&f64, &f64)| (after - before).ln();
        point.smooth + self.barrier * point.integrals.iter().zip(after).map(logarithm).sum::<f64>()
    }

    /// Returns the gradient and the negated second derivatives of the smooth function plus the barrier. The first
    /// integral of each term stays zero.
    fn with_barrier(&self) -> (Vec<f64>, Matrix) {
        let (mut gradient, mut curvature) = (self.point.gradient.clone(), self.point.curvature.clone());
        let (integrals, terms) = (&self.point.integrals, self.landscape.terms().count());
        for index in 0..integrals.len() - terms {
            let length = integrals[index + terms] - integrals[index];
            let slope = self.barrier / length;
            gradient[index] -= slope;
            gradient[index + terms] += slope;
            let bend = (slope + self.caution / length) / length;
            curvature.add(index, index, bend);
            curvature.add(index + terms, index + terms, bend);
            curvature.add(index + terms, index, -bend);
        }
        gradient[..terms].fill(0.0);
        (0..terms).for_each(|first| curvature.fix(first));
        (gradient, curvature)
    }

    /// Returns the step length at which some price first falls to nearly zero.
    fn longest(&self, direction: &[f64]) -> f64 {
        let (integrals, terms) = (&self.point.integrals, self.landscape.terms().count());
        let limit = |index: usize| {
            let (length, change) =
                (integrals[index + terms] - integrals[index], direction[index + terms] - direction[index]);
            if change < 0.0 { -0.95 * length / change } else { f64::INFINITY }
        };
        (0..integrals.len() - terms).map(limit).fold(f64::INFINITY, f64::min)
    }
}
