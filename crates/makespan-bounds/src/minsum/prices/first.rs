//! The first instants and prices of a search, and the periods in which jobs may run.

use makespan_core::{Area, Availability, Instance, Time, Unavailable};

use super::allotments::{AllotmentKind, FloatJobs, PricedAllotment};
use super::fluid::{self, FluidJob};
use super::instants;
use super::rooms::LevelPeriods;
use crate::dual;

/// Returns the ends and the prices of the fluid machine (see [`fluid::run`]). The work of each job is the least work
/// over its allotments.
pub(super) fn fluid(jobs: &FloatJobs, processors: u32, availability: &Availability) -> Vec<(f64, f64)> {
    let least =
        |index: usize| jobs.shapes[jobs.all(index)].iter().map(PricedAllotment::work).fold(f64::INFINITY, f64::min);
    let piece = |index: usize| FluidJob {
        weight: jobs.counts[index] * jobs.weights[index],
        release: jobs.releases[index],
        work: jobs.counts[index] * least(index),
    };
    let pieces: Vec<FluidJob> = (0..jobs.count()).map(piece).collect();
    fluid::run(&pieces, f64::from(processors), availability)
}

/// For each of `instants`, returns the integral of the price of the fluid machine from the first instant to this
/// instant. Raises prices to at least `LEAST` times the largest price.
pub(super) fn integrals(fluid: &[(f64, f64)], instants: &[f64]) -> Vec<f64> {
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

/// The least price at the beginning of the search, as a fraction of the largest price.
const LEAST: f64 = 1e-3;

/// Returns prices that never rise: the slopes of the least concave function that is not below the integrals. Each
/// price is the mean of the prices that it replaces.
///
/// Call this function only if the best prices never rise. Even then, the prices of the search may rise slightly,
/// because the search is inexact. Prices that rise prove less, and the check of their certificate takes longer.
pub(super) fn falling(instants: &[f64], integrals: &[f64]) -> Vec<f64> {
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

/// Returns the values of several functions at `instant`. The functions are linear between `instants`. `values`
/// contains the values of all functions at the first instant, then at the second instant, and so on.
pub(super) fn interpolated(instants: &[f64], values: &[f64], instant: f64) -> impl Iterator<Item = f64> {
    let after = instants.partition_point(|&other| other <= instant).clamp(1, instants.len() - 1);
    let (from, until) = (instants[after - 1], instants[after]);
    let share = (instant - from) / (until - from);
    let terms = values.len() / instants.len();
    let (before, after) = (&values[(after - 1) * terms..], &values[after * terms..][..terms]);
    before.iter().zip(after).map(move |(before, after)| before + share * (after - before))
}

/// Returns the instants at which the price probably jumps: the releases, the instants at which processors become
/// available or unavailable, and the horizon.
pub(super) fn fixed(instance: &Instance, horizon: f64) -> Vec<f64> {
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

/// Returns the instants at which unavailable periods begin and end.
fn closings(instance: &Instance) -> Vec<f64> {
    let ends = |period: &Unavailable| [period.start, period.end].map(|time| time.ticks() as f64);
    let mut closings: Vec<f64> = instance.unavailable().iter().flat_map(ends).collect();
    closings.sort_by(f64::total_cmp);
    closings.dedup();
    closings
}

/// Returns the periods in which jobs may run. Returns `None` if jobs may run at all times: if processors are always
/// available, or if the availability changes at too many instants.
pub(super) fn rooms(instance: &Instance) -> Option<LevelPeriods> {
    if closings(instance).len() > MAX_FIXED { None } else { LevelPeriods::of(instance.availability()) }
}

pub(super) fn kind(instance: &Instance) -> AllotmentKind {
    if rooms(instance).is_some() { AllotmentKind::Narrow } else { AllotmentKind::Thrifty }
}

/// Maximum number of instants at which the price probably jumps, or at which the availability changes.
const MAX_FIXED: usize = 32;

/// Returns the first grid of instants of a search that refutes a deadline.
pub(super) fn until(instance: &Instance, jobs: &FloatJobs, deadline: Time, count: usize) -> Vec<f64> {
    let short = jobs.shapes.iter().map(|shape| shape.time).fold(f64::INFINITY, f64::min);
    let origin = instance.first_release();
    let mut instants = instants::first(instance, short, (deadline - origin).ticks() as f64, count);
    let (first, last) = (instants[0], instants[instants.len() - 1]);
    instants::insert(&mut instants, &closings(instance), first, last);
    instants
}

/// Returns the first grid of instants of a search.
pub(super) fn instants(instance: &Instance, jobs: &FloatJobs, fluid: &[(f64, f64)], count: usize) -> Vec<f64> {
    let origin = instance.first_release();
    let guess =
        dual::search(instance.simple_jobs().map(|job| job.profile()), instance.processors()).guess.ticks() as f64;
    let late = instance.simple_jobs().map(|job| job.release).max().unwrap_or(origin) - origin;
    let short = jobs.shapes.iter().map(|shape| shape.time).fold(f64::INFINITY, f64::min);
    let closed = (instance.availability().last_change() - origin).max(Time::ZERO).ticks() as f64;
    let last = fluid.last().map_or(0.0, |&(end, _)| end - origin.ticks() as f64).max(closed.min(guess));
    // If processors are unavailable at times, the available area grows more slowly.
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
