//! The interface of every offline algorithm.

use std::time::Duration;

use thiserror::Error;

use crate::model::{Instance, Time};
use crate::plan::{Plan, Stop};
use crate::proof::Bound;
use crate::schedule::Objective;

/// An offline algorithm: an instance in, a plan out.
pub trait Scheduler: Send + Sync {
    /// The spec that names this scheduler with its parameters, such as `demt[shuffles=50]`.
    fn name(&self) -> String;

    /// Whether it can plan this instance at all.
    ///
    /// # Errors
    /// [`Unsupported`] says which property of the instance it cannot handle.
    fn supports(&self, instance: &Instance) -> Result<(), Unsupported>;

    /// The proven ratio to the optimum on this instance, if there is one.
    fn guarantee(&self, instance: &Instance, objective: Objective) -> Option<Guarantee>;

    /// Whether it searches, and returns the best that it has when [`Context::stop`] is requested.
    fn is_anytime(&self) -> bool {
        false
    }

    /// No schedule of its plan may be longer than this many times the proven bound on the makespan, where it was told so; what is filled in
    /// afterwards does not count.
    fn makespan_at_most(&self) -> Option<f64> {
        None
    }

    /// For how long it may take, where it was told so: all of [`Context::spent`] counts.
    fn time_limit(&self) -> Option<Duration> {
        None
    }

    /// Where each job counts as one: the same algorithm with weights, for those that cut a job into parts which share its weight. `None` where
    /// jobs count by their weights, or the sum over jobs is not what is minimised.
    fn by_weight(&self) -> Option<Box<dyn Scheduler>> {
        None
    }

    /// The same algorithm for jobs that were cut into parts, each of which is a job with its share of the weight: what counts is when the last
    /// part ends. `wholes` has a number for each job of the instance, the same for all parts of one. `None` where it only counts parts.
    fn of_wholes(&self, wholes: Vec<u32>) -> Option<Box<dyn Scheduler>> {
        let _ = wholes;
        None
    }

    /// Plans every job of the instance.
    ///
    /// # Errors
    /// [`ScheduleError`] when the instance is not supported.
    fn schedule(&self, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError>;
}

/// A proven ratio: the value is at most `numerator / denominator` times the optimum, plus `plus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guarantee {
    /// Above the line.
    pub numerator: u32,
    /// Below the line.
    pub denominator: u32,
    /// What rounding times up to a tick may add to a makespan.
    pub plus: Time,
}

impl Guarantee {
    /// A ratio.
    pub const fn ratio(numerator: u32, denominator: u32) -> Self {
        Self { numerator, denominator, plus: Time::ZERO }
    }

    /// The same with so many ticks more.
    #[must_use]
    pub const fn plus_ticks(self, ticks: i64) -> Self {
        Self { plus: Time::from_ticks(self.plus.ticks() + ticks), ..self }
    }

    /// Twice as much.
    #[must_use]
    pub const fn doubled(self) -> Self {
        let plus = Time::from_ticks(2 * self.plus.ticks());
        if self.denominator.is_multiple_of(2) {
            Self { denominator: self.denominator / 2, plus, ..self }
        } else {
            Self { numerator: 2 * self.numerator, plus, ..self }
        }
    }

    /// Whether `value` is within the ratio of `optimum`, in exact integers.
    pub fn holds(self, value: i128, optimum: i128) -> bool {
        (value - i128::from(self.plus.ticks())) * i128::from(self.denominator) <= optimum * i128::from(self.numerator)
    }
}

impl std::fmt::Display for Guarantee {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.denominator == 1 {
            write!(f, "{}", self.numerator)
        } else {
            write!(f, "{}/{}", self.numerator, self.denominator)
        }?;
        if self.plus > Time::ZERO { write!(f, " plus {} ns", self.plus.ticks()) } else { Ok(()) }
    }
}

/// What a scheduler may use besides the instance, and what it tells besides the plan.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Seed of every random choice; the same seed gives the same plan.
    pub seed: u64,
    /// What the user should know about this plan, one sentence each.
    pub remarks: Vec<String>,
    /// Set by someone else, on Ctrl-C say: a scheduler that searches returns the best that it has.
    pub stop: Stop,
    /// Bounds that the scheduler proved on its way, so that nobody has to search for them again.
    pub bounds: Vec<Bound>,
    /// The proven bound on the makespan that [`Scheduler::makespan_at_most`] is a multiple of, where the caller has one; otherwise it is the
    /// scheduler's own. Who cuts jobs into parts proves more or less of the parts than of the jobs.
    pub floor: Option<Time>,
    /// Whether the bounds that are told with every schedule ([`Objective::standard`]) are wanted, beside those that help the search: whoever has a
    /// time limit proves them within it.
    pub prove: bool,
    /// Time that the caller needs for other work, reading and writing say, and that counts within a time limit.
    pub spent: Duration,
}

impl Context {
    /// A context with this seed.
    pub fn with_seed(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }
}

/// A property of an instance that a scheduler cannot handle.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Unsupported(pub String);

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScheduleError {
    /// The scheduler does not handle this kind of instance.
    #[error("{scheduler} cannot plan this instance: {reason}")]
    Unsupported {
        /// Spec of the scheduler.
        scheduler: String,
        /// Which property.
        reason: Unsupported,
    },
    /// A search under a limit came to its end without a schedule.
    #[error(
        "{scheduler} found no schedule that ends by {limit} s; the shortest one found takes {reached} s, and none is \
         shorter than {floor} s: allow {:.4} times the bound, or a longer search",
        enough(*reached, *floor)
    )]
    NotFound {
        /// Spec of the scheduler.
        scheduler: String,
        /// The longest makespan allowed.
        limit: Time,
        /// The proven bound on the makespan.
        floor: Time,
        /// The makespan of the shortest schedule found.
        reached: Time,
    },
}

/// A factor of four places that times `floor` is no less than `reached`.
fn enough(reached: Time, floor: Time) -> f64 {
    let ten_thousandths = 10_000 * i128::from(reached.ticks()) / i128::from(floor.ticks().max(1)) + 1;
    ten_thousandths as f64 / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guarantee_with_ticks_doubles_and_is_told() {
        let guarantee = Guarantee::ratio(3, 2).plus_ticks(7);
        assert_eq!(
            (guarantee.to_string(), guarantee.doubled().to_string()),
            ("3/2 plus 7 ns".into(), "3 plus 14 ns".into())
        );
        assert_eq!(Guarantee::ratio(3, 1).doubled(), Guarantee::ratio(6, 1));
        assert!(guarantee.holds(22, 10) && !guarantee.holds(23, 10));
    }

    #[test]
    fn the_factor_that_is_suggested_is_enough() {
        let suggested = |reached, floor| enough(Time::from_ticks(reached), Time::from_ticks(floor));
        assert!(suggested(100_004, 100_000) * 100_000.0 >= 100_004.0);
        assert!(suggested(i64::MAX, 1) >= 9.2e18 && suggested(3, 0) >= 3.0);
    }
}
