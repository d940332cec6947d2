//! Refutation of deadlines by dual-feasible functions of the widths (numbers of processors) and times of jobs.

mod scale;

use serde::{Deserialize, Serialize};

pub use scale::Scale;

use super::choices::{self, Choice};
use super::error::malformed;
use super::prices::{check, refute};
use super::{CertificateError, Kind, Scope, Value};
use makespan_core::{Instance, Objective, Profile, Time};
pub(super) use scale::MaxSum;

/// Maximum number of terms of a certificate.
const MAX_TERMS: usize = 16;

/// A deadline refuted by dual-feasible functions (G. S. Lueker 1983; S. P. Fekete, J. Schepers, "New classes of fast
/// lower bounds for bin packing problems", Math. Programming 91, 2001, DOI 10.1007/s101070100243, and "A general
/// framework for bounds for higher-dimensional orthogonal packing problems", Math. Methods of OR 60, 2004, DOI
/// 10.1007/s001860400376). This module extends the method from packing to scheduling with a choice of allotments,
/// release dates and unavailable processors.
///
/// Let f and g be non-decreasing functions: f of a width (a number of processors), and g of a time. Let F(c) be the
/// maximum sum of f over widths with a total of at most c. Let G(l) be the maximum sum of g over times with a total of
/// at most l.
///
/// *Theorem.* Consider a schedule on m processors that lasts from 0 to d, in which job i runs on `k_i` processors for a
/// time `p_i`. Then `sum_i f(k_i) g(p_i) <= F(m) G(d)`.
///
/// *Proof.* Job i precedes job j if i ends no later than j starts. Construct a new schedule: give job i the duration
/// `g(p_i)` and the width `f(k_i)`, and start it as soon as all jobs that precede it have ended. So a job starts at the
/// largest sum of new durations over all chains of jobs before it. In a chain, each job precedes the next job. In the
/// old schedule, the jobs of such a chain run one after the other. So their times sum to at most d, and their new
/// durations sum to at most G(d). So the new schedule lasts at most G(d). Jobs that run at the same time in the new
/// schedule do not precede each other, so in the old schedule every two of them overlap. Intervals that overlap
/// pairwise have an instant in common (Helly). At this instant, the widths of the jobs sum to at most m, so their new
/// widths sum to at most F(m). So the area of all jobs in the new schedule is at most F(m) G(d). This area is the left
/// side of the inequality. ∎
///
/// The processors of a job need not be contiguous. A period in which c processors are closed for a time l is treated as
/// a set of additional jobs, which add F(c) G(l) to the left side. So the check subtracts F(c) G(l) from the right
/// side. If g is the time itself, the check uses a smaller right side. At each instant, the values f of the widths sum
/// to at most F(open processors). So the right side is the integral of F(open processors) over time.
///
/// Each [`Term`] is such an inequality with a price. Each job that is released at `from` or later takes the cheapest of
/// its allotments that meet the deadline. The cost of an allotment is the sum of price times f times g over all terms.
/// Multiply each inequality by the price of its term, and add the results. If a schedule ends by `deadline`, the costs
/// of all jobs sum to at most the right side of this sum. If the costs sum to more, no schedule ends by `deadline`.
/// Then the makespan is at least `deadline` plus one tick. This argument is valid for any prices that are not negative.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DualFeasible {
    /// The refuted deadline.
    pub deadline: Time,
    /// Start of the examined period. The check ignores jobs that are released earlier, and the open processor time
    /// before this instant.
    pub from: Time,
    /// The terms, at most 16.
    pub terms: Vec<Term>,
}

/// One inequality: the sum over the jobs of `widths(allotment) * times(time)` is at most a right side that follows from
/// the number of processors and the deadline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term {
    /// The price by which the inequality is multiplied: a Lagrange multiplier, not negative.
    pub price: i64,
    /// The function f of the allotment.
    pub widths: Scale,
    /// The function g of the time in ticks.
    pub times: Scale,
}

/// A term with the maximum sums F and G of its functions.
struct Bounded<'a> {
    term: &'a Term,
    widths: MaxSum,
    times: MaxSum,
}

impl Kind for DualFeasible {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::Makespan]
    }

    fn scope(&self) -> Scope {
        Scope::EqualProcessors
    }

    /// Returns the proven makespan in ticks: `deadline + 1`.
    ///
    /// Let m be the number of processors of the platform. If f is the number of processors itself in every term, the
    /// check takes O(log m) for each job and each step of the functions g. Otherwise, the check tries every allotment
    /// of a job. If a job has more than 256 allotments, the allotments are grouped (see [`super::TimePrices`]). The
    /// cost of a group is a lower bound on the cost of each of its allotments.
    fn value(&self, _: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        if self.deadline == Time::ZERO {
            // A makespan is never negative, so the bound 0 is always valid.
            return Ok(Value::Integer(0));
        }
        self.check()?;
        let proven = Ok(Value::Integer(i128::from(self.deadline.ticks()) + 1));
        let available = self.available(instance)?;
        let costs = Costs::new(&self.terms);
        let mut needed = 0;
        for (id, job) in instance.ids().zip(instance.jobs()).filter(|(_, job)| job.release >= self.from) {
            match costs.least(instance.profile_of(id), self.deadline - job.release) {
                Some(cost) => needed += cost * i128::from(job.tasks()),
                // This job cannot meet the deadline even if it is alone, so the deadline is refuted.
                None => return proven,
            }
        }
        refute(self.deadline, needed, available).map(Value::Integer)
    }
}

impl DualFeasible {
    fn check(&self) -> Result<(), CertificateError> {
        if self.from < Time::ZERO || self.deadline <= self.from {
            return malformed("the instants do not satisfy 0 <= from < deadline");
        }
        if self.terms.is_empty() || self.terms.len() > MAX_TERMS {
            return malformed("the number of terms is not from 1 to 16");
        }
        check(self.terms.iter().map(|term| &term.price))?;
        self.terms.iter().try_for_each(|term| term.widths.check().and(term.times.check()))
    }

    /// Returns the sum over all terms of the price times the right side of the inequality. Returns an error if the left
    /// sides may exceed 128 bits.
    fn available(&self, instance: &Instance) -> Result<i128, CertificateError> {
        let longest = self.deadline - self.from;
        // The factor 2 is needed because an allotment just beyond the deadline may be included: the run times of a
        // speed-up law are rounded.
        let jobs = 2 * i128::from(instance.tasks()) + 2;
        let (mut available, mut limit) = (0_i128, 0_i128);
        for term in &self.terms {
            let widths = MaxSum::by_room(&term.widths, instance.processors())?;
            let times = MaxSum::by_value(&term.times, longest.ticks())?;
            let bounded = Bounded { term, widths, times };
            let price = i128::from(term.price);
            // No job and no closed period costs more than all processors for the longest run time.
            let largest = bounded.product(i64::from(instance.processors()), longest.ticks());
            let cost = largest.and_then(|largest| largest.checked_mul(price));
            limit = cost
                .and_then(|cost| limit.checked_add(cost))
                .filter(|limit| limit.checked_mul(jobs).is_some())
                .ok_or(CertificateError::Overflow)?;
            let right = bounded.right_side(instance, self.from, self.deadline);
            available += right.ok_or(CertificateError::Overflow)? * price;
        }
        Ok(available)
    }
}

impl Bounded<'_> {
    /// Returns F(width) G(time): the maximum left side of the inequality for jobs that fit into this width and time.
    fn product(&self, width: i64, time: i64) -> Option<i128> {
        i128::from(self.widths.at(width)).checked_mul(i128::from(self.times.at(time)))
    }

    fn right_side(&self, instance: &Instance, from: Time, deadline: Time) -> Option<i128> {
        let availability = instance.availability();
        if self.term.times == Scale::Whole {
            let mut periods = availability.open_periods(from, deadline);
            return periods
                .try_fold(0, |sum: i128, (time, open)| sum.checked_add(self.product(i64::from(open), time.ticks())?));
        }
        let mut right = self.product(i64::from(instance.processors()), (deadline - from).ticks())?;
        for class in availability.classes() {
            for &(start, end) in &class.closed {
                let (start, end) = (start.max(from), end.min(deadline));
                if start < end {
                    right -= self.product(i64::from(class.processors.len()), (end - start).ticks())?;
                }
            }
        }
        Some(right)
    }
}

/// The costs of allotments, summed over all terms.
enum Costs<'a> {
    /// In all terms, f is the number of processors itself. `area` is the cost of a processor for a tick. Each pair in
    /// `rates` is a time, and the additional cost of a processor for a job that takes at least this time.
    Narrow { rates: Vec<(i64, i128)>, area: i128 },
    /// In at least one term, f is another function of the number of processors.
    Wide(&'a [Term]),
}

impl<'a> Costs<'a> {
    fn new(terms: &'a [Term]) -> Self {
        if terms.iter().any(|term| term.widths != Scale::Whole) {
            return Self::Wide(terms);
        }
        let mut sizes: Vec<i64> = terms.iter().flat_map(|term| term.times.sizes()).chain([0]).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let (whole, stepped): (Vec<&Term>, Vec<&Term>) = terms.iter().partition(|term| term.times == Scale::Whole);
        let cost =
            |size: i64| stepped.iter().map(move |term| i128::from(term.price) * i128::from(term.times.value(size)));
        let rates = sizes.into_iter().map(|size| (size, cost(size).sum())).collect();
        Self::Narrow { rates, area: whole.iter().map(|term| i128::from(term.price)).sum() }
    }

    /// Returns a lower bound on the cost of every allotment on which the job takes at most `longest`, or `None` if
    /// there is no such allotment.
    fn least(&self, profile: &Profile, longest: Time) -> Option<i128> {
        profile.min_allotment(longest)?;
        match self {
            Self::Narrow { rates, area } => {
                // Consider the allotments on which the job takes at most `limit`. `processors` is the smallest of them,
                // and `work` is their minimum work. If the time of an allotment is in the same step of `rates` as the
                // time of `processors`, it costs at least `cost`. The next round considers the allotments with shorter
                // times.
                let (mut least, mut limit) = (None, longest);
                while let (Some(processors), Some(work)) = (profile.min_allotment(limit), profile.least_work(limit)) {
                    if least.is_some_and(|least| least <= area * work) {
                        // The work of the allotments with shorter times is never less than `work`, so these allotments
                        // cost at least `least`.
                        break;
                    }
                    let time = profile.time(processors).ticks();
                    let (size, rate) = rates[rates.partition_point(|&(size, _)| size <= time) - 1];
                    let cost = area * work + rate * i128::from(processors);
                    least = Some(least.map_or(cost, |least: i128| least.min(cost)));
                    limit = Time::from_ticks(size - 1);
                }
                least
            }
            Self::Wide(terms) => {
                let mut choices = Vec::new();
                choices::of(profile, true, &mut choices);
                let feasible = choices.iter().filter(|choice| choice.time <= i128::from(longest.ticks()));
                // If one allotment of a group is within the limit, the whole group is included. The allotments of the
                // group beyond the limit can only lower the bound.
                feasible.map(|choice| terms.iter().map(|term| cost(term, choice)).sum()).min().or(Some(0))
            }
        }
    }
}

fn cost(term: &Term, choice: &Choice) -> i128 {
    let &Choice { processors, paid, time } = choice;
    let value = match (&term.widths, &term.times) {
        (Scale::Whole, Scale::Whole) => processors * paid,
        // The product of both values fits into 128 bits, because one value is limited to 32 bits and the other value to
        // 64 bits.
        (widths, times) => i128::from(widths.value(processors as i64)) * i128::from(times.value(time as i64)),
    };
    i128::from(term.price) * value
}

#[cfg(test)]
mod tests;
