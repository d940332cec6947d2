//! Bounds on the total penalty from one price up to an instant.

use makespan_core::{Instance, Objective, Time};
use makespan_verify::proof::JobPrices;
use makespan_verify::{Bound, Proof};

use crate::Clock;

/// Maximum number of instants that are examined.
const INSTANTS: usize = 6;
/// Number of binary places of the price.
const SCALE: u32 = 16;

/// A point of the penalty of a job.
struct Candidate {
    at: Time,
    /// The least work of the job.
    work: f64,
    /// The price at which the job pays as much for its work as its penalty grows at this point.
    price: f64,
}

/// Returns the best bound on the total penalty from a constant price up to an instant. After the instant, the price is
/// zero. A job with a penalty in steps either does all its work before the step and pays for this work, or incurs the
/// penalty of the step. So the bound is the fractional relaxation of a knapsack: the work of the jobs in time must fit
/// before the instant. The bound is concave in the price, and the best price is a quotient of a penalty and a work.
///
/// The function examines the instants before which the most work should be done, relative to the processors. Takes
/// O(log n) checks of a certificate for each instant and n jobs. Returns `None` if no job has a penalty.
pub(crate) fn best(instance: &Instance, clock: &Clock) -> Option<Bound> {
    let mut candidates = candidates(instance);
    candidates.sort_by_key(|candidate| candidate.at);
    let processors = f64::from(instance.processors().max(1));
    let mut load = 0.0;
    let mut instants: Vec<(Time, f64)> = Vec::new();
    for candidate in &candidates {
        load += candidate.work;
        let overload = load / processors - candidate.at.ticks() as f64;
        match instants.last_mut() {
            Some((at, last)) if *at == candidate.at => *last = overload,
            _ => instants.push((candidate.at, overload)),
        }
    }
    instants.sort_by(|one, other| other.1.total_cmp(&one.1));
    let bound = |&(at, _): &(Time, f64)| {
        let early = candidates.iter().take_while(|candidate| candidate.at <= at);
        let mut prices: Vec<f64> = early.map(|candidate| candidate.price).filter(|&price| price > 0.0).collect();
        prices.sort_by(f64::total_cmp);
        best_price(instance, at, &prices, clock)
    };
    instants.iter().take(INSTANTS).filter_map(bound).max_by_key(|bound| bound.value.integer())
}

fn candidates(instance: &Instance) -> Vec<Candidate> {
    let mut found = Vec::new();
    for job in instance.jobs() {
        let Some(penalty) = &job.penalty else { continue };
        let least = |task| instance.profile(task).least_work(Time::MAX).unwrap_or(0) as f64;
        let work = job.different_task_ids().map(least).sum::<f64>() * job.equal_tasks() as f64;
        let weight = job.weight.millionths() as f64;
        let price = |millionths: u64| weight * millionths as f64 / work.max(1.0);
        let points = penalty.points().iter();
        found.extend(points.map(|&(at, value)| Candidate { at, work, price: price(value.millionths()) }));
    }
    found
}

/// Returns the best bound from one of `prices`, which ascend, up to the instant `at`. The bound is concave in the price,
/// so a ternary search finds the best price.
fn best_price(instance: &Instance, at: Time, prices: &[f64], clock: &Clock) -> Option<Bound> {
    let from = instance.first_release();
    if at <= from || prices.is_empty() {
        return None;
    }
    let proved = |index: usize| {
        let price = (prices[index] * f64::from(1_u32 << SCALE)) as i64;
        let proof = JobPrices { instants: vec![from, at], prices: vec![price], shares: Vec::new(), scale: SCALE };
        Bound::proved_by(Objective::TotalPenalty, Proof::JobPrices(proof), instance).ok()
    };
    let value = |bound: Option<Bound>| bound.map_or(i128::MIN, |bound| bound.value.integer());
    let (mut low, mut high) = (0, prices.len() - 1);
    while high - low > 2 && !clock.is_over() {
        let third = (high - low) / 3;
        let (one, other) = (low + third, high - third);
        if value(proved(one)) < value(proved(other)) {
            low = one;
        } else {
            high = other;
        }
    }
    (low..=high.min(low + 2)).filter_map(proved).max_by_key(|bound| bound.value.integer())
}

#[cfg(test)]
mod tests {
    use super::*;
    use makespan_core::{EndPenalty, Job, PenaltyForm, Platform, Profile, Weight};

    #[test]
    fn the_jobs_in_time_must_fit_before_the_instant() {
        let s = Time::from_seconds;
        let job = |(name, due, weight): (&str, i64, &str)| {
            let penalty = EndPenalty::new(PenaltyForm::Steps, vec![(s(due), Weight::ONE)]).unwrap();
            let job = Job::new(name, Profile::rigid(1, s(4)).unwrap()).with_penalty(penalty);
            job.with_weight(Weight::parse(weight).unwrap())
        };
        let proved = |jobs: &[(&str, i64, &str)]| {
            let jobs = jobs.iter().copied().map(job).collect();
            let instance = Instance::new(Platform::flat(1).unwrap(), jobs, vec![]).unwrap();
            let bound = best(&instance, &Clock::ENDLESS).unwrap();
            assert_eq!(bound.verify(&instance), Ok(()));
            bound.value.decimal(Objective::TotalPenalty)
        };
        // 8 s of work do not fit before 6 s, so half of a job is late.
        assert_eq!(proved(&[("a", 5, "1"), ("b", 6, "1")]), "0.5");
        // The job of weight 3 is in time, and one and a half of the other jobs are late.
        assert_eq!(proved(&[("a", 6, "1"), ("b", 6, "1"), ("c", 6, "3")]), "1.5");
    }
}
