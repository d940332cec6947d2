//! Lower bounds on weighted completion by prices in continuous time: what [`makespan_core::proof::TimePrices`] proves, made large.

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

use allotments::{Jobs, Shape};
use curve::{Best, Curve};
use first::{falling, fixed, fluid, integrals, interpolated, kind, rooms, until};
use newton::{COLD, Newton};
use smooth::Landscape;
use terms::Terms;

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
/// Of so many different jobs that have at most so many allotments on average, their number follows the effort of a step: so many multiplications,
/// instants from the one number to the other.
const FEW_JOBS: usize = 2000;
const FEW_SHAPES: usize = 3;
const EFFORT: f64 = 2e6;
const FEWEST_ANEW: usize = 64;
const MAX_INSTANTS: usize = 240;
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
    /// Weighted completion, or mean flow, for which all weights count as one; or the makespan, to refute that it is at most
    /// `makespan_at_most`.
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
    /// As many at most where the jobs have few allotments.
    most: usize,
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
    /// end by `makespan_at_most`, when the objective is another one, or the makespan without anything to refute, or when the instance is so large that checking
    /// the prices would take minutes.
    pub fn new(instance: &Instance, options: PriceOptions) -> Option<Self> {
        let feasible = |job: &SimpleJob<'_>| {
            options.makespan_at_most.is_none_or(|most| job.profile().shortest() <= most - job.release)
        };
        // Best-effort bags have no weight: without a condition they cost nothing behind all prices.
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
        // Half the jobs with twice the usage have nearly the same best prices, if there are many.
        let (bags, plain): (Vec<SimpleJob<'_>>, Vec<SimpleJob<'_>>) =
            counting.into_iter().partition(|job| job.tasks() > 1);
        let shapes: usize = plain.iter().map(|job| choices(job).min(ALLOTMENTS)).sum();
        let sampled = if refutes { deadline::SAMPLE } else { (shapes / SAMPLE_SHARE).clamp(SAMPLE, LARGEST_SAMPLE) };
        let stride = shapes.div_ceil(sampled).max(1);
        let factor = plain.len() as f64 / plain.len().div_ceil(stride).max(1) as f64;
        let tasks = bags.iter().map(|job| job.tasks() as usize).fold(plain.len(), usize::saturating_add);
        // A bag stands for its own tasks only.
        let bags = bags.into_iter().map(|job| (job, job.tasks() as f64));
        let sampled = sample(&plain, stride).map(|job| (job, factor)).chain(bags);
        let allotments = if refutes { deadline::ALLOTMENTS } else { ALLOTMENTS };
        let jobs = Jobs::new(sampled, allotments, kind(instance), options.weigh());
        let horizon = options.horizon();
        let availability = instance.availability().clone();
        let fluid = fluid(&jobs, instance.processors(), &availability);
        // Without these, the best prices fall all the time, and no job ends where they rise.
        let equal = jobs.count() as f64 * factor * EQUAL <= tasks as f64;
        let open = availability.is_always_open();
        let ends = instance.has_release_dates() || !open || horizon.is_finite() || equal;
        // Around unavailable periods, a few jobs may be spread over a time that is long for them.
        let few = FEW_A_JOB.saturating_mul(tasks).saturating_add(FEW).saturating_mul(if open { 1 } else { 2 });
        let instants = first::instants(instance, &jobs, &fluid, most.min(few).min(FIRST_INSTANTS));
        let instants = match options.makespan_at_most.filter(|_| refutes) {
            Some(most) => until(instance, &jobs, most, deadline::INSTANTS.min(few)),
            None => instants,
        };
        let terms = Terms::Widths(widths::chosen(instance));
        let share = 1.0 / terms.count() as f64;
        let integrals = if refutes {
            // Half of what leaving a job out costs.
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
        let jobs = &self.newton.landscape.jobs;
        let count = if jobs.count() <= FEW_JOBS && jobs.shapes.len() <= FEW_SHAPES * jobs.count() {
            // The effort grows as the third power.
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

    /// The prices of each term.
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

    /// What a processor costs, of so many where that makes a difference.
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

    /// How much the jobs pay more than there is, over what leaving all of them out costs.
    pub(crate) fn excess(&self) -> f64 {
        self.newton.value()
    }

    /// For every job, or one task of a bag, in the order of the instance, what it does at least cost under the best prices so far; among at
    /// most some 24 of its allotments. On equal processors only.
    pub fn choices(&self, instance: &Instance) -> Vec<PricedChoice> {
        let (weigh, kind, prices) = (self.options.weigh(), kind(instance), self.prices());
        // By the number of processors, where that makes a difference.
        let mut curves: BTreeMap<u32, Curve> = BTreeMap::new();
        let choice = |job: JobId| {
            let simple = instance.simple(job);
            let (weight, release) = (weigh(&simple), simple.release.ticks() as f64);
            let shapes = allotments::shapes(simple.profile(), ALLOTMENTS, kind);
            let best = if prices.len() == 1 {
                curves.entry(0).or_insert_with(|| self.curve(instance, &prices, None)).best(weight, release, &shapes)
            } else {
                let of = |(allotment, shape): (usize, &Shape)| {
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
    /// The weight of one task of a job in millionths.
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
