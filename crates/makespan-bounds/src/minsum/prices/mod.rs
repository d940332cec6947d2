//! Lower bounds on weighted completion by prices in continuous time: what [`TimePrices`] proves, made large.

mod allotments;
mod fluid;
mod function;
mod search;

use makespan_core::certificate::TimePrices;
use makespan_core::{Bound, Certificate, Instance, Job, JobId, Objective, Time, Weight};

use allotments::Jobs;
use fluid::Piece;
use function::Curve;
use search::Dual;

use super::rounding::{finest, rounded};

/// Evenly spaced and geometrically spaced instants.
const EVEN: usize = 48;
const GEOMETRIC: usize = 24;
/// The search tries so many allotments of a job, in geometric progression. More were not better by 1 in 10,000.
const ALLOTMENTS: usize = 24;
/// The search knows so many allotments of all jobs together; of larger instances it takes every so manieth job.
const SAMPLE: usize = 12_000;
/// Instants times allotments that the check is given at most, which is some seconds.
const MOST_CELLS: usize = 600_000_000;
/// Fewer instants than this are not worth the time.
const FEWEST: usize = 16;

/// What a [`PriceSearch`] is to bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriceOptions {
    /// Weighted completion, or mean flow, for which all weights count as one.
    pub objective: Objective,
    /// Bound only the schedules whose makespan is at most this.
    pub makespan_at_most: Option<Time>,
}

impl Default for PriceOptions {
    /// Weighted completion of all schedules.
    fn default() -> Self {
        Self { objective: Objective::WeightedCompletion, makespan_at_most: None }
    }
}

/// A search for prices that give a high lower bound, and for the choices that they suggest. It keeps its state between
/// calls, so that a caller can use what there is and come back for more. It is deterministic: what is found depends
/// on the number of steps alone.
///
/// It owns all that it needs; the instance that is passed later must be the one that it was made of.
pub struct PriceSearch {
    options: PriceOptions,
    instants: Vec<Time>,
    dual: Dual,
}

/// How one job reacts to the prices: the allotment and the start of least cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PricedChoice {
    /// The job.
    pub job: JobId,
    /// The allotment.
    pub processors: u32,
    /// When the job would start, not before its release date.
    pub start: Time,
}

impl PriceSearch {
    /// A search that has made no step. `None` when the processors differ in speed or form a tree, when some job cannot
    /// end by `makespan_at_most`, when the objective is the makespan, or when the instance is so large that checking
    /// the prices would take minutes.
    pub fn new(instance: &Instance, options: PriceOptions) -> Option<Self> {
        let feasible =
            |job: &Job| options.makespan_at_most.is_none_or(|most| job.profile().shortest() <= most - job.release);
        let cells: usize = instance.jobs().iter().map(choices).sum();
        let most = MOST_CELLS / cells.max(1);
        if !instance.platform().is_homogeneous()
            || options.objective == Objective::Makespan
            || !instance.jobs().iter().all(feasible)
            || most < FEWEST
        {
            return None;
        }
        // Half the jobs with twice the usage have nearly the same best prices, if there are many.
        let shapes: usize = instance.jobs().iter().map(|job| choices(job).min(ALLOTMENTS)).sum();
        let stride = shapes.div_ceil(SAMPLE).max(1);
        let jobs = Jobs::new(instance.jobs().iter().step_by(stride), ALLOTMENTS, options.weigh());
        let factor = instance.jobs().len() as f64 / jobs.count().max(1) as f64;
        let start = fluid(&jobs, factor, instance.processors());
        let instants = instants(instance, &jobs, &start, most);
        let prices: Vec<f64> = instants.windows(2).map(|pair| at(&start, middle(pair))).collect();
        let horizon = options.makespan_at_most.map_or(f64::INFINITY, |most| most.ticks() as f64);
        let curve = Curve::new(instants.iter().map(|instant| instant.ticks() as f64).collect(), horizon);
        let area = |pair: &[Time]| instance.availability().open_area(pair[0], pair[1]) as f64;
        let areas = instants.windows(2).map(area).collect();
        let dual = Dual::new(jobs, curve, areas, factor, &prices);
        Some(Self { options, instants, dual })
    }

    /// Makes so many steps, each over all jobs or a sample of some hundred.
    pub fn improve(&mut self, steps: usize) {
        (0..steps).for_each(|_| self.dual.step());
    }

    /// The bound of the best prices so far, proved in exact arithmetic over all jobs; under the condition of the
    /// options, if there is one. `None` when its figures leave 128 bits.
    pub fn bound(&self, instance: &Instance) -> Option<Bound> {
        let prices = self.dual.best();
        let attempt = |scale: u32| {
            let prices = prices.iter().map(|&price| rounded(price, scale)).collect();
            let horizon = self.options.makespan_at_most;
            let prices = TimePrices { instants: self.instants.clone(), prices, scale, horizon };
            let certificate = match self.options.objective {
                Objective::MeanFlow => Certificate::FlowPrices(prices),
                _ => Certificate::TimePrices(prices),
            };
            Bound::proved_by(certificate, instance)
        };
        finest(prices, attempt).ok()
    }

    /// For every job, in the order of the instance, what it does at least cost under the best prices so far; among at
    /// most some 24 of its allotments.
    pub fn choices(&self, instance: &Instance) -> Vec<PricedChoice> {
        let horizon = self.options.makespan_at_most.map_or(f64::INFINITY, |most| most.ticks() as f64);
        let mut curve = Curve::new(self.instants.iter().map(|instant| instant.ticks() as f64).collect(), horizon);
        curve.set(self.dual.best());
        let mut choices = Vec::with_capacity(instance.jobs().len());
        for (chunk, jobs) in instance.jobs().chunks(CHUNK).enumerate() {
            let mut figures = Jobs::new(jobs.iter(), ALLOTMENTS, self.options.weigh());
            for (index, job) in jobs.iter().enumerate() {
                let best = curve.best(&mut figures, index, true);
                let start = Time::from_ticks(best.start as i64).max(job.release);
                let processors = figures.shapes[best.allotment].0 as u32;
                choices.push(PricedChoice { job: JobId((chunk * CHUNK + index) as u32), processors, start });
            }
        }
        choices
    }
}

/// Jobs whose allotments are listed at a time, to bound the memory.
const CHUNK: usize = 4096;

impl PriceOptions {
    /// The weight of a job in millionths.
    fn weigh(self) -> impl Fn(&Job) -> f64 {
        move |job| match self.objective {
            Objective::MeanFlow => Weight::MILLIONTHS as f64,
            _ => job.weight.millionths() as f64,
        }
    }
}

/// About as many allotments as the check tries for a job.
fn choices(job: &Job) -> usize {
    let profile = job.profile();
    (profile.max_processors() - profile.min_processors()).min(255) as usize + 1
}

/// The prices of the fluid machine, on the allotments of least work.
fn fluid(jobs: &Jobs, factor: f64, processors: u32) -> Vec<(f64, f64)> {
    let least = |index: usize| {
        let work = |&(processors, time): &(f64, f64)| processors * time;
        jobs.shapes[jobs.all(index)].iter().map(work).fold(f64::INFINITY, f64::min)
    };
    let piece = |index: usize| Piece {
        weight: factor * jobs.weights[index],
        release: jobs.releases[index],
        work: factor * least(index),
    };
    fluid::run(&(0..jobs.count()).map(piece).collect::<Vec<_>>(), f64::from(processors))
}

/// The fluid machine's price at an instant.
fn at(prices: &[(f64, f64)], instant: f64) -> f64 {
    prices.get(prices.partition_point(|&(end, _)| end < instant)).map_or(0.0, |&(_, price)| price)
}

fn middle(pair: &[Time]) -> f64 {
    f64::midpoint(pair[0].ticks() as f64, pair[1].ticks() as f64)
}

/// Instants from the first release on, at most about `most`: close together at first and even later.
fn instants(instance: &Instance, jobs: &Jobs, fluid: &[(f64, f64)], most: usize) -> Vec<Time> {
    let origin = instance.first_release();
    let longest = instance.jobs().iter().map(|job| job.profile().shortest().ticks()).max().unwrap_or(1) as f64;
    let short = jobs.shapes.iter().map(|shape| shape.1).fold(f64::INFINITY, f64::min).clamp(1.0, longest);
    let closed = (instance.availability().last_change() - origin).max(Time::ZERO).ticks() as f64;
    let last = fluid.last().map_or(0.0, |&(end, _)| end - origin.ticks() as f64).max(closed.min(longest));
    let long = 1.5 * last + longest;
    let share = (most as f64 / (EVEN + GEOMETRIC) as f64).min(1.0);
    let count = |full: usize| (full as f64 * share) as usize;
    let (even, geometric) = (count(EVEN), count(GEOMETRIC));
    let even = (1..=even).map(|index| long * index as f64 / even as f64);
    let geometric = (0..=geometric).map(|index| short * (long / short).powf(index as f64 / geometric as f64));
    let mut offsets: Vec<i64> = even.chain(geometric).map(|offset| (offset as i64).max(1)).chain([0]).collect();
    offsets.sort_unstable();
    offsets.dedup();
    offsets.into_iter().map(|offset| origin + Time::from_ticks(offset)).collect()
}
