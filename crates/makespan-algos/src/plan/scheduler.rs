//! The interface of every offline algorithm.

use std::time::Duration;

use makespan_core::{Instance, Objective, Stop, Time, Unsupported};
use makespan_verify::Bound;
use thiserror::Error;

use crate::plan::{Incumbent, Plan};

/// An offline algorithm, which turns an instance into a plan.
pub trait Scheduler: Send + Sync {
    /// Returns the spec of this scheduler, which is its name with its parameters, such as `demt[shuffles=50]`.
    fn name(&self) -> String;

    /// Checks that the scheduler can plan this instance.
    ///
    /// # Errors
    /// [`Unsupported`] names the property of the instance that the scheduler cannot handle.
    fn supports(&self, instance: &Instance) -> Result<(), Unsupported>;

    /// If a guarantee is known for this instance, returns the proven guarantee of the plan's value relative to the
    /// optimum.
    fn guarantee(&self, instance: &Instance, objective: Objective) -> Option<Guarantee>;

    /// Returns true if the scheduler searches for better plans until [`Context::stop`] is requested, and then returns
    /// the best plan found.
    fn is_anytime(&self) -> bool {
        false
    }

    /// Returns true if the scheduler starts the tasks of each gang together ([`makespan_core::Task::gang`]).
    fn supports_gangs(&self) -> bool {
        false
    }

    /// Returns true if the scheduler plans setup times ([`makespan_core::Setup`]).
    fn supports_setups(&self) -> bool {
        false
    }

    /// Returns true if the scheduler keeps time lags ([`makespan_core::Task::lags`]).
    fn supports_lags(&self) -> bool {
        false
    }

    /// If the makespan of all schedules of the plan is limited, returns the limit as a multiple of the proven bound on
    /// the makespan. The makespan excludes best-effort bags that are added to the plan later.
    fn makespan_at_most(&self) -> Option<f64> {
        None
    }

    /// Returns the time limit, if set. The limit includes [`Context::spent`].
    fn time_limit(&self) -> Option<Duration> {
        None
    }

    /// If the algorithm minimises a sum over jobs with equal weights, returns a variant of the algorithm that uses the
    /// weights of jobs. A caller that cuts a job into parts needs the variant, because the parts share the job's
    /// weight. Returns `None` for every other algorithm.
    fn by_weight(&self) -> Option<Box<dyn Scheduler>> {
        None
    }

    /// Returns a variant of this algorithm for jobs that were cut into parts. Each part is a job with its share of the
    /// weight, but the objective includes only the end of the last part. `wholes` contains a number for each job of
    /// the instance, and the parts of one job have equal numbers. Returns `None` if the algorithm has no such variant.
    fn of_wholes(&self, wholes: Vec<u32>) -> Option<Box<dyn Scheduler>> {
        let _ = wholes;
        None
    }

    /// If the algorithm minimises a derived objective ([`Objective::derived`]), returns this objective, and a variant of
    /// the algorithm that minimises its base.
    fn derived(&self) -> Option<(Objective, Box<dyn Scheduler>)> {
        None
    }

    /// Returns the algorithm that plans if a first plan, which ignores hard deadlines
    /// ([`makespan_core::Job::must_end_by`]), misses one of them. Returns `None` if the algorithm cannot keep hard
    /// deadlines.
    fn for_hard_deadlines(&self) -> Option<ForHardDeadlines> {
        None
    }

    /// Plans every job of the instance.
    ///
    /// # Errors
    /// [`ScheduleError`] if the instance is not supported.
    fn schedule(&self, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError>;
}

/// A variant of an algorithm that keeps hard deadlines ([`Scheduler::for_hard_deadlines`]).
pub struct ForHardDeadlines {
    /// The objective, if the algorithm minimises one. `next` then minimises the total penalty or the maximum penalty, and
    /// its instance has penalties in place of hard deadlines. If there is no objective, the instance of `next` has due
    /// dates in their place.
    pub objective: Option<Objective>,
    /// The algorithm for the changed instance.
    pub next: Box<dyn Scheduler>,
    /// The algorithm for the unchanged instance if the plan of `next` does not keep the hard deadlines either.
    pub last: Option<Box<dyn Scheduler>>,
}

/// A proven ratio: the value of a plan is at most the optimum multiplied by `numerator / denominator`, plus `plus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guarantee {
    /// Numerator of the ratio.
    pub numerator: u32,
    /// Denominator of the ratio.
    pub denominator: u32,
    /// Maximum time that is added to a makespan when times are rounded up to ticks.
    pub plus: Time,
}

impl Guarantee {
    /// Creates a guarantee of this ratio, without added time.
    pub const fn ratio(numerator: u32, denominator: u32) -> Self {
        Self { numerator, denominator, plus: Time::ZERO }
    }

    /// Adds a number of ticks to `plus`.
    #[must_use]
    pub const fn plus_ticks(self, ticks: i64) -> Self {
        Self { plus: Time::from_ticks(self.plus.ticks() + ticks), ..self }
    }

    /// Doubles the ratio and the added time.
    #[must_use]
    pub const fn doubled(self) -> Self {
        let plus = Time::from_ticks(2 * self.plus.ticks());
        if self.denominator.is_multiple_of(2) {
            Self { denominator: self.denominator / 2, plus, ..self }
        } else {
            Self { numerator: 2 * self.numerator, plus, ..self }
        }
    }

    /// Returns true if `value` is at most the guaranteed value for this `optimum`, computed in exact integers.
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

/// The inputs of a scheduler other than the instance, and its outputs other than the plan.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Seed of every random choice. Equal seeds give equal plans.
    pub seed: u64,
    /// Remarks about the plan for the user, one sentence each.
    pub remarks: Vec<String>,
    /// A request to stop, for example by Ctrl-C. When it is set, a scheduler that searches returns the best plan
    /// found.
    pub stop: Stop,
    /// Receives the best value and the best bound while the scheduler searches.
    pub incumbent: Incumbent,
    /// Bounds that the scheduler proved during planning. The caller need not prove them again.
    pub bounds: Vec<Bound>,
    /// The proven bound on the makespan to which [`Scheduler::makespan_at_most`] is relative. If this field is `None`,
    /// the scheduler proves a bound itself. A caller that cuts jobs into parts must set this field, because a bound for
    /// the parts differs from a bound for the jobs.
    pub floor: Option<Time>,
    /// True if the scheduler should prove the standard bounds ([`Objective::standard`]), in addition to the bounds
    /// that help its search. The time limit of the scheduler includes the time for these proofs.
    pub prove: bool,
    /// Time that the caller needs for other work, such as input and output. The time limit of the scheduler includes
    /// this time.
    pub spent: Duration,
    /// Maximum number of threads. `None` means one thread for each core. The number changes a plan only if the
    /// scheduler has a time limit.
    pub threads: Option<u32>,
}

impl Context {
    /// Creates a context with this seed.
    pub fn with_seed(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// Returns the maximum number of threads, at least 1.
    pub fn threads(&self) -> u32 {
        let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        self.threads.unwrap_or_else(cores).max(1)
    }
}

/// The reason why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScheduleError {
    /// The scheduler does not handle this kind of instance.
    #[error("{scheduler} cannot plan this instance: {reason}")]
    Unsupported {
        /// Spec of the scheduler.
        scheduler: String,
        /// The property that the scheduler cannot handle.
        reason: Unsupported,
    },
    /// The scheduler found no schedule in which every job keeps its hard deadline.
    #[error(
        "{scheduler} found no plan that keeps all deadlines (`must_end_by`): in the best plan that was found, job \
         `{job}` ends at {end} s instead of {must_end_by} s; allow a longer search, or a later deadline"
    )]
    DeadlineNotKept {
        /// Spec of the scheduler.
        scheduler: String,
        /// Name of the latest job in the best schedule found.
        job: String,
        /// End of this job.
        end: Time,
        /// Hard deadline of this job.
        must_end_by: Time,
    },
    /// A bound proves that no schedule keeps all hard deadlines.
    #[error(
        "no plan keeps all deadlines (`must_end_by`): a bound proves that in every plan, some job ends at least {late} \
         s too late; allow later deadlines, or add processors"
    )]
    Infeasible {
        /// Bound on the largest tardiness with regard to the hard deadlines.
        late: Time,
    },
    /// The scheduler found no schedule within the limit on the makespan.
    #[error(
        "{scheduler} found no schedule that ends by {limit} s; the shortest schedule that was found takes {reached} \
         s, and no schedule is shorter than {floor} s; allow {:.4} times the bound, or a longer search",
        enough(*reached, *floor)
    )]
    NotFound {
        /// Spec of the scheduler.
        scheduler: String,
        /// Maximum makespan that was allowed.
        limit: Time,
        /// The proven bound on the makespan.
        floor: Time,
        /// The makespan of the shortest schedule found.
        reached: Time,
    },
}

/// Returns a limit, as a factor with four decimal places, with which the search would have found a schedule. The
/// factor multiplied by `floor` is at least `reached`.
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
