//! Violations of the contract of policies.

use thiserror::Error;

use crate::model::{ProcSet, Shortage, Time};
use crate::text::counted;

/// A decision of a policy that violates the contract.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Defect {
    /// The job does not exist.
    #[error("it refers to job {0}, which the instance does not have")]
    UnknownJob(u64),
    /// The job is not waiting: it is not released yet, already runs, has ended or was cancelled.
    #[error("it starts or cancels job `{0}`, which is not waiting")]
    NotWaiting(String),
    /// Some processors do not exist.
    #[error("it starts job `{job}` on {processors}; processors are numbered from 0 to {last}")]
    UnknownProcessors {
        /// Name of the job.
        job: String,
        /// The chosen processors.
        processors: ProcSet,
        /// The largest processor id of the platform.
        last: u32,
    },
    /// Other jobs hold some of the processors.
    #[error("it starts job `{job}` on {processors}, of which {busy} are busy")]
    Busy {
        /// Name of the job.
        job: String,
        /// The chosen processors.
        processors: ProcSet,
        /// The chosen processors that are not free.
        busy: ProcSet,
    },
    /// Some processors are reserved or down.
    #[error("it starts job `{job}` on {processors}, of which {closed} are unavailable until {until} s")]
    Unavailable {
        /// Name of the job.
        job: String,
        /// The chosen processors.
        processors: ProcSet,
        /// The chosen processors that are unavailable.
        closed: ProcSet,
        /// The expected end of the period in which these processors are unavailable.
        until: Time,
    },
    /// Some processors are reserved before the expected end of the job.
    #[error(
        "it starts job `{job}` on {processors}, of which {closed} are unavailable from {from} s; the job is expected \
         to end at {end} s"
    )]
    Closing {
        /// Name of the job.
        job: String,
        /// The chosen processors.
        processors: ProcSet,
        /// The chosen processors that become unavailable.
        closed: ProcSet,
        /// The start of the unavailable period.
        from: Time,
        /// Expected end of the job.
        end: Time,
    },
    /// The job does not accept the allotment.
    #[error("it starts job `{job}` on {}; the job accepts {min} to {max}", counted(.allotment, "processor"))]
    Allotment {
        /// Name of the job.
        job: String,
        /// Number of chosen processors.
        allotment: u32,
        /// Minimum number of processors that the job accepts.
        min: u32,
        /// Maximum number of processors that the job accepts.
        max: u32,
    },
    /// The job accepts the number of processors, but cannot run on these processors.
    #[error("it starts job `{job}` on processors {processors}, on which the job cannot run")]
    Machine {
        /// Name of the job.
        job: String,
        /// The chosen processors.
        processors: ProcSet,
    },
    /// The platform requires best placement, but the processors do not form a best placement.
    #[error(
        "it starts job `{job}` on {processors}, which are spread over nodes; on this platform (placement = compact) a \
         job must run on one node if a node is large enough, otherwise on whole nodes and a part of at most one node"
    )]
    Scattered {
        /// Name of the job.
        job: String,
        /// The chosen processors.
        processors: ProcSet,
    },
    /// The nodes have too little of a resource that the job needs, or too few licences or consumables are left.
    #[error("it starts a job although there are not enough resources: {0}")]
    Resource(Box<Shortage>),
    /// Data of the job have not arrived on the processors.
    #[error(
        "it starts job `{job}` on {processors} before its data have arrived: the data of `{from}` arrive at {arrival} s"
    )]
    Data {
        /// Name of the job.
        job: String,
        /// The chosen processors.
        processors: ProcSet,
        /// Name of the task that produces the data.
        from: String,
        /// The instant at which the data arrive.
        arrival: Time,
    },
    /// The policy starts a task without another task of its gang.
    #[error("it starts job `{job}` without `{mate}`, which belongs to the same gang")]
    Gang {
        /// Name of the started task.
        job: String,
        /// Name of the task that did not start at this instant.
        mate: String,
    },
    /// Tasks wait for ever: no task runs, no task will be released, and the policy requests no wake-up.
    #[error("it leaves {waiting} jobs waiting for ever, such as `{example}`")]
    Stalled {
        /// Number of waiting tasks.
        waiting: usize,
        /// Name of one of the waiting tasks.
        example: String,
    },
    /// The policy makes no decision at many consecutive wake-ups or failures, although tasks wait.
    #[error(
        "while no job ran and `{example}` was waiting, it started no job at {instants} consecutive events (wake-ups, \
         and failures or repairs of processors)"
    )]
    Restless {
        /// Number of consecutive instants at which the policy made no decision.
        instants: u64,
        /// Name of one of the waiting tasks.
        example: String,
    },
}
