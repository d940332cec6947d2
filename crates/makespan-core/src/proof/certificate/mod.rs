//! Certificates: data from which a lower bound follows by arithmetic alone.
//!
//! [`Certificate::proves`] recomputes what a certificate proves in integers; no certificate is believed.

mod choices;
mod cost_prices;
mod dual_feasible;
mod interval_prices;
mod late_work;
mod machine_prices;
mod position_prices;
mod reach;
mod rejection;
mod spans;
mod time_prices;
mod time_window;
mod tree_prices;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use cost_prices::CostPrices;
pub use dual_feasible::{DualFeasible, Scale, Term};
pub use interval_prices::IntervalPrices;
pub use late_work::LateWork;
pub use machine_prices::MachinePrices;
pub use position_prices::PositionPrices;
pub use reach::{Reach, Reaching};
pub use rejection::{Rejection, Selection};
pub use time_prices::TimePrices;
pub use time_window::TimeWindow;
pub use tree_prices::TreePrices;

use crate::model::{Instance, Job, JobId, Time};
use crate::schedule::Objective;
use crate::schedule::mean;

/// A proof of a lower bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Certificate {
    /// Makespan: this job, or one task of this bag, alone on the empty platform cannot end sooner.
    Alone {
        /// Which job.
        job: JobId,
    },
    /// Makespan: not everything can end by a deadline.
    Rejection(Rejection),
    /// Makespan: not everything can end by a deadline, by dual-feasible functions.
    DualFeasible(DualFeasible),
    /// Weighted completion: prices for area in intervals of time.
    IntervalPrices(IntervalPrices),
    /// Weighted completion: prices for processors in continuous time.
    TimePrices(TimePrices),
    /// Mean flow: prices for processors in continuous time, of the same jobs with weights one.
    FlowPrices(TimePrices),
    /// Makespan: prices for time on machines that differ.
    MachinePrices(MachinePrices),
    /// Makespan: prices for what is released from an instant on.
    LateWork(LateWork),
    /// Weighted completion: prices for time on machines that differ.
    MachineCompletion(MachinePrices),
    /// Mean flow: prices for time on machines that differ, of the same jobs with weights one.
    MachineFlow(MachinePrices),
    /// Weighted completion of jobs of one weight: prices for positions on machines.
    PositionCompletion(PositionPrices),
    /// Mean flow: prices for positions on machines.
    PositionFlow(PositionPrices),
    /// Makespan: not everything can end by a deadline, by a window of time; of graphs and of unequal processors.
    TimeWindow(TimeWindow),
    /// Weighted completion: for each job such a deadline, as if it were alone.
    JobWindows {
        /// One a job.
        windows: Vec<TimeWindow>,
    },
    /// Mean flow: the same.
    FlowWindows {
        /// One a job.
        windows: Vec<TimeWindow>,
    },
    /// Cost: what every task costs at least, or prices under a horizon.
    CostPrices(CostPrices),
}

/// Why a certificate proves nothing, or less than was stated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CertificateError {
    /// A job that is not in the instance.
    #[error("the certificate names job {0}, which the instance does not have")]
    UnknownJob(JobId),
    /// Data that are no certificate of their kind.
    #[error("the certificate is malformed: {0}")]
    Malformed(String),
    /// The deadline is not refuted.
    #[error(
        "the certificate does not refute the deadline {deadline}: {needed} processor-ticks are needed of {available}"
    )]
    NotRefuted {
        /// In seconds.
        deadline: Time,
        /// Area that the jobs need at least.
        needed: i128,
        /// Area that there is.
        available: i128,
    },
    /// The platform has processors of different speeds, or a network, or jobs have a time of their own on each machine.
    #[error("the certificate speaks of equal processors, and those of this instance differ or form a tree")]
    UnequalProcessors,
    /// The instance has jobs that are graphs of tasks.
    #[error("the certificate speaks of single tasks and bags, and some job is a graph of tasks")]
    Compound,
    /// An intermediate value leaves 128 bits.
    #[error("the certificate's figures are too large to check exactly")]
    Overflow,
    /// A job cannot end by the horizon of the certificate: no schedule does, and there is nothing to bound.
    #[error("no schedule ends by the horizon {horizon} of the certificate: job {job} cannot")]
    HorizonTooShort {
        /// The horizon.
        horizon: Time,
        /// The first such job.
        job: JobId,
    },
    /// The certificate speaks of schedules that end by a horizon, and the bound of more.
    #[error(
        "the certificate speaks only of schedules with makespan at most {horizon}; the bound must state \
         makespan_at_most, and no later instant"
    )]
    OnlyUntil {
        /// The horizon.
        horizon: Time,
    },
    /// It speaks of another objective.
    #[error("the certificate proves a bound on the {proves}")]
    OtherObjective {
        /// What it proves.
        proves: Objective,
    },
    /// The bound is higher than what the certificate proves.
    #[error("the bound {stated} is not proved: its certificate proves {proven}")]
    TooHigh {
        /// The bound.
        stated: String,
        /// What follows from the certificate.
        proven: String,
    },
}

impl Certificate {
    /// Which objective it bounds.
    pub fn objective(&self) -> Objective {
        match self {
            Self::Alone { .. }
            | Self::Rejection(_)
            | Self::DualFeasible(_)
            | Self::TimeWindow(_)
            | Self::MachinePrices(_)
            | Self::LateWork(_) => Objective::Makespan,
            Self::IntervalPrices(_)
            | Self::TimePrices(_)
            | Self::JobWindows { .. }
            | Self::MachineCompletion(_)
            | Self::PositionCompletion(_) => Objective::WeightedCompletion,
            Self::FlowPrices(_) | Self::FlowWindows { .. } | Self::MachineFlow(_) | Self::PositionFlow(_) => {
                Objective::MeanFlow
            }
            Self::CostPrices(_) => Objective::Cost,
        }
    }

    /// The makespan up to which it speaks of schedules; `None` when it speaks of all.
    pub fn horizon(&self) -> Option<Time> {
        match self {
            Self::TimePrices(prices) | Self::FlowPrices(prices) => prices.horizon,
            Self::CostPrices(prices) => prices.horizon,
            _ => None,
        }
    }

    /// The largest lower bound that follows, in the integer unit of the objective, on all schedules with makespan at
    /// most [`Certificate::horizon`].
    ///
    /// # Errors
    /// [`CertificateError`] when nothing follows on this instance.
    pub fn proves(&self, instance: &Instance) -> Result<i128, CertificateError> {
        match self {
            Self::TimeWindow(window) => return window.proves(instance, instance.ids()),
            Self::CostPrices(prices) => return prices.proves(instance),
            Self::JobWindows { windows } => {
                let each = time_window::completions(instance, windows)?;
                let weigh =
                    |(id, end): (JobId, i128)| end.checked_mul(i128::from(instance.job(id).weight.millionths()));
                return total(each.into_iter().map(weigh));
            }
            Self::FlowWindows { windows } => {
                let each = time_window::completions(instance, windows)?;
                let flow = |(id, end): (JobId, i128)| end.checked_sub(i128::from(instance.job(id).release.ticks()));
                return Ok(mean(total(each.into_iter().map(flow))?, instance.jobs().len()));
            }
            _ => {}
        }
        if instance.has_compound_jobs() {
            return Err(CertificateError::Compound);
        }
        let of_machines = matches!(
            self,
            Self::Alone { .. }
                | Self::MachinePrices(_)
                | Self::LateWork(_)
                | Self::MachineCompletion(_)
                | Self::MachineFlow(_)
                | Self::PositionCompletion(_)
                | Self::PositionFlow(_)
        );
        if !of_machines && !instance.has_equal_processors() {
            return Err(CertificateError::UnequalProcessors);
        }
        match self {
            Self::Alone { job } => {
                if job.index() >= instance.jobs().len() {
                    return Err(CertificateError::UnknownJob(*job));
                }
                Ok(i128::from(earliest_completion(instance, *job).ticks()))
            }
            Self::Rejection(rejection) => rejection.proves(instance),
            Self::DualFeasible(refutation) => refutation.proves(instance),
            Self::IntervalPrices(prices) => prices.proves(instance),
            Self::TimePrices(prices) => prices.proves(instance),
            Self::FlowPrices(prices) => prices.proves_flow(instance),
            Self::MachinePrices(prices) => prices.proves(instance),
            Self::LateWork(late) => late.proves(instance),
            Self::MachineCompletion(prices) => prices.proves_completion(instance),
            Self::MachineFlow(prices) => prices.proves_flow(instance),
            Self::PositionCompletion(prices) => prices.proves_completion(instance),
            Self::PositionFlow(prices) => prices.proves_flow(instance),
            // Answered above: they speak of any processors.
            Self::TimeWindow(_) | Self::JobWindows { .. } | Self::FlowWindows { .. } | Self::CostPrices(_) => Ok(0),
        }
    }
}

fn total(mut each: impl Iterator<Item = Option<i128>>) -> Result<i128, CertificateError> {
    each.try_fold(0_i128, |sum, one| sum.checked_add(one?)).ok_or(CertificateError::Overflow)
}

/// No sooner than this does a job end in any schedule: its release plus its shortest time, and for a bag also when the
/// open area after its release holds the least work of all its tasks.
pub fn soonest_completion(instance: &Instance, job: &Job) -> Time {
    let alone = job.release + job.profile().shortest();
    let least = job.profile().least_work(Time::MAX).unwrap_or(0);
    let work = least.saturating_mul(i128::from(job.tasks()));
    let enough = |end: i64| instance.availability().open_area(job.release, Time::from_ticks(end)) >= work;
    // An instance is shorter than this.
    let (mut low, mut high) = (alone.ticks(), i64::MAX / 2);
    if job.tasks() == 1 || !enough(high) {
        return alone;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if enough(middle) { high = middle } else { low = middle + 1 }
    }
    Time::from_ticks(low)
}

/// When a job, or one task of a bag, ends at the earliest if it has the platform for itself, reservations and outages
/// excepted; these are not looked at where processors differ.
pub fn earliest_completion(instance: &Instance, id: JobId) -> Time {
    let job = instance.job(id);
    if !instance.has_equal_processors() {
        let shortest = job.profile().shortest();
        let own = job.profile().machine_times().is_some();
        return job.release + if own { shortest } else { shortest.divided_by(instance.platform().speeds().1) };
    }
    if instance.availability().is_always_open() {
        return job.release + job.profile().shortest();
    }
    let mut timeline = crate::schedule::Timeline::new(instance);
    job.profile()
        .allotments()
        .map(|processors| {
            let time = job.profile().time(processors);
            timeline.earliest_fit(processors, time, job.release) + time
        })
        .min()
        .unwrap_or(Time::MAX)
}
