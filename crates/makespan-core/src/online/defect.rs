//! Violations of the contract of policies.

use thiserror::Error;

use crate::model::{ProcSet, Shortage, Time};
use crate::text::counted;

/// A decision of a policy that violates the contract.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Defect {
    /// The job does not exist.
    #[error("it names job {0}, which the instance does not have")]
    UnknownJob(u64),
    /// The job is not released yet, runs, has ended or was cancelled.
    #[error("it starts or cancels job `{0}`, which is not waiting")]
    NotWaiting(String),
    /// Some processors do not exist.
    #[error("it starts job `{job}` on {processors}; processors run from 0 to {last}")]
    UnknownProcessors {
        /// The job.
        job: String,
        /// The chosen processors.
        processors: ProcSet,
        /// The largest id.
        last: u32,
    },
    /// Other jobs hold some of the processors.
    #[error("it starts job `{job}` on {processors}, of which {busy} are busy")]
    Busy {
        /// The job.
        job: String,
        /// The chosen processors.
        processors: ProcSet,
        /// The processors that are not free.
        busy: ProcSet,
    },
    /// Some processors are reserved or down.
    #[error("it starts job `{job}` on {processors}, of which {closed} are unavailable until {until} s")]
    Unavailable {
        /// The job.
        job: String,
        /// The chosen processors.
        processors: ProcSet,
        /// The processors that are closed.
        closed: ProcSet,
        /// The expected end of the period.
        until: Time,
    },
    /// Some processors are reserved before the expected end of the job.
    #[error(
        "it starts job `{job}` on {processors}, of which {closed} are unavailable from {from} s; the job is expected \
         to end at {end} s"
    )]
    Closing {
        /// The job.
        job: String,
        /// The chosen processors.
        processors: ProcSet,
        /// The processors that close.
        closed: ProcSet,
        /// The start of the period.
        from: Time,
        /// Expected end of the job.
        end: Time,
    },
    /// The job does not accept the allotment.
    #[error("it starts job `{job}` on {}; the job accepts {min} to {max}", counted(.allotment, "processor"))]
    Allotment {
        /// The job.
        job: String,
        /// Number of processors.
        allotment: u32,
        /// Minimum number of processors.
        min: u32,
        /// Maximum number of processors.
        max: u32,
    },
    /// The job cannot run on the processors.
    #[error("it starts job `{job}` on processors {processors}, where the job cannot run")]
    Machine {
        /// The job.
        job: String,
        /// The processors.
        processors: ProcSet,
    },
    /// The platform requires best placement, and the processors are not in one.
    #[error(
        "it starts job `{job}` on {processors}, which are spread over nodes; on this platform (placement = compact) a job is \
         on one node if one is large enough, and else on whole nodes and a part of at most one"
    )]
    Scattered {
        /// The job.
        job: String,
        /// The chosen processors.
        processors: ProcSet,
    },
    /// The nodes lack a resource that the job needs, or there are too few licences.
    #[error("it starts a job whose needs are not met: {0}")]
    Resource(Box<Shortage>),
    /// Data of the job have not arrived on the processors.
    #[error(
        "it starts job `{job}` on {processors} before its data have arrived: the data of `{from}` arrive at {arrival} s"
    )]
    Data {
        /// The job.
        job: String,
        /// The chosen processors.
        processors: ProcSet,
        /// The task that produces the data.
        from: String,
        /// Arrival of the data.
        arrival: Time,
    },
    /// Tasks wait although nothing runs and nothing will be released, and the policy requests no wake-up.
    #[error("it leaves {waiting} jobs waiting for ever, `{example}` among them")]
    Stalled {
        /// Number of waiting tasks.
        waiting: usize,
        /// One of these tasks.
        example: String,
    },
    /// The policy does nothing at many consecutive wake-ups or failures.
    #[error(
        "it did nothing at {instants} consecutive instants at which it was woken or processors went down or up, while no \
         job ran and `{example}` was waiting"
    )]
    Restless {
        /// Number of these instants.
        instants: u64,
        /// One of the waiting tasks.
        example: String,
    },
}
