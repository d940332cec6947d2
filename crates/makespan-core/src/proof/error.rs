//! Why nothing is proved.

use thiserror::Error;

use crate::model::{JobId, Time};
use crate::schedule::Objective;
use crate::tree::TreeError;

/// Why a certificate proves nothing, or less than was stated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CertificateError {
    /// A job that is not in the instance.
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
    /// No bags of tasks on a tree.
    #[error("the certificate speaks of bags of tasks on a tree of machines: {0}")]
    NoTree(TreeError),
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
    /// A kind of proof that says nothing of the objective.
    #[error("this kind of certificate says nothing of the {objective}")]
    OtherObjective {
        /// What the bound is on.
        objective: Objective,
    },
    /// The bound is higher than what the certificate proves, or lower on a throughput.
    #[error("the bound {stated} is not proved: its certificate proves {proven}")]
    TooStrong {
        /// The bound.
        stated: String,
        /// What follows from the certificate.
        proven: String,
    },
}

/// Returns the error [`CertificateError::Malformed`] with a description of the problem.
pub(super) fn malformed<T>(problem: impl Into<String>) -> Result<T, CertificateError> {
    Err(CertificateError::Malformed(problem.into()))
}
