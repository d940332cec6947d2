//! Lower bounds on weighted completion by prices in continuous time. The search maximises the bound that
//! [`makespan_verify::proof::TimePrices`] proves.

mod allotments;
mod certificate;
mod curve;
mod deadline;
mod first;
mod fluid;
mod instants;
mod matrix;
mod newton;
mod nodes;
mod rooms;
mod smooth;
mod terms;
mod widths;

use std::collections::BTreeMap;

use makespan_core::{Availability, Instance, JobId, Objective, SimpleJob, Time, Weight};

use allotments::{FloatJobs, PricedAllotment};
use curve::{Best, Curve};
use first::{falling, fixed, fluid, integrals, interpolated, kind, rooms, until};
use newton::{COLD, Newton};
use smooth::Landscape;
use terms::Terms;

/// Number of allotments that the search tries for each job, in geometric progression. In measurements, more allotments
/// improved bounds by less than 1 in 10,000.
const ALLOTMENTS: usize = 24;
/// Approximate number of allotments in the search of a large instance. The search uses a sample of the jobs with this
/// total number of allotments.
const SAMPLE: usize = 12_000;
/// If 1 / `SAMPLE_SHARE` of all allotments of an instance is more than `SAMPLE`, the sample contains this larger number
/// of allotments. Even then, the check of the certificate takes longer than the search.
const SAMPLE_SHARE: usize = 100;
/// Maximum number of allotments in the sample of a very large instance.
const LARGEST_SAMPLE: usize = 24_000;
/// Once the search has found the best allotments of each job, the number of allotments that it tries near these
/// allotments.
const CLOSER: usize = 40;
/// Number of instants at the beginning of the search.
const FIRST_INSTANTS: usize = 48;
/// Number of instants after the search has moved the instants.
const INSTANTS: usize = 128;
/// The maximum number of instants is `FEW`, plus `FEW_A_JOB` for each job.
const FEW: usize = 16;
/// The number by which each job increases the maximum number of instants.
const FEW_A_JOB: usize = 5;
/// An instance has few choices if it has at most this number of different jobs, and at most `FEW_SHAPES` allotments
/// per job on average. Then `EFFORT` determines the number of instants.
const FEW_JOBS: usize = 2000;
/// Maximum mean number of allotments per job of an instance with few choices (see `FEW_JOBS`).
const FEW_SHAPES: usize = 3;
/// Approximate number of multiplications in a step, for an instance with few choices.
const EFFORT: f64 = 2e6;
/// Minimum number of instants after the search has moved the instants, for an instance with few choices.
const FEWEST_ANEW: usize = 64;
/// Maximum number of instants for an instance with few choices.
const MAX_INSTANTS: usize = 240;
/// If there are at least `EQUAL` times as many jobs as different jobs, the best prices are expected to rise at some
/// instants.
const EQUAL: f64 = 4.0;
/// The temperature (relative width of the smoothing) at which the search moves the instants.
const SETTLE: f64 = 6e-3;
/// Maximum number of pairs of an instant and an allotment in a certificate. The check of such a certificate takes some
/// seconds.
const MAX_CELLS: usize = 3_400_000_000;
/// Minimum number of instants. With fewer instants, the bound would be too weak to be worth the search.
const FEWEST: usize = 16;

/// The objective of a [`PriceSearch`], and a limit on the schedules for which the bound is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriceOptions {
    /// The objective. For the mean flow, all weights are treated as one. For the makespan, the search tries to prove
    /// that no schedule has a makespan of at most `makespan_at_most`.
    pub objective: Objective,
    /// If set, the bound is valid only for schedules with at most this makespan.
    pub makespan_at_most: Option<Time>,
}

impl Default for PriceOptions {
    /// Returns options for a bound on the weighted completion that is valid for all schedules.
    fn default() -> Self {
        Self { objective: Objective::WeightedCompletion, makespan_at_most: None }
    }
}

/// A search for prices that prove a high lower bound, and for the choices of the jobs at these prices. The search
/// keeps its state between calls, so a caller can use the current result and continue later. The search is
/// deterministic: the result depends only on the number of steps.
///
/// The search contains no reference to the instance. The caller must pass the same instance to all calls.
pub struct PriceSearch {
    options: PriceOptions,
    availability: Availability,
    newton: Newton,
    /// Instants that are kept when the search moves the instants.
    fixed: Vec<f64>,
    /// Number of instants after the search has moved the instants.
    count: usize,
    /// Maximum number of instants after the search has moved the instants, for an instance with few choices.
    most: usize,
    settled: bool,
}

/// The choice of one job at some prices: the allotment and the start with the least cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PricedChoice {
    /// The job that chooses.
    pub job: JobId,
    /// Number of processors.
    pub processors: u32,
    /// Start of the job, at or after the release date.
    pub start: Time,
}

impl PriceSearch {
    /// Creates a search. Returns `None` in these cases:
    /// * The processors differ in speed or form a tree.
    /// * Some job cannot end by `makespan_at_most`.
    /// * The objective is not supported.
    /// * The objective is the makespan, but `makespan_at_most` is not set.
    /// * The check of the prices would take minutes.
    pub fn new(instance: &Instance, options: PriceOptions) -> Option<Self> {
        let feasible = |job: &SimpleJob<'_>| {
            options.makespan_at_most.is_none_or(|most| job.profile().shortest() <= most - job.release)
        };
        // Best-effort bags have no weight. If the makespan has no limit, these bags can run after the last instant with
        // a price. Then they cost nothing.
        let free = |job: &SimpleJob<'_>| {
            job.is_best_effort() && !options.objective.is_mean() && options.makespan_at_most.is_none()
        };
        let counting: Vec<SimpleJob<'_>> = instance.simple_jobs().filter(|job| !free(job)).collect();
        let cells: usize = counting.iter().map(|job| choices(job)).sum();
        let most = MAX_CELLS / cells.max(1);
        let refutes = options.objective == Objective::Makespan && options.makespan_at_most.is_some();
        if !instance.has_equal_processors()
            || instance.has_compound_jobs()
            || !(refutes || options.objective.is_sum_of_ends())
            || !instance.simple_jobs().all(|job| feasible(&job))
            || most < FEWEST
        {
            return None;
        }
        // If there are many jobs, a sample of them gives nearly the best prices. For example, the search may use half
        // of the jobs and count each of them twice.
        let (bags, plain): (Vec<SimpleJob<'_>>, Vec<SimpleJob<'_>>) =
            counting.into_iter().partition(|job| job.tasks() > 1);
        let shapes: usize = plain.iter().map(|job| choices(job).min(ALLOTMENTS)).sum();
        let sampled = if refutes { deadline::SAMPLE } else { (shapes / SAMPLE_SHARE).clamp(SAMPLE, LARGEST_SAMPLE) };
        let stride = shapes.div_ceil(sampled).max(1);
        let factor = plain.len() as f64 / plain.len().div_ceil(stride).max(1) as f64;
        let tasks = bags.iter().map(|job| job.tasks() as usize).fold(plain.len(), usize::saturating_add);
        // Every bag is in the sample, so a bag represents only its own tasks.
        let bags = bags.into_iter().map(|job| (job, job.tasks() as f64));
        let sampled = sample(&plain, stride).map(|job| (job, factor)).chain(bags);
        let allotments = if refutes { deadline::ALLOTMENTS } else { ALLOTMENTS };
        let jobs = FloatJobs::new(sampled, allotments, kind(instance), options.weigh());
        let horizon = options.horizon();
        let availability = instance.availability().clone();
        let fluid = fluid(&jobs, instance.processors(), &availability);
        // The best prices can rise only if jobs have release dates, processors are unavailable at times, there is a
        // horizon, or there are many equal jobs. If prices never rise, the search need not try runs that end at an
        // instant at which prices rise.
        let equal = jobs.count() as f64 * factor * EQUAL <= tasks as f64;
        let open = availability.is_always_open();
        let ends = instance.has_release_dates() || !open || horizon.is_finite() || equal;
        // If processors are unavailable at times, even a few jobs may run over a long time. So allow more instants.
        let few = FEW_A_JOB.saturating_mul(tasks).saturating_add(FEW).saturating_mul(if open { 1 } else { 2 });
        let instants = first::instants(instance, &jobs, &fluid, most.min(few).min(FIRST_INSTANTS));
        let instants = match options.makespan_at_most.filter(|_| refutes) {
            Some(most) => until(instance, &jobs, most, deadline::INSTANTS.min(few)),
            None => instants,
        };
        let terms = Terms::Widths(widths::chosen(instance));
        let share = 1.0 / terms.count() as f64;
        let integrals = if refutes {
            // Begin with the price 0.5 for each processor-tick. The cost of omitting a job is 1 for each processor-tick
            // of its work.
            instants.iter().map(|instant| 0.5 * (instant - instants[0])).collect()
        } else {
            integrals(&fluid, &instants)
        };
        let of_terms = |integral| std::iter::repeat_n(share * integral, terms.count());
        let integrals = integrals.into_iter().flat_map(of_terms).collect();
        let open = terms.open(&availability, &instants);
        let mut landscape = Landscape::new(jobs, terms, horizon, rooms(instance), ends);
        if refutes {
            landscape.leave_out();
        }
        landscape.place_on(instants, open);
        let newton = Newton::new(landscape, integrals, if refutes { deadline::COLD } else { COLD });
        let fixed = fixed(instance, horizon);
        let count = INSTANTS.min(few).min(most);
        let most = MAX_INSTANTS.min(few).min(most);
        Some(Self { options, availability, newton, fixed, count, most, settled: refutes })
    }

    /// Makes `steps` steps. Each step examines all jobs, or a sample of some hundred jobs. Has no effect after the end
    /// of the search. The bound increases from step to step, with one exception: it may fall by some thousandths when
    /// the search moves the instants.
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

    /// Returns true if further steps would change nothing. Most searches reach this state after 40 to 170 steps.
    pub fn has_ended(&self) -> bool {
        self.newton.has_ended()
    }

    /// Moves the instants, so that they lie closer together at times at which the costs of jobs have large second
    /// derivatives.
    fn settle(&mut self) {
        self.settled = true;
        let (old, point) = (&self.newton.landscape.instants, self.newton.point());
        let jobs = &self.newton.landscape.jobs;
        let count = if jobs.count() <= FEW_JOBS && jobs.shapes.len() <= FEW_SHAPES * jobs.count() {
            // The effort grows with the third power of the number of instants.
            let finer = old.len() as f64 * (EFFORT / point.curvature.effort()).cbrt();
            (finer as usize).clamp(self.count.min(FEWEST_ANEW), self.most)
        } else {
            self.count
        };
        let instants = instants::settled(old, &point.bends, count, &self.fixed);
        let at = |&instant: &f64| interpolated(old, &point.integrals, instant);
        let integrals = instants.iter().flat_map(at).collect();
        let open = self.newton.landscape.terms().open(&self.availability, &instants);
        self.newton.place_on(instants, open, integrals);
    }

    /// Returns, for each term, the price in each interval between instants.
    fn prices(&self) -> Vec<Vec<f64>> {
        let instants = &self.newton.landscape.instants;
        let (best, terms) = (self.newton.best(), self.newton.landscape.terms().count());
        let of_term = |term: usize| {
            let integrals: Vec<f64> = best.iter().skip(term).step_by(terms).copied().collect();
            if self.newton.landscape.ends {
                instants.windows(2).zip(integrals.windows(2)).map(|(t, i)| (i[1] - i[0]) / (t[1] - t[0])).collect()
            } else {
                falling(instants, &integrals)
            }
        };
        (0..terms).map(of_term).collect()
    }

    /// Returns the price of a processor as a function of time. If functions of the width have prices, the price of a
    /// processor depends on the number of processors of the job, `processors`.
    fn curve(&self, instance: &Instance, prices: &[Vec<f64>], processors: Option<f64>) -> Curve {
        let mut own = prices[0].clone();
        if let (Some(processors), Terms::Widths(widths)) = (processors, self.newton.landscape.terms()) {
            for (width, prices) in widths.iter().zip(&prices[1..]) {
                let value = width.value(processors) / processors;
                own.iter_mut().zip(prices).for_each(|(own, price)| *own += value * price);
            }
        }
        Curve::new(self.newton.landscape.instants.clone(), own, self.options.horizon(), rooms(instance))
    }

    fn instants(&self) -> Vec<Time> {
        self.newton.landscape.instants.iter().map(|&instant| Time::from_ticks(instant as i64)).collect()
    }

    /// Returns, for a search that tries to refute a deadline, the payments of the jobs minus the price of the
    /// capacity, in processor-ticks. If this value is positive, the deadline is refuted. The value estimates the work
    /// that does not fit before the deadline.
    pub(crate) fn excess(&self) -> f64 {
        self.newton.value()
    }

    /// Returns the cheapest choice of every job at the best prices so far, in the order of the instance. For a bag,
    /// this is the choice of one task. Considers about 24 allotments of each job. All processors must be equal.
    pub fn choices(&self, instance: &Instance) -> Vec<PricedChoice> {
        let (weigh, kind, prices) = (self.options.weigh(), kind(instance), self.prices());
        // For each number of processors, the price as a function of time. If the price does not depend on this number,
        // the only key is 0.
        let mut curves: BTreeMap<u32, Curve> = BTreeMap::new();
        let choice = |job: JobId| {
            let simple = instance.simple(job);
            let (weight, release) = (weigh(&simple), simple.release.ticks() as f64);
            let shapes = allotments::shapes(simple.profile(), ALLOTMENTS, kind);
            let best = if prices.len() == 1 {
                curves.entry(0).or_insert_with(|| self.curve(instance, &prices, None)).best(weight, release, &shapes)
            } else {
                let of = |(allotment, shape): (usize, &PricedAllotment)| {
                    let curve = curves.entry(shape.processors as u32);
                    let curve = curve.or_insert_with(|| self.curve(instance, &prices, Some(shape.processors)));
                    Best { allotment, ..curve.best(weight, release, std::slice::from_ref(shape)) }
                };
                let each = shapes.iter().enumerate().map(of);
                let first = Best { cost: f64::INFINITY, start: release, allotment: shapes.len() - 1 };
                each.fold(first, |least, one| if one.cost < least.cost { one } else { least })
            };
            let start = Time::from_ticks(best.start as i64).max(simple.release);
            PricedChoice { job, processors: shapes[best.allotment].processors as u32, start }
        };
        instance.ids().map(choice).collect()
    }
}

impl PriceOptions {
    /// Returns a function that computes the weight of one task of a job, in millionths.
    fn weigh(self) -> impl Fn(&SimpleJob<'_>) -> f64 {
        move |job| match self.objective {
            Objective::Makespan => 0.0,
            objective if objective.is_mean() => (Weight::MILLIONTHS / job.tasks()) as f64,
            _ => job.task_weight().millionths() as f64,
        }
    }

    fn horizon(self) -> f64 {
        self.makespan_at_most.map_or(f64::INFINITY, |most| most.ticks() as f64)
    }
}

/// Returns one job of each group of `stride` consecutive jobs. The position of the job in its group varies, so the
/// sample represents all jobs even if their order is periodic.
fn sample<'a>(jobs: &[SimpleJob<'a>], stride: usize) -> impl Iterator<Item = SimpleJob<'a>> {
    // Multiples of the golden ratio are used as positions, because they have no short period.
    let golden = |index: usize| (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    jobs.chunks(stride).enumerate().map(move |(index, chunk)| chunk[golden(index) as usize % chunk.len()])
}

/// Returns the approximate number of allotments of a job that the check of the certificate examines.
fn choices(job: &SimpleJob<'_>) -> usize {
    let profile = job.profile();
    (profile.max_processors() - profile.min_processors()).min(255) as usize + 1
}
