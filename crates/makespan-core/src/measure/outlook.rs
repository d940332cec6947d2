//! The predicted start of a waiting job, and the reasons why it waits.

use serde::{Deserialize, Serialize};

/// The predicted start of a waiting job, with its range, and the reasons why the job does not start now. `T` is the type
/// of instants.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outlook<T> {
    /// Expected start. `None` if the start is unknown, or if the job cannot start without a change.
    pub start: Option<T>,
    /// First instant of the range of the start.
    pub early: Option<T>,
    /// Last instant of the range of the start.
    pub late: Option<T>,
    /// The reasons why the job does not start now, the most important reason first.
    pub reasons: Vec<WaitReason>,
}

/// A reason why a job waits.
///
/// ```
/// use makespan_core::{WaitKind, WaitReason};
///
/// let reason = WaitReason::new(WaitKind::Held, "held by its user", "it is held by its user").with("scontrol release 7");
/// assert_eq!(reason.remedy.as_deref(), Some("scontrol release 7"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WaitReason {
    /// The kind of the reason.
    pub kind: WaitKind,
    /// The reason in a few words, such as `10 jobs before it`.
    pub brief: String,
    /// The reason as a sentence.
    pub text: String,
    /// The change that would let the job start, if a person can make it.
    pub remedy: Option<String>,
}

/// The kind of a reason why a job waits. JSON and metrics contain its [name](WaitKind::name).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitKind {
    /// Somebody must release the job.
    Held,
    /// The job waits for other jobs.
    Dependency,
    /// The job has an earliest start.
    BeginTime,
    /// No partition accepts the job, or its partition is closed.
    Partition,
    /// A reservation delays the job.
    Reservation,
    /// The job would exceed a limit of its user, account or QOS.
    Limit,
    /// Too few nodes accept the job, because nodes are down or too small.
    Nodes,
    /// Other jobs use the processors or other resources that the job needs.
    Resources,
    /// Other jobs come first.
    Priority,
    /// The job misses its deadline.
    Deadline,
    /// Only Slurm states a reason.
    Slurm,
    /// A problem of the service delays all jobs.
    Service,
    /// Nothing delays the job: it starts in the next cycle of the scheduler.
    Next,
}

impl WaitKind {
    /// All kinds.
    pub const ALL: [Self; 13] = [
        Self::Held,
        Self::Dependency,
        Self::BeginTime,
        Self::Partition,
        Self::Reservation,
        Self::Limit,
        Self::Nodes,
        Self::Resources,
        Self::Priority,
        Self::Deadline,
        Self::Slurm,
        Self::Service,
        Self::Next,
    ];

    /// Returns the name of the kind, such as `begin-time`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Dependency => "dependency",
            Self::BeginTime => "begin-time",
            Self::Partition => "partition",
            Self::Reservation => "reservation",
            Self::Limit => "limit",
            Self::Nodes => "nodes",
            Self::Resources => "resources",
            Self::Priority => "priority",
            Self::Deadline => "deadline",
            Self::Slurm => "slurm",
            Self::Service => "service",
            Self::Next => "next",
        }
    }
}

impl<T> Outlook<T> {
    /// Converts the instants.
    pub fn map<U>(&self, mut instant: impl FnMut(&T) -> U) -> Outlook<U> {
        let [start, early, late] = [&self.start, &self.early, &self.late].map(|at| at.as_ref().map(&mut instant));
        Outlook { start, early, late, reasons: self.reasons.clone() }
    }
}

impl WaitReason {
    /// Creates a reason without a remedy.
    pub fn new(kind: WaitKind, brief: impl Into<String>, text: impl Into<String>) -> Self {
        Self { kind, brief: brief.into(), text: text.into(), remedy: None }
    }

    /// Returns this reason with a remedy.
    #[must_use]
    pub fn with(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_kind_is_its_json() {
        for kind in WaitKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}
