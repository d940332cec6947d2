//! The order that a planner gives to an agent, and the fate that the agent reports.

use std::time::Duration;

use makespan_core::{ProcSet, TaskId, Time};
use makespan_exec::engine::TaskFiles;
use serde::{Deserialize, Serialize};

/// The order to run an attempt of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AttemptOrder {
    pub task: TaskId,
    pub attempt: u32,
    /// The name of the task.
    pub name: String,
    /// The program and its arguments, which may contain `{processors}` and `{gpus}`.
    pub command: Vec<String>,
    /// Number of processors on all nodes together.
    pub allotment: u32,
    /// The processors on the first node of the task, numbered from 0. The agent runs on this node.
    pub processors: ProcSet,
    /// The GPUs that the task holds on this node, numbered from 0. `None` if the platform states no GPUs.
    pub gpus: Option<Vec<u64>>,
    /// The GPUs that the task holds on all nodes, by their numbers on the platform.
    pub all_gpus: Vec<u64>,
    /// Maximum memory in bytes. `None` if the memory is not limited.
    pub memory: Option<u64>,
    /// Time limit of the attempt. If no planner ends the task at this limit, the agent does.
    pub walltime: Option<Time>,
    /// Time between SIGTERM and SIGKILL at the walltime.
    pub grace: Duration,
    pub files: TaskFiles,
    pub environment: Vec<(String, String)>,
    /// The text that the status file will contain.
    pub claim: String,
    /// The attempts that must succeed before this attempt starts. Used for Slurm jobs, because a dependency in Slurm
    /// may refer to a reused job id. Empty in pilots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<PredecessorAttempt>,
}

/// A predecessor of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PredecessorAttempt {
    /// The name of the task.
    pub name: String,
    /// The path of the predecessor's status file, relative to the folder of the run.
    pub status: String,
    /// The expected text of this status file.
    pub claim: String,
}

/// The end of an attempt, as its agent reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AttemptEnd {
    /// The process that wraps the task ended with this status.
    Exit(i32),
    /// The attempt reached its walltime, and its agent ended it.
    TimedOut,
    /// The attempt was not started. Contains the reason.
    Refused(String),
    /// The attempt has ended and left no status.
    Gone,
}

impl AttemptEnd {
    /// Returns the word for this fate in file names.
    pub fn word(&self) -> String {
        match self {
            Self::Exit(status) => status.to_string(),
            Self::TimedOut => "walltime".into(),
            Self::Refused(_) => "refused".into(),
            Self::Gone => "gone".into(),
        }
    }

    /// Parses the word for a fate. The word does not contain the reason of a refusal.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "walltime" => Some(Self::TimedOut),
            "refused" => Some(Self::Refused(String::new())),
            "gone" => Some(Self::Gone),
            status => status.parse().ok().map(Self::Exit),
        }
    }
}

#[cfg(test)]
impl AttemptOrder {
    pub fn example() -> Self {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        Self {
            task: TaskId(3),
            attempt: 1,
            name: "a/1".into(),
            command: words(&["sh", "-c", "true"]),
            allotment: 2,
            processors: ProcSet::range(1, 2),
            gpus: None,
            all_gpus: vec![],
            memory: None,
            walltime: Some(Time::from_seconds(3)),
            grace: Duration::from_secs(1),
            files: TaskFiles {
                outputs: ["a.out".into(), "a.err".into()],
                status: "status/a.1".into(),
                staging: None,
                is_new: false,
            },
            environment: vec![],
            claim: "{}".into(),
            after: vec![],
        }
    }
}
