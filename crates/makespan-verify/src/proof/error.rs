//! The reasons why a certificate proves nothing.

use makespan_core::{JobId, Objective, Time, tree::TreeError};
use thiserror::Error;

/// The reason why a certificate proves nothing, or less than the stated bound.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CertificateError {
    /// The certificate names a job that does not exist.
    #[error(
        "the certificate cannot be read: it refers to job {0}, which the instance does not have; the instance may have \
         been edited after the plan was made"
    )]
    UnknownJob(JobId),
    /// The certificate is malformed. The field describes the problem.
    #[error("the certificate cannot be read: {0}")]
    Malformed(String),
    /// A step of the certificate does not follow from the steps before it.
    #[error("step {step} of the certificate is not valid: {reason}")]
    InvalidStep {
        /// The number of the step, from 1. If the step is nested in another step, both numbers are given, separated by
        /// a point, as in `12.3`.
        step: String,
        /// The reason why the step is not valid: [`CertificateError::Unproved`] or [`CertificateError::NotRefuted`].
        reason: Box<Self>,
    },
    /// The certificate is well formed, but it proves nothing about this instance. The field states the reason.
    #[error("{0}")]
    Unproved(String),
    /// The certificate does not refute its deadline.
    #[error(
        "the jobs need only {needed} of {available} processor-ticks until the deadline {deadline} of the certificate"
    )]
    NotRefuted {
        /// The deadline that is not refuted.
        deadline: Time,
        /// Minimum amount that the jobs need: processor-ticks, or the unit of the prices of the certificate.
        needed: i128,
        /// Available amount, in the unit of `needed`.
        available: i128,
    },
    /// The processors of the platform differ in speed, the platform has a network, or jobs have a time for each
    /// machine.
    #[error(
        "the certificate applies only to equal processors, but the processors of this instance differ or form a tree"
    )]
    UnequalProcessors,
    /// The instance has compound jobs, which the certificate does not support.
    #[error("the certificate applies only to single tasks and bags, but at least one job is a graph of tasks")]
    Compound,
    /// The instance does not consist of bags of tasks on a tree.
    #[error(
        "the certificate applies only to bags of tasks on a tree of machines: {0}; the plan may be for another instance"
    )]
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
        "the certificate proves less than it claims: the bound is for {stated}, but the certificate is valid only for \
         schedules with makespan at most {horizon}; state at most this instant in `makespan_at_most`"
    )]
    OnlyUntil {
        /// The schedules for which the bound claims to be valid.
        stated: String,
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
    #[error("the certificate proves less than it claims: the bound is {stated}, but the certificate proves {proven}")]
    TooStrong {
        /// The stated bound.
        stated: String,
        /// The value that the certificate proves, or the reason why it proves nothing.
        proven: String,
    },
}

impl CertificateError {
    /// Returns the error for a bound with the value `stated`. The result is one of three errors: the certificate cannot
    /// be read, a step is not valid, or the certificate proves less than the bound.
    pub(super) fn of_bound(self, stated: String) -> Self {
        match self {
            Self::UnknownJob(_) | Self::Malformed(_) | Self::InvalidStep { .. } => self,
            reason => Self::TooStrong { stated, proven: format!("nothing, because {reason}") },
        }
    }

    /// Returns an error that names the step with this number, and this error as the reason why the step is not valid.
    pub(super) fn in_step(self, number: usize) -> Self {
        let step = number.to_string();
        match self {
            Self::InvalidStep { step: inner, reason } if inner.is_empty() => Self::InvalidStep { step, reason },
            Self::InvalidStep { step: inner, reason } => Self::InvalidStep { step: format!("{step}.{inner}"), reason },
            reason @ Self::NotRefuted { .. } => Self::InvalidStep { step, reason: Box::new(reason) },
            other => other,
        }
    }
}

/// Returns the error [`CertificateError::Malformed`] with a description of the problem.
pub(super) fn malformed<T>(problem: impl Into<String>) -> Result<T, CertificateError> {
    Err(CertificateError::Malformed(problem.into()))
}

/// Returns the error [`CertificateError::InvalidStep`] without the number of the step, which
/// [`CertificateError::in_step`] adds.
pub(super) fn invalid<T>(problem: impl Into<String>) -> Result<T, CertificateError> {
    let reason = Box::new(CertificateError::Unproved(problem.into()));
    Err(CertificateError::InvalidStep { step: String::new(), reason })
}

/// Returns the error [`CertificateError::Unproved`] with its reason.
pub(super) fn unproved<T>(reason: impl Into<String>) -> Result<T, CertificateError> {
    Err(CertificateError::Unproved(reason.into()))
}
