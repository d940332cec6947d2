//! The order that a planner gives to an agent on another machine, and the end that the agent reports.

use std::time::Duration;

use makespan_core::{ProcSet, TaskId, Time};
use serde::{Deserialize, Serialize};

use crate::engine::{EngineStart, Notice, TaskFiles};
use crate::slots::NodeSlots;

/// The order to run an attempt of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptOrder {
    /// The task.
    pub task: TaskId,
    /// Number of the attempt, counted from 1.
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
    /// The files of the attempt, relative to the folder of the run.
    pub files: TaskFiles,
    /// Additional environment variables.
    pub environment: Vec<(String, String)>,
    /// The text that the status file will contain.
    pub claim: String,
    /// The attempts that must succeed before this attempt starts. Used for Slurm jobs, because a dependency in Slurm
    /// may refer to a reused job id. Empty for agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<PredecessorAttempt>,
}

/// The nodes of an attempt: for each node, its name and the processors of the attempt on it, numbered from 0. The agent
/// of the first node runs the attempt.
pub type AttemptNodes = Vec<(String, ProcSet)>;

impl AttemptOrder {
    /// Creates the order for an attempt on these nodes. `head` is the slot of the first node.
    ///
    /// # Errors
    /// The attempt has no processors.
    pub fn new(
        start: &EngineStart<'_>,
        (slots, head): (&NodeSlots, usize),
        nodes: &AttemptNodes,
        grace: Duration,
    ) -> Result<Self, String> {
        let (_, here) = nodes.first().ok_or("it has no processors")?;
        let share = |bytes: u64| {
            let part = u128::from(bytes) * u128::from(here.len());
            u64::try_from(part.div_ceil(u128::from(start.allotment.max(1)))).unwrap_or(u64::MAX)
        };
        Ok(Self {
            gpus: start.gpus.map(|numbers| slots.gpus(head, numbers)),
            all_gpus: start.gpus.map(<[u64]>::to_vec).unwrap_or_default(),
            memory: start.memory.map(share),
            environment: [Self::variables(nodes, here), start.environment.to_vec()].concat(),
            ..Self::on(start, here, grace)
        })
    }

    /// Creates the order for an attempt on these processors of its first node, without GPUs, memory and environment.
    pub fn on(start: &EngineStart<'_>, processors: &ProcSet, grace: Duration) -> Self {
        Self {
            task: start.task,
            attempt: start.attempt,
            name: start.name.to_owned(),
            command: start.command.to_vec(),
            allotment: start.allotment,
            processors: processors.clone(),
            gpus: None,
            all_gpus: Vec::new(),
            memory: None,
            walltime: start.walltime,
            grace,
            files: start.files.clone(),
            environment: Vec::new(),
            claim: String::new(),
            after: Vec::new(),
        }
    }

    /// Returns the environment variables that describe the nodes of an attempt. `here` contains its processors on this
    /// node.
    pub fn variables(nodes: &[(String, ProcSet)], here: &ProcSet) -> Vec<(String, String)> {
        let names: Vec<&str> = nodes.iter().map(|(name, _)| name.as_str()).collect();
        let counts: Vec<String> = nodes.iter().map(|(_, own)| own.len().to_string()).collect();
        vec![
            ("MAKESPAN_NODES".into(), names.join(",")),
            ("MAKESPAN_NODE_PROCESSORS".into(), counts.join(",")),
            ("MAKESPAN_CPUS".into(), here.to_string()),
        ]
    }

    /// Returns the attempt as the engine of the agent's machine receives it.
    pub fn start(&self) -> EngineStart<'_> {
        EngineStart {
            task: self.task,
            name: &self.name,
            command: &self.command,
            attempt: self.attempt,
            allotment: self.allotment,
            processors: &self.processors,
            is_pinned: true,
            gpus: self.gpus.as_deref(),
            memory: self.memory,
            walltime: self.walltime,
            expected: Time::ZERO,
            is_guess: false,
            files: &self.files,
            environment: &self.environment,
            not_before: Duration::ZERO,
            after: &[],
        }
    }
}

/// Returns the id of an attempt, which is the name of its status file.
pub fn attempt_id(status: &str) -> String {
    status.rsplit_once('/').map_or(status, |(_, name)| name).to_owned()
}

/// A predecessor of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredecessorAttempt {
    /// The name of the task.
    pub name: String,
    /// The path of the predecessor's status file, relative to the folder of the run.
    pub status: String,
    /// The expected text of this status file.
    pub claim: String,
}

/// The end of an attempt, as its agent reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AttemptEnd {
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
    /// Returns the status with which the process that wraps the task ended, or -1 if it left none.
    pub fn exit_status(end: Option<&Self>) -> i32 {
        if let Some(Self::Exit(status)) = end { *status } else { -1 }
    }

    /// Returns the notice of this end of a task. `None` if the attempt is gone, because its engine knows the reason.
    pub fn notice(self, task: TaskId) -> Option<Notice> {
        match self {
            Self::Exit(_) => Some(Notice::Ended(task)),
            Self::TimedOut => Some(Notice::TimedOut(task)),
            Self::Refused(reason) => Some(Notice::Refused(task, reason)),
            Self::Gone => None,
        }
    }

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
