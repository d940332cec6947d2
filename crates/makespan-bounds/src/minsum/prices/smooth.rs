//! The smoothed Lagrangian function of the prices, with its first and second derivatives.
//!
//! The variables are the integrals `L_j` of the price from the first instant to instant j. The integral L(t) up to any
//! time t is linear between instants. Consider a job of weight w in an allotment of k processors and run time p. If the
//! job starts at s, its cost is `w (s + p) + k (L(s + p) - L(s))`, which is linear in the variables. The bound is the
//! sum over the jobs of the least cost, minus the price of the capacity.
//!
//! The bound has kinks at prices at which two choices of a job have equal costs. The soft minimum `-width ln sum
//! exp(-cost / width)` is smooth, and it is less than the minimum by at most `width ln choices`. Each choice has a
//! share proportional to `exp(-cost / width)`. The gradient of the soft minimum is the mean of the gradients of the
//! choices, weighted by the shares. The second derivative is minus the covariance of these gradients, divided by the
//! width.
//!
//! If there are several [`Terms`], each has its own integrals. The integrals of all terms at one instant are stored
//! next to each other. The payment of a choice is a sum over the terms. For each term, integrate the price of the term
//! over the run of the choice, and multiply the integral by the value of the choice in this term.

use super::allotments::{FloatJobs, PricedAllotment};
use super::matrix::Matrix;
use super::rooms::LevelPeriods;
use super::terms::{MAX_OF_ONE, Terms, Values};

/// A point in time. `node` is the index of the last grid instant before the point. `share` is the position of the point
/// between this instant (0) and the next instant (1).
#[derive(Clone, Copy)]
struct Place {
    node: usize,
    share: f64,
}

/// A choice: one start of one allotment.
#[derive(Clone, Copy)]
struct Candidate {
    /// The cost of the choice. After all costs are computed, the share of the choice in the soft minimum replaces the
    /// cost.
    cost: f64,
    start: Place,
    end: Place,
    shape: usize,
}

/// The choices of one job that have been collected so far.
struct CollectedChoices<'a> {
    /// The integrals of all terms at each instant.
    integrals: &'a [f64],
    terms: usize,
    /// Maximum difference between the cost of a collected choice and the least cost.
    margin: f64,
    /// Maximum of this difference as a fraction of the least cost. The larger one of the two limits applies.
    near: f64,
    least: f64,
    candidates: Vec<Candidate>,
}

impl CollectedChoices<'_> {
    /// Returns the integral of the price of a term up to a point in time.
    #[inline]
    fn at(&self, term: u32, place: Place) -> f64 {
        let index = place.node * self.terms + term as usize;
        let before = self.integrals[index];
        self.integrals.get(index + self.terms).map_or(before, |after| before + place.share * (after - before))
    }

    /// Returns the payment of a job from `start` to `end`. `values` contains the value of the job in each term.
    #[inline]
    fn paid(&self, start: Place, end: Place, values: &[(u32, f64)]) -> f64 {
        let mut sum = 0.0;
        for &(term, value) in values {
            sum += value * (self.at(term, end) - self.at(term, start));
        }
        sum
    }

    /// Returns the cost above which choices are not collected.
    fn dear(&self) -> f64 {
        self.least + self.margin.max(self.near * self.least)
    }

    fn offer(&mut self, candidate: Candidate) {
        if self.least == f64::INFINITY || candidate.cost <= self.dear() {
            self.least = self.least.min(candidate.cost);
            self.candidates.push(candidate);
        }
    }
}

/// A range of starts: the index of the instant before the first start, and the index of the instant before the last
/// start. The range is empty if the first index is larger than the second.
type Window = (u32, u32);
/// The empty range.
const CLOSED: Window = (u32::MAX, 0);

/// The jobs, the grid of instants, and the capacities between instants. These data determine the bound and the smooth
/// function.
pub(super) struct Landscape {
    pub(super) jobs: FloatJobs,
    pub(super) instants: Vec<f64>,
    terms: Terms,
    /// For each allotment, its value in each term.
    values: Values,
    /// For each interval between instants, the mean capacity of each term.
    open: Vec<f64>,
    /// The instant by which all jobs must end. It may be infinite.
    horizon: f64,
    /// The periods in which jobs may run, or `None` if jobs may run at all times.
    rooms: Option<LevelPeriods>,
    /// For each job, the cost of omitting the job. Empty if no job may be omitted.
    drops: Vec<f64>,
    /// True if the search tries runs that end at an instant of the grid, in addition to runs that start at such an
    /// instant. The additional runs are necessary if prices may rise.
    pub(super) ends: bool,
    /// For each allotment, the starts that are tried with [`Scope::Near`]. Each evaluation with [`Scope::All`]
    /// replaces these starts.
    windows: Vec<Window>,
    candidates: Vec<Candidate>,
    touched: Vec<usize>,
    slope: Vec<f64>,
}

/// The bound and the smooth function at given integrals of the price, with their derivatives.
pub(super) struct Point {
    /// For each instant, the integral of the price of each term from the first instant to this instant.
    pub(super) integrals: Vec<f64>,
    /// The bound. The bound is exact if all allotments and starts were tried.
    pub(super) value: f64,
    /// The value of the smooth function. It is at most `value`.
    pub(super) smooth: f64,
    pub(super) gradient: Vec<f64>,
    /// Minus the second derivative of the smooth function.
    pub(super) curvature: Matrix,
    /// The least cost of each job.
    pub(super) costs: Vec<f64>,
    /// For each interval between instants, the sum of the second derivatives of the costs of jobs that start or end in
    /// this interval.
    pub(super) bends: Vec<f64>,
}

/// The choices that an evaluation tries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// All choices. The choices near the best one replace the choices that `Near` tries.
    All,
    /// All choices. The choices near the best one are added to the choices that `Near` tries.
    More,
    /// Only the choices that were near the best one in an earlier evaluation.
    Near,
}

/// Maximum difference between the cost of a choice and the least cost, in widths of the soft minimum. A choice with a
/// larger difference is ignored.
const NEGLIGIBLE: f64 = 14.0;
/// Maximum difference between the cost of a choice and the least cost, as a fraction of the least cost, for
/// [`Scope::Near`]. A choice with a larger difference is tried again only when all choices are tried.
const NEAR: f64 = 0.01;

impl Landscape {
    pub(super) fn new(jobs: FloatJobs, terms: Terms, horizon: f64, rooms: Option<LevelPeriods>, ends: bool) -> Self {
        let (instants, open, windows, slope) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (candidates, touched) = (Vec::new(), Vec::new());
        let (values, drops) = (terms.values(&jobs.shapes), Vec::new());
        Self { jobs, instants, terms, values, open, horizon, rooms, drops, ends, windows, candidates, touched, slope }
    }

    /// Allows solutions that omit jobs. The cost of omitting a job is the least work of the job. If the optimum omits a
    /// job, not all jobs can end by the horizon.
    pub(super) fn leave_out(&mut self) {
        let least = |job: usize| {
            self.jobs.shapes[self.jobs.all(job)].iter().map(PricedAllotment::work).fold(f64::INFINITY, f64::min)
        };
        self.drops = (0..self.jobs.count()).map(least).collect();
    }

    pub(super) fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Returns the number of integrals of all terms together.
    fn variables(&self) -> usize {
        self.instants.len() * self.terms.count()
    }

    /// Returns the weighted completion of a schedule in which all jobs end at the horizon. If a bound exceeds this
    /// value, not all jobs can end by the horizon.
    pub(super) fn most(&self) -> f64 {
        let weight: f64 = self.jobs.weights.iter().zip(&self.jobs.counts).map(|(weight, count)| weight * count).sum();
        if weight > 0.0 { weight * self.horizon } else { f64::INFINITY }
    }

    /// Replaces the instants and the capacities between them.
    pub(super) fn place_on(&mut self, instants: Vec<f64>, open: Vec<f64>) {
        self.windows = vec![CLOSED; self.jobs.shapes.len()];
        self.instants = instants;
        self.slope = vec![0.0; self.variables()];
        self.open = open;
    }

    /// Replaces the allotments of each job (see [`FloatJobs::around`]). An allotment is active if it was nearly the
    /// best one when all choices were last tried.
    pub(super) fn look_closer(&mut self, most: usize, far: usize) {
        if matches!(self.terms, Terms::Nodes(_)) {
            return;
        }
        self.jobs = self.jobs.around(|shape| self.windows[shape] != CLOSED, most, far);
        self.values = self.terms.values(&self.jobs.shapes);
        self.windows = vec![CLOSED; self.jobs.shapes.len()];
    }

    /// Returns the position of `instant` on the grid. The search for this position begins at the grid instant with the
    /// index `from`.
    fn place(&self, instant: f64, from: usize) -> Place {
        let mut node = from;
        let last = self.instants.len() - 1;
        while node < last && self.instants[node + 1] <= instant {
            node += 1;
        }
        if node == last {
            return Place { node, share: 0.0 };
        }
        let (before, after) = (self.instants[node], self.instants[node + 1]);
        Place { node, share: ((instant - before) / (after - before)).max(0.0) }
    }

    fn find(&self, instant: f64) -> Place {
        self.place(instant, self.instants.partition_point(|&other| other <= instant).saturating_sub(1))
    }

    /// Evaluates the bound and the smooth function. `widths` contains the width of the soft minimum of each job. A job
    /// with the width zero contributes no derivatives.
    pub(super) fn evaluate(&mut self, integrals: &[f64], widths: &[f64], scope: Scope) -> Point {
        let (count, variables) = (self.instants.len(), self.variables());
        let mut point = Point {
            integrals: integrals.to_vec(),
            value: 0.0,
            smooth: 0.0,
            gradient: vec![0.0; variables],
            curvature: Matrix::zeros(variables),
            costs: vec![0.0; self.jobs.count()],
            bends: vec![0.0; count],
        };
        for (job, &width) in widths.iter().enumerate() {
            let least = self.search(job, integrals, width, scope);
            point.costs[job] = least;
            point.value += self.jobs.counts[job] * least;
            point.smooth += self.jobs.counts[job] * least;
            if width > 0.0 {
                point.smooth += self.soften(job, width, &mut point);
            }
        }
        let terms = self.terms.count();
        for (index, open) in self.open.iter().enumerate() {
            let paid = open * (integrals[index + terms] - integrals[index]);
            point.value -= paid;
            point.smooth -= paid;
            point.gradient[index] += open;
            point.gradient[index + terms] -= open;
        }
        point
    }

    /// Returns the least cost of a job. Collects the choices that cost little more than the cheapest choice.
    fn search(&mut self, job: usize, integrals: &[f64], width: f64, scope: Scope) -> f64 {
        let all = scope != Scope::Near;
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        let near = if all { NEAR } else { 0.0 };
        let (terms, margin) = (self.terms.count(), NEGLIGIBLE * width);
        let mut found = CollectedChoices { integrals, terms, margin, near, least: f64::INFINITY, candidates };
        for shape in self.jobs.all(job) {
            let window = if all { (0, u32::MAX) } else { self.windows[shape] };
            if window != CLOSED {
                self.starts(job, shape, window, self.rooms.as_ref(), &mut found);
            }
        }
        if let Some(&cost) = self.drops.get(job) {
            let nowhere = Place { node: 0, share: 0.0 };
            found.offer(Candidate { cost, start: nowhere, end: nowhere, shape: self.jobs.all(job).start });
        }
        if found.least == f64::INFINITY && self.rooms.is_some() {
            // None of the allotments of the search can run outside the unavailable periods. But the check of the
            // certificate may find another allotment that can. So ignore these periods.
            for shape in self.jobs.all(job) {
                self.starts(job, shape, (0, u32::MAX), None, &mut found);
            }
        }
        let CollectedChoices { least, mut candidates, .. } = found;
        if all {
            let near = least + (NEGLIGIBLE * width).max(NEAR * least);
            if scope == Scope::All {
                self.windows[self.jobs.all(job)].fill(CLOSED);
            }
            for candidate in candidates.iter().filter(|candidate| candidate.cost <= near) {
                let window = &mut self.windows[candidate.shape];
                let node = candidate.start.node as u32;
                *window = (window.0.min(node.saturating_sub(1)), window.1.max(node + 1));
            }
        }
        let limit = least + NEGLIGIBLE * width;
        candidates.retain(|candidate| candidate.cost < limit);
        candidates.iter_mut().for_each(|candidate| candidate.cost = ((least - candidate.cost) / width).exp());
        self.candidates = candidates;
        least
    }

    /// Collects the choices with one allotment and a start in `window`.
    fn starts(
        &self,
        job: usize,
        shape: usize,
        window: Window,
        rooms: Option<&LevelPeriods>,
        found: &mut CollectedChoices<'_>,
    ) {
        let (weight, release) = (self.jobs.weights[job], self.jobs.releases[job]);
        let PricedAllotment { processors, time, .. } = self.jobs.shapes[shape];
        let latest = self.horizon - time;
        if latest < release {
            return;
        }
        let values = self.values.of(shape);
        let offer = |start: Place, completion: f64, end: Place, found: &mut CollectedChoices<'_>| {
            let cost = weight * completion + found.paid(start, end, values);
            found.offer(Candidate { cost, start, end, shape });
        };
        let allowed = |start: f64| rooms.is_none_or(|rooms| rooms.allow(processors, start, start + time));
        let first = self.find(release);
        let (from, until) = (window.0 as usize, (window.1 as usize).min(self.instants.len() - 1));
        let mut end = self.place(release + time, first.node);
        if from <= first.node && allowed(release) {
            offer(first, release + time, end, found);
        }
        for node in from.max(first.node + 1)..=until {
            let begin = self.instants[node];
            if weight * (begin + time) >= found.dear() || begin > latest {
                break;
            }
            end = self.place(begin + time, end.node);
            if allowed(begin) {
                offer(Place { node, share: 0.0 }, begin + time, end, found);
            }
        }
        let last = self.instants.len() - 1;
        if let Some(rooms) = rooms
            && until == last
            && let Some(begin) =
                rooms.opening_after(self.instants[last].max(release), PricedAllotment { processors, time, node: 0 })
            && begin <= latest
        {
            let behind = Place { node: last, share: 0.0 };
            offer(behind, begin + time, behind, found);
        }
        if self.ends {
            let earliest = release.max(self.instants[from.min(self.instants.len() - 1)]) + time;
            let mut start = first;
            for node in self.instants.partition_point(|&instant| instant <= earliest)..self.instants.len() {
                let end = self.instants[node];
                if weight * end >= found.dear() || end > self.horizon {
                    break;
                }
                start = self.place(end - time, start.node);
                if start.node > until {
                    break;
                }
                if rooms.is_none_or(|rooms| rooms.allow(processors, end - time, end)) {
                    offer(start, end, Place { node, share: 0.0 }, found);
                }
            }
        }
        if latest.is_finite() && allowed(latest) {
            offer(self.find(latest), self.horizon, self.find(self.horizon), found);
        }
    }

    /// Returns d times the number of equal jobs. Here, d is the soft minimum of the costs of the collected choices
    /// minus the minimum of these costs, so the result is never positive. Adds the derivatives to `point`.
    fn soften(&mut self, job: usize, width: f64, point: &mut Point) -> f64 {
        let (count, terms) = (self.jobs.counts[job], self.terms.count());
        let sum: f64 = self.candidates.iter().map(|candidate| candidate.cost).sum();
        let mut touched = std::mem::take(&mut self.touched);
        touched.clear();
        for &Candidate { cost, start, end, shape } in &self.candidates {
            let PricedAllotment { time, .. } = self.jobs.shapes[shape];
            let share = cost / sum;
            let mut all = [(0, 0.0); 4 * MAX_OF_ONE];
            let values = self.values.of(shape);
            for (parts, &(term, value)) in all.chunks_exact_mut(4).zip(values) {
                let index = |node: usize| node * terms + term as usize;
                parts.copy_from_slice(&[
                    (index(start.node), -value * (1.0 - start.share)),
                    (index(start.node + 1), -value * start.share),
                    (index(end.node), value * (1.0 - end.share)),
                    (index(end.node + 1), value * end.share),
                ]);
            }
            let parts = &all[..4 * values.len()];
            for place in [start, end] {
                if place.node + 1 < self.instants.len() {
                    let length = self.instants[place.node + 1] - self.instants[place.node];
                    let weight = if self.drops.is_empty() { self.jobs.weights[job] } else { 1.0 };
                    point.bends[place.node] += share * count * weight / time.max(length);
                }
            }
            for (at, &(node, part)) in parts.iter().enumerate().filter(|(_, (_, part))| *part != 0.0) {
                touched.push(node);
                self.slope[node] += share * part;
                let scaled = count * share / width * part;
                point.curvature.add(node, node, scaled * part);
                for &(other, second) in parts[..at].iter().filter(|(_, part)| *part != 0.0) {
                    // If both entries of the pair belong to the same integral, the product is added twice to the
                    // diagonal: once for each order of the two entries.
                    let both = if other == node { 2.0 } else { 1.0 };
                    point.curvature.add(node, other, both * scaled * second);
                }
            }
        }
        touched.sort_unstable();
        touched.dedup();
        for (at, &node) in touched.iter().enumerate() {
            point.gradient[node] += count * self.slope[node];
            let scaled = count / width * self.slope[node];
            for &other in &touched[..=at] {
                point.curvature.add(node, other, -scaled * self.slope[other]);
            }
        }
        touched.iter().for_each(|&node| self.slope[node] = 0.0);
        self.touched = touched;
        -count * width * sum.ln()
    }
}
