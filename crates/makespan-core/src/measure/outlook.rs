//! The predicted start of a waiting job, and the reasons why it waits.

use serde::Serialize;

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
/// use makespan_core::WaitReason;
///
/// let reason = WaitReason::new("held", "held by its user", "it is held by its user").with("scontrol release 7");
/// assert_eq!(reason.remedy.as_deref(), Some("scontrol release 7"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WaitReason {
    /// The kind of the reason, one of: `held`, `dependency`, `begin-time`, `partition`, `reservation`, `limit`,
    /// `nodes`, `resources`, `priority`, `deadline`, `slurm`, `next`.
    pub kind: &'static str,
    /// The reason in a few words, such as `10 jobs before it`.
    pub brief: String,
    /// The reason as a sentence.
    pub text: String,
    /// The change that would let the job start, if a person can make it.
    pub remedy: Option<String>,
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
    pub fn new(kind: &'static str, brief: impl Into<String>, text: impl Into<String>) -> Self {
        Self { kind, brief: brief.into(), text: text.into(), remedy: None }
    }

    /// Returns this reason with a remedy.
    #[must_use]
    pub fn with(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }
}
