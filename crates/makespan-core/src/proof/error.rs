//! The reasons why a certificate proves nothing.

use thiserror::Error;

use crate::model::{JobId, Time};
use crate::schedule::Objective;
use crate::tree::TreeError;

/// The reason why a certificate proves nothing, or less than the stated bound.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CertificateError {
    /// The job does not exist.
    #[error("the certificate names job {0}, which the instance does not have")]
    UnknownJob(JobId),
    /// The certificate is malformed.
    #[error("the certificate is malformed: {0}")]
    Malformed(String),
    /// The deadline is not refuted.
    #[error(
        "the certificate does not refute the deadline {deadline}: {needed} processor-ticks are needed of {available}"
    )]
    NotRefuted {
        /// The deadline, in seconds.
        deadline: Time,
        /// Minimum area that the jobs need.
        needed: i128,
        /// Available area.
        available: i128,
    },
    /// The platform has processors of different speeds or a network, or jobs have a time for each machine.
    #[error("the certificate applies only to equal processors, and those of this instance differ or form a tree")]
    UnequalProcessors,
    /// The instance has compound jobs.
    #[error("the certificate applies only to single tasks and bags, and some job is a graph of tasks")]
    Compound,
    /// The instance does not consist of bags of tasks on a tree.
    #[error("the certificate applies only to bags of tasks on a tree of machines: {0}")]
    NoTree(TreeError),
    /// An intermediate value exceeds 128 bits.
    #[error("the certificate's figures are too large to check exactly")]
    Overflow,
    /// A job cannot end by the horizon of the certificate. So there is no such schedule, and nothing to bound.
    #[error("no schedule ends by the horizon {horizon} of the certificate: job {job} cannot")]
    HorizonTooShort {
        /// The horizon.
        horizon: Time,
        /// The first such job.
        job: JobId,
    },
    /// The certificate applies only to schedules that end by a horizon, but the bound applies to more schedules.
    #[error(
        "the certificate speaks only of schedules with makespan at most {horizon}; the bound must state \
         makespan_at_most, and no later instant"
    )]
    OnlyUntil {
        /// The horizon.
        horizon: Time,
    },
    /// The kind of proof does not bound this objective.
    #[error("this kind of certificate says nothing of the {objective}")]
    OtherObjective {
        /// The objective of the bound.
        objective: Objective,
    },
    /// The bound is higher than the proven value, or lower for a throughput.
    #[error("the bound {stated} is not proved: its certificate proves {proven}")]
    TooStrong {
        /// The bound.
        stated: String,
        /// The proven value.
        proven: String,
    },
}

/// Returns the error [`CertificateError::Malformed`] with a description of the problem.
pub(super) fn malformed<T>(problem: impl Into<String>) -> Result<T, CertificateError> {
    Err(CertificateError::Malformed(problem.into()))
}
