//! The reasons why a certificate proves nothing.

use makespan_core::{JobId, Objective, Time, tree::TreeError};
use thiserror::Error;

/// The reason why a certificate proves nothing, or less than the stated bound.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CertificateError {
    /// The certificate names a job that does not exist.
    #[error("the certificate names job {0}, which the instance does not have")]
    UnknownJob(JobId),
    /// The certificate is malformed. The field describes the problem.
    #[error("the certificate is malformed: {0}")]
    Malformed(String),
    /// The certificate does not refute its deadline.
    #[error(
        "the certificate does not refute the deadline {deadline}: the jobs need only {needed} of {available} processor-ticks"
    )]
    NotRefuted {
        /// The deadline that is not refuted.
        deadline: Time,
        /// Minimum area that the jobs need, in processor-ticks.
        needed: i128,
        /// Available area, in processor-ticks.
        available: i128,
    },
    /// The processors of the platform differ in speed, the platform has a network, or jobs have a time for each
    /// machine.
    #[error(
        "the certificate applies only to equal processors, but the processors of this instance differ or form a tree"
    )]
    UnequalProcessors,
    /// The instance has compound jobs, which the certificate does not support.
    #[error("the certificate applies only to single tasks and bags, but some job is a graph of tasks")]
    Compound,
    /// The instance does not consist of bags of tasks on a tree.
    #[error("the certificate applies only to bags of tasks on a tree of machines: {0}")]
    NoTree(TreeError),
    /// A value that the check computes exceeds 128 bits.
    #[error("the certificate's figures are too large to check exactly")]
    Overflow,
    /// A job cannot end by the horizon of the certificate. So no schedule ends by the horizon, and the certificate
    /// bounds no schedule.
    #[error("no schedule ends by the horizon {horizon} of the certificate: job {job} cannot end by then")]
    HorizonTooShort {
        /// The horizon of the certificate.
        horizon: Time,
        /// The first job that cannot end by the horizon.
        job: JobId,
    },
    /// The certificate is valid only for schedules that end by a horizon, but the bound claims to be valid for more
    /// schedules.
    #[error(
        "the certificate speaks only of schedules with makespan at most {horizon}; the bound must state \
         makespan_at_most, and no later instant"
    )]
    OnlyUntil {
        /// The horizon of the certificate.
        horizon: Time,
    },
    /// The kind of proof does not bound this objective.
    #[error("this kind of certificate does not bound the {objective}")]
    OtherObjective {
        /// The objective of the bound.
        objective: Objective,
    },
    /// The stated bound is higher than the proven value, or, for a throughput, lower.
    #[error("the bound {stated} is not proved: its certificate proves {proven}")]
    TooStrong {
        /// The stated bound.
        stated: String,
        /// The value that the certificate proves.
        proven: String,
    },
}

/// Returns the error [`CertificateError::Malformed`] with a description of the problem.
pub(super) fn malformed<T>(problem: impl Into<String>) -> Result<T, CertificateError> {
    Err(CertificateError::Malformed(problem.into()))
}
