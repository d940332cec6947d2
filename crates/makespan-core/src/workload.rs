//! What users submit.

use crate::{Profile, Time, Weight};

/// The position of a job in its instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct JobId(pub u32);

impl JobId {
    /// As an index into the jobs of the instance.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a user submits and waits for: today one moldable, rigid or sequential [`Task`].
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Unique name.
    pub name: String,
    /// Importance in weighted completion.
    pub weight: Weight,
    /// The job cannot start earlier.
    pub release: Time,
    /// `run` ends the job after this time; allotments that take longer are not used.
    pub walltime: Option<Time>,
    /// What is placed.
    pub task: Task,
}

/// What is placed on processors.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Time as a function of the allotment.
    pub profile: Profile,
    /// The program and its arguments, for `run`; `{processors}` stands for the allotment. Empty when there is none.
    pub command: Vec<String>,
}

impl Job {
    /// A job of weight 1, released at 0, without walltime or command.
    pub fn new(name: impl Into<String>, profile: Profile) -> Self {
        Self {
            name: name.into(),
            weight: Weight::ONE,
            release: Time::ZERO,
            walltime: None,
            task: Task { profile, command: Vec::new() },
        }
    }

    /// The same job with this weight.
    pub fn with_weight(self, weight: Weight) -> Self {
        Self { weight, ..self }
    }

    /// The same job, not before this instant.
    pub fn with_release(self, release: Time) -> Self {
        Self { release, ..self }
    }

    /// Time as a function of the allotment.
    pub fn profile(&self) -> &Profile {
        &self.task.profile
    }
}
