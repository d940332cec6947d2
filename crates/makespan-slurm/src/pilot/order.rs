//! What the agent of a node is told of a task, and what it says of its end.

use std::time::Duration;

use makespan_core::{ProcSet, TaskId, Time};
use makespan_exec::engine::TaskFiles;
use serde::{Deserialize, Serialize};

/// An attempt at a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    pub task: TaskId,
    pub attempt: u32,
    /// What it is called.
    pub name: String,
    /// The program and its arguments, with `{processors}` and `{gpus}`.
    pub command: Vec<String>,
    /// How many processors it has, on all nodes together.
    pub allotment: u32,
    /// Those of this node, which is the first, numbered from 0.
    pub processors: ProcSet,
    /// The GPUs that it holds here, numbered from 0; `None` where the platform states none.
    pub gpus: Option<Vec<u64>>,
    /// Those that it holds on all nodes, numbered through the platform.
    pub all_gpus: Vec<u64>,
    /// Most bytes of memory, where they are to be limited.
    pub memory: Option<u64>,
    /// After how long it is ended, should the planner not do so.
    pub walltime: Option<Time>,
    /// How long it may take to react to SIGTERM then.
    pub grace: Duration,
    pub files: TaskFiles,
    pub environment: Vec<(String, String)>,
    /// What its status will hold.
    pub claim: String,
    /// What must have succeeded before it begins, where nobody else sees to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Before>,
}

/// An attempt that another one waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Before {
    /// What it is called.
    pub name: String,
    /// Its status file, from the folder of the run on, and what that will hold.
    pub status: String,
    pub claim: String,
}

/// How an attempt ended, as far as its agent knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The process around it ended with this status.
    Exit(i32),
    /// It reached its walltime while no planner was there to end it.
    TimedOut,
    /// It was not started, for this reason.
    Refused(String),
    /// Nothing is left of it, and it has left no end of its own.
    Gone,
}

impl Fate {
    /// As it stands in the name of a file.
    pub fn word(&self) -> String {
        match self {
            Self::Exit(status) => status.to_string(),
            Self::TimedOut => "walltime".into(),
            Self::Refused(_) => "refused".into(),
            Self::Gone => "gone".into(),
        }
    }

    /// Of such a word; the reason of a refusal is elsewhere.
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
impl Order {
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
