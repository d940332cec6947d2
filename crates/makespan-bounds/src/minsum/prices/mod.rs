//! Lower bounds on weighted completion by prices in continuous time: what [`TimePrices`] proves, made large.

mod allotments;
mod function;
mod search;

use makespan_core::certificate::{IntervalPrices, TimePrices};
use makespan_core::{Bound, Certificate, Instance, Job, Time};

use allotments::Jobs;
use function::Curve;
use search::Dual;

use super::rounding::{finest, rounded};

/// Evenly spaced and geometrically spaced instants.
const EVEN: usize = 48;
const GEOMETRIC: usize = 24;
/// The even ones span this part of the interval programme's horizon.
const SPAN: f64 = 0.75;
/// The search tries so many allotments of a job, in geometric progression. More were not better by 1 in 10,000.
const ALLOTMENTS: usize = 24;
/// The search knows so many allotments of all jobs together; of larger instances it takes every so manieth job.
const SAMPLE: usize = 12_000;
/// Instants times allotments that the check is given at most, which is some seconds.
const MOST_CELLS: usize = 600_000_000;
/// Fewer instants than this are not worth the time.
const FEWEST: usize = 16;

/// The bound that the prices of the interval programme give in continuous time, improved.
///
/// The interval programme charges a job that ends in interval j the price `sigma_j` for its work; here it is charged
/// sigma during its run, which is no less since sigma falls. So the search starts at least as high as that bound
/// (but for other instants), and raises it by multiplicative updates of the prices with the usage of the minimising
/// choices. `None` when the instance is too large for it.
pub(super) fn improved(instance: &Instance, intervals: &IntervalPrices) -> Option<Bound> {
    // Best-effort bags have no weight, so they cost nothing behind all prices.
    let counting: Vec<&Job> = instance.jobs().iter().filter(|job| !job.is_best_effort()).collect();
    let cells: usize = counting.iter().map(|job| choices(job)).sum();
    let most = MOST_CELLS / cells.max(1);
    if most < FEWEST {
        return None;
    }
    let instants = instants(instance.first_release(), intervals, most);
    let start = start(intervals, &instants);
    // Half the jobs with twice the usage have nearly the same best prices, if there are many.
    let (bags, plain): (Vec<&Job>, Vec<&Job>) = counting.into_iter().partition(|job| job.tasks() > 1);
    let shapes: usize = plain.iter().map(|job| choices(job).min(ALLOTMENTS)).sum();
    let stride = shapes.div_ceil(SAMPLE).max(1);
    let sample = plain.iter().step_by(stride);
    let factor = if plain.is_empty() { 1.0 } else { plain.len() as f64 / sample.len() as f64 };
    // A bag stands for its own tasks only.
    let sampled = sample.map(|job| (*job, 1.0)).chain(bags.iter().map(|job| (*job, job.tasks() as f64 / factor)));
    let jobs = Jobs::new(sampled, ALLOTMENTS);
    let curve = Curve::new(instants.iter().map(|instant| instant.ticks() as f64).collect());
    let area = |pair: &[Time]| instance.availability().open_area(pair[0], pair[1]) as f64;
    let areas = instants.windows(2).map(area).collect();
    let prices = Dual { jobs, curve, areas, factor }.improve(&start);
    certified(instance, &instants, &prices)
}

/// About as many allotments as the check tries for a job.
fn choices(job: &Job) -> usize {
    let profile = job.profile();
    (profile.max_processors() - profile.min_processors()).min(255) as usize + 1
}

/// Instants from the first release on, at most about `most`: close together at first and even later.
fn instants(origin: Time, intervals: &IntervalPrices, most: usize) -> Vec<Time> {
    let offset = |end: Option<&Time>| end.map_or(1, |&end| (end - origin).ticks().max(1)) as f64;
    let (short, long) = (offset(intervals.ends.first()), offset(intervals.ends.last()));
    let share = (most as f64 / (EVEN + GEOMETRIC) as f64).min(1.0);
    let count = |full: usize| (full as f64 * share) as usize;
    let (even, geometric) = (count(EVEN), count(GEOMETRIC));
    let even = (1..=even).map(|index| long * SPAN * index as f64 / even as f64);
    let geometric = (0..=geometric).map(|index| short * (long / short).powf(index as f64 / geometric as f64));
    let mut offsets: Vec<i64> = even.chain(geometric).map(|offset| (offset as i64).max(1)).chain([0]).collect();
    offsets.sort_unstable();
    offsets.dedup();
    offsets.into_iter().map(|offset| origin + Time::from_ticks(offset)).collect()
}

/// The cumulated interval prices in the middle of each new interval.
fn start(intervals: &IntervalPrices, instants: &[Time]) -> Vec<f64> {
    let unit = (-f64::from(intervals.scale)).exp2();
    let mut cumulated = vec![0.0; intervals.prices.len() + 1];
    for (index, &price) in intervals.prices.iter().enumerate().rev() {
        cumulated[index] = cumulated[index + 1] + price as f64 * unit;
    }
    let at = |pair: &[Time]| {
        let middle = Time::from_ticks(pair[0].ticks() / 2 + pair[1].ticks() / 2);
        cumulated[intervals.ends.partition_point(|&end| end < middle)]
    };
    instants.windows(2).map(at).collect()
}

/// Rounds prices to a certificate.
fn certified(instance: &Instance, instants: &[Time], prices: &[f64]) -> Option<Bound> {
    let attempt = |scale: u32| {
        let prices = prices.iter().map(|&price| rounded(price, scale)).collect();
        Bound::proved_by(Certificate::TimePrices(TimePrices { instants: instants.to_vec(), prices, scale }), instance)
    };
    finest(prices, attempt).ok()
}
