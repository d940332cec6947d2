//! Lower bounds on weighted completion by prices in continuous time: what [`TimePrices`] proves, made large.

mod allotments;
mod curve;
mod fluid;
mod instants;
mod matrix;
mod newton;
mod rooms;
mod smooth;

use makespan_core::proof::TimePrices;
use makespan_core::{
    Area, Availability, Bound, Instance, JobId, Objective, Proof, SimpleJob, Time, Unavailable, Weight,
};

use allotments::{Jobs, Kind, Shape};
use curve::Curve;
use fluid::Piece;
use newton::Newton;
use rooms::Rooms;
use smooth::Landscape;

use crate::dual;

use super::rounding::{finest, rounded};

/// The search tries so many allotments of a job, in geometric progression. More were not better by 1 in 10,000.
const ALLOTMENTS: usize = 24;
/// The search knows so many allotments of all jobs together; of larger instances it takes one of every so many jobs.
const SAMPLE: usize = 12_000;
/// Of far larger ones, whose check takes longer anyway, it knows one of so many allotments, up to the second number.
const SAMPLE_SHARE: usize = 100;
const LARGEST_SAMPLE: usize = 24_000;
/// It looks closer at so many allotments around the best ones, once it knows them.
const CLOSER: usize = 40;
/// Instants at first, and when they are placed anew.
const FIRST_INSTANTS: usize = 48;
const INSTANTS: usize = 128;
/// Fewer instants are enough for few jobs: so many, and so many a job.
const FEW: usize = 16;
const FEW_A_JOB: usize = 5;
/// With so many equal jobs of each kind, prices near the best ones rise here and there.
const EQUAL: f64 = 4.0;
/// The temperature at which that happens.
const SETTLE: f64 = 6e-3;
/// Instants times allotments that the check is given at most, which is some seconds.
const MAX_CELLS: usize = 3_400_000_000;
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
    availability: Availability,
    newton: Newton,
    /// Instants to come back to when they are placed anew, and how many there are to be.
    fixed: Vec<f64>,
    count: usize,
    settled: bool,
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
    /// end by `makespan_at_most`, when the objective is the makespan or the cost, or when the instance is so large that checking
    /// the prices would take minutes.
    pub fn new(instance: &Instance, options: PriceOptions) -> Option<Self> {
        let feasible = |job: &SimpleJob<'_>| {
            options.makespan_at_most.is_none_or(|most| job.profile().shortest() <= most - job.release)
        };
        // Best-effort bags have no weight: without a condition they cost nothing behind all prices.
        let free = |job: &SimpleJob<'_>| {
            job.is_best_effort() && options.objective != Objective::MeanFlow && options.makespan_at_most.is_none()
        };
        let counting: Vec<SimpleJob<'_>> = instance.simple_jobs().filter(|job| !free(job)).collect();
        let cells: usize = counting.iter().map(|job| choices(job)).sum();
        let most = MAX_CELLS / cells.max(1);
        if !instance.has_equal_processors()
            || instance.has_compound_jobs()
            || !matches!(options.objective, Objective::WeightedCompletion | Objective::MeanFlow)
            || !instance.simple_jobs().all(|job| feasible(&job))
            || most < FEWEST
        {
            return None;
        }
        // Half the jobs with twice the usage have nearly the same best prices, if there are many.
        let (bags, plain): (Vec<SimpleJob<'_>>, Vec<SimpleJob<'_>>) =
            counting.into_iter().partition(|job| job.tasks() > 1);
        let shapes: usize = plain.iter().map(|job| choices(job).min(ALLOTMENTS)).sum();
        let stride = shapes.div_ceil((shapes / SAMPLE_SHARE).clamp(SAMPLE, LARGEST_SAMPLE)).max(1);
        let factor = plain.len() as f64 / plain.len().div_ceil(stride).max(1) as f64;
        let tasks = bags.iter().map(|job| job.tasks() as usize).fold(plain.len(), usize::saturating_add);
        // A bag stands for its own tasks only.
        let bags = bags.into_iter().map(|job| (job, job.tasks() as f64));
        let sampled = sample(&plain, stride).map(|job| (job, factor)).chain(bags);
        let jobs = Jobs::new(sampled, ALLOTMENTS, kind(instance), options.weigh());
        let horizon = options.horizon();
        let availability = instance.availability().clone();
        let fluid = fluid(&jobs, instance.processors(), &availability);
        // Without these, the best prices fall all the time, and no job ends where they rise.
        let equal = jobs.count() as f64 * factor * EQUAL <= tasks as f64;
        let open = availability.is_always_open();
        let ends = instance.has_release_dates() || !open || horizon.is_finite() || equal;
        // Around unavailable periods, a few jobs may be spread over a time that is long for them.
        let few = FEW_A_JOB.saturating_mul(tasks).saturating_add(FEW).saturating_mul(if open { 1 } else { 2 });
        let instants = instants(instance, &jobs, &fluid, most.min(few).min(FIRST_INSTANTS));
        let integrals = integrals(&fluid, &instants);
        let mut landscape = Landscape::new(jobs, horizon, rooms(instance), ends);
        let open = instants::open(&availability, &instants);
        landscape.place_on(instants, open);
        let newton = Newton::new(landscape, integrals);
        let fixed = fixed(instance, horizon);
        let count = INSTANTS.min(few).min(most);
        Some(Self { options, availability, newton, fixed, count, settled: false })
    }

    /// Makes so many steps, each over all jobs or a sample of some hundred. When the search has ended, it does nothing
    /// more. The bound rises with the steps, except that it may fall by some thousandths once, when the search
    /// places the instants anew.
    pub fn improve(&mut self, steps: usize) {
        for _ in 0..steps {
            let before = self.newton.temperature();
            self.newton.step();
            let now = self.newton.temperature();
            if now < before && now <= SETTLE {
                if !self.settled {
                    self.settle();
                }
                self.newton.look_closer(CLOSER, ALLOTMENTS);
            }
        }
    }

    /// Whether more steps would change nothing; some 40 to 170 steps lead there.
    pub fn has_ended(&self) -> bool {
        self.newton.has_ended()
    }

    /// Places the instants anew.
    fn settle(&mut self) {
        self.settled = true;
        let (old, point) = (&self.newton.landscape.instants, self.newton.point());
        let instants = instants::settled(old, &point.bends, self.count, &self.fixed);
        let integrals = instants.iter().map(|&instant| interpolated(old, &point.integrals, instant)).collect();
        let open = instants::open(&self.availability, &instants);
        self.newton.place_on(instants, open, integrals);
    }

    fn prices(&self) -> Vec<f64> {
        let (instants, integrals) = (&self.newton.landscape.instants, self.newton.best());
        if self.newton.landscape.ends {
            instants.windows(2).zip(integrals.windows(2)).map(|(t, i)| (i[1] - i[0]) / (t[1] - t[0])).collect()
        } else {
            falling(instants, integrals)
        }
    }

    fn instants(&self) -> Vec<Time> {
        self.newton.landscape.instants.iter().map(|&instant| Time::from_ticks(instant as i64)).collect()
    }

    /// The bound of the best prices so far, proved in exact arithmetic over all jobs; under the condition of the
    /// options, if there is one. (If it is more than that makespan times the sum of the weights, no schedule meets the
    /// condition.) `None` when its figures leave 128 bits.
    pub fn bound(&self, instance: &Instance) -> Option<Bound> {
        let (prices, instants) = (self.prices(), self.instants());
        let proved = |prices| Bound::proved_by(self.options.objective, Proof::TimePrices(prices), instance);
        let attempt = |scale: u32| {
            let prices = prices.iter().map(|&price| rounded(price, scale)).collect();
            let horizon = self.options.makespan_at_most;
            let prices = TimePrices { instants: instants.clone(), prices, scale, horizon };
            proved(prices)
        };
        let priced = finest(&prices, attempt).ok();
        // Without prices every job ends as if it were alone. In instances of extreme range rounding costs more than this.
        let free = TimePrices {
            instants: vec![Time::ZERO],
            prices: Vec::new(),
            scale: 0,
            horizon: self.options.makespan_at_most,
        };
        let free = proved(free).ok();
        free.into_iter().chain(priced).max_by_key(|bound| bound.value.integer())
    }

    /// For every job, or one task of a bag, in the order of the instance, what it does at least cost under the best prices so far; among at
    /// most some 24 of its allotments.
    pub fn choices(&self, instance: &Instance) -> Vec<PricedChoice> {
        let horizon = self.options.horizon();
        let curve = Curve::new(self.newton.landscape.instants.clone(), self.prices(), horizon, rooms(instance));
        let (weigh, kind) = (self.options.weigh(), kind(instance));
        let choice = |job: JobId| {
            let simple = instance.simple(job);
            let release = simple.release;
            let shapes = allotments::shapes(simple.profile(), ALLOTMENTS, kind);
            let best = curve.best(weigh(&simple), release.ticks() as f64, &shapes);
            let start = Time::from_ticks(best.start as i64).max(release);
            PricedChoice { job, processors: shapes[best.allotment].processors as u32, start }
        };
        instance.ids().map(choice).collect()
    }
}

impl PriceOptions {
    /// The weight of one task of a job in millionths.
    fn weigh(self) -> impl Fn(&SimpleJob<'_>) -> f64 {
        move |job| match self.objective {
            Objective::MeanFlow => (Weight::MILLIONTHS / job.tasks()) as f64,
            _ => job.task_weight().millionths() as f64,
        }
    }

    fn horizon(self) -> f64 {
        self.makespan_at_most.map_or(f64::INFINITY, |most| most.ticks() as f64)
    }
}

/// One job of every `stride`, not always the same one, so that a sample of jobs in a periodic order is fair.
fn sample<'a>(jobs: &[SimpleJob<'a>], stride: usize) -> impl Iterator<Item = SimpleJob<'a>> {
    // The golden ratio leaves no small period.
    let golden = |index: usize| (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    jobs.chunks(stride).enumerate().map(move |(index, chunk)| chunk[golden(index) as usize % chunk.len()])
}

/// About as many allotments as the check tries for a job.
fn choices(job: &SimpleJob<'_>) -> usize {
    let profile = job.profile();
    (profile.max_processors() - profile.min_processors()).min(255) as usize + 1
}

/// The prices of the fluid machine, on the allotments of least work.
fn fluid(jobs: &Jobs, processors: u32, availability: &Availability) -> Vec<(f64, f64)> {
    let least = |index: usize| jobs.shapes[jobs.all(index)].iter().map(Shape::work).fold(f64::INFINITY, f64::min);
    let piece = |index: usize| Piece {
        weight: jobs.counts[index] * jobs.weights[index],
        release: jobs.releases[index],
        work: jobs.counts[index] * least(index),
    };
    let pieces: Vec<Piece> = (0..jobs.count()).map(piece).collect();
    fluid::run(&pieces, f64::from(processors), availability)
}

/// The integrals of the fluid machine's price, which is nowhere quite zero.
fn integrals(fluid: &[(f64, f64)], instants: &[f64]) -> Vec<f64> {
    let at =
        |instant: f64| fluid.get(fluid.partition_point(|&(end, _)| end < instant)).map_or(0.0, |&(_, price)| price);
    let least = LEAST * fluid.iter().map(|&(_, price)| price).fold(0.0, f64::max);
    let mut integral = 0.0;
    let mut integrals = vec![0.0];
    for pair in instants.windows(2) {
        integral += at(f64::midpoint(pair[0], pair[1])).max(least) * (pair[1] - pair[0]);
        integrals.push(integral);
    }
    integrals
}

/// No price is less than this share of the largest at first.
const LEAST: f64 = 1e-3;

/// Prices that never rise, each the mean of those that it stands for: the slopes of the least concave function that is not
/// below the integrals. Prices that rise by the inaccuracy of the search alone prove less, and are checked more slowly.
fn falling(instants: &[f64], integrals: &[f64]) -> Vec<f64> {
    let slope = |from: usize, until: usize| (integrals[until] - integrals[from]) / (instants[until] - instants[from]);
    let mut corners: Vec<usize> = Vec::new();
    for index in 0..instants.len() {
        while let [.., before, last] = corners[..] {
            if slope(before, last) > slope(last, index) {
                break;
            }
            corners.pop();
        }
        corners.push(index);
    }
    corners.windows(2).flat_map(|pair| std::iter::repeat_n(slope(pair[0], pair[1]), pair[1] - pair[0])).collect()
}

/// The value at an instant of a function that is linear between others.
fn interpolated(instants: &[f64], values: &[f64], instant: f64) -> f64 {
    let after = instants.partition_point(|&other| other <= instant).clamp(1, instants.len() - 1);
    let (from, until) = (instants[after - 1], instants[after]);
    let share = (instant - from) / (until - from);
    values[after - 1] + share * (values[after] - values[after - 1])
}

/// Instants at which the price probably jumps.
fn fixed(instance: &Instance, horizon: f64) -> Vec<f64> {
    let mut fixed = closings(instance);
    fixed.extend(instance.simple_jobs().map(|job| job.release.ticks() as f64));
    fixed.sort_by(f64::total_cmp);
    fixed.dedup();
    if fixed.len() > MAX_FIXED {
        fixed.clear();
    }
    fixed.extend(Some(horizon).filter(|horizon| horizon.is_finite()));
    fixed
}

/// When unavailable periods begin and end.
fn closings(instance: &Instance) -> Vec<f64> {
    let ends = |period: &Unavailable| [period.start, period.end].map(|time| time.ticks() as f64);
    let mut closings: Vec<f64> = instance.unavailable().iter().flat_map(ends).collect();
    closings.sort_by(f64::total_cmp);
    closings.dedup();
    closings
}

/// The starts that are possible; all, where the price cannot change at every instant at which that changes.
fn rooms(instance: &Instance) -> Option<Rooms> {
    if closings(instance).len() > MAX_FIXED { None } else { Rooms::of(instance.availability()) }
}

fn kind(instance: &Instance) -> Kind {
    if rooms(instance).is_some() { Kind::Narrow } else { Kind::Thrifty }
}

const MAX_FIXED: usize = 32;

/// The first instants.
fn instants(instance: &Instance, jobs: &Jobs, fluid: &[(f64, f64)], count: usize) -> Vec<f64> {
    let origin = instance.first_release();
    let guess =
        dual::search(instance.simple_jobs().map(|job| job.profile()), instance.processors()).guess.ticks() as f64;
    let late = instance.simple_jobs().map(|job| job.release).max().unwrap_or(origin) - origin;
    let short = jobs.shapes.iter().map(|shape| shape.time).fold(f64::INFINITY, f64::min);
    let closed = (instance.availability().last_change() - origin).max(Time::ZERO).ticks() as f64;
    let last = fluid.last().map_or(0.0, |&(end, _)| end - origin.ticks() as f64).max(closed.min(guess));
    // Where processors are closed, it takes longer until as much area was open.
    let twice = if instance.availability().is_always_open() {
        2.0 * guess
    } else {
        let area = (2.0 * guess * f64::from(instance.processors())) as Area;
        (instance.availability().when_open(origin, area) - origin).ticks() as f64
    };
    let mut instants = instants::first(instance, short, twice.max(last) + late.ticks() as f64, count);
    if rooms(instance).is_some() {
        let (first, last) = (instants[0], instants[instants.len() - 1]);
        instants::insert(&mut instants, &closings(instance), first, last);
    }
    instants
}
