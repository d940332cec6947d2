//! What a policy may not do.

use thiserror::Error;

use crate::model::{ProcSet, Shortage, Time};
use crate::text::counted;

/// What a policy decided against its contract.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Defect {
    /// A job that the instance does not have.
    #[error("it names job {0}, which the instance does not have")]
    UnknownJob(u64),
    /// A job that is not released yet, runs, has ended or was cancelled.
    #[error("it starts or cancels job `{0}`, which is not waiting")]
    NotWaiting(String),
    /// Processors beyond the platform.
    #[error("it starts job `{job}` on {processors}; processors run from 0 to {last}")]
    UnknownProcessors {
        /// The job.
        job: String,
        /// Where.
        processors: ProcSet,
        /// The largest id.
        last: u32,
    },
    /// Processors that other jobs hold.
    #[error("it starts job `{job}` on {processors}, of which {busy} are busy")]
    Busy {
        /// The job.
        job: String,
        /// Where.
        processors: ProcSet,
        /// Those that are not free.
        busy: ProcSet,
    },
    /// Processors that are reserved or down.
    #[error("it starts job `{job}` on {processors}, of which {closed} are unavailable until {until} s")]
    Unavailable {
        /// The job.
        job: String,
        /// Where.
        processors: ProcSet,
        /// Those that are closed.
        closed: ProcSet,
        /// The end of the period, as far as it is known.
        until: Time,
    },
    /// Processors that are reserved before the job is expected to end.
    #[error(
        "it starts job `{job}` on {processors}, of which {closed} are unavailable from {from} s; the job is expected \
         to end at {end} s"
    )]
    Closing {
        /// The job.
        job: String,
        /// Where.
        processors: ProcSet,
        /// Those that close.
        closed: ProcSet,
        /// The start of the period.
        from: Time,
        /// When the job is expected to end.
        end: Time,
    },
    /// An allotment that the job does not accept.
    #[error("it starts job `{job}` on {}; the job accepts {min} to {max}", counted(.allotment, "processor"))]
    Allotment {
        /// The job.
        job: String,
        /// How many.
        allotment: u32,
        /// Fewest.
        min: u32,
        /// Most.
        max: u32,
    },
    /// Processors on which the job cannot run.
    #[error("it starts job `{job}` on processors {processors}, where the job cannot run")]
    Machine {
        /// The job.
        job: String,
        /// The processors.
        processors: ProcSet,
    },
    /// No best placement, where that is required.
    #[error(
        "it starts job `{job}` on {processors}, which are spread over nodes; on this platform (placement = compact) a job is \
         on one node if one is large enough, and else on whole nodes and a part of at most one"
    )]
    Scattered {
        /// The job.
        job: String,
        /// Where.
        processors: ProcSet,
    },
    /// Nodes on which something is missing that the job needs, or too few licences.
    #[error("it starts a job without what that needs: {0}")]
    Resource(Box<Shortage>),
    /// Processors that data of the job have not reached.
    #[error("it starts job `{job}` on {processors} before its data are there: those of `{from}` arrive at {arrival} s")]
    Data {
        /// The job.
        job: String,
        /// Where.
        processors: ProcSet,
        /// Where the data come from.
        from: String,
        /// When they are there.
        arrival: Time,
    },
    /// Nothing runs, nothing will be released, and it asks for no wake-up.
    #[error("it leaves {waiting} jobs waiting for ever, `{example}` among them")]
    Stalled {
        /// How many.
        waiting: usize,
        /// One of them.
        example: String,
    },
    /// It lets time pass from one wake-up or failure to the next and does nothing.
    #[error(
        "it did nothing at {instants} instants on end, at which it was woken or processors went down and up and no job \
         ran, while `{example}` is waiting"
    )]
    Restless {
        /// How many.
        instants: u64,
        /// One of the jobs.
        example: String,
    },
}
