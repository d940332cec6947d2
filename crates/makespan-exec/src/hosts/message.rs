//! The messages between the planner and the agent of a host.

use serde::{Deserialize, Serialize};

use super::frame::{FileMessage, FilePart};
use crate::order::{AttemptEnd, AttemptOrder};

/// A message of the planner.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum PlannerMessage {
    /// The first message of a connection.
    Open(Box<Opening>),
    /// Start this attempt.
    Start(Box<AttemptOrder>),
    /// End an attempt.
    End {
        /// The attempt.
        id: String,
        /// True to kill the attempt.
        kill: bool,
    },
    /// A beat that the planner has received.
    Returned(u64),
    /// The planner has recorded the end of an attempt.
    Forget(String),
    /// A part of an input file, before [`PlannerMessage::Start`]. The files are listed in
    /// [`crate::engine::Staging::reads`]. Sent only if the host does not share the folder of the run.
    File(FilePart),
    /// The run is over: end all tasks and the agent.
    Over,
}

impl FileMessage for PlannerMessage {
    fn part(&mut self) -> Option<&mut FilePart> {
        if let Self::File(part) = self { Some(part) } else { None }
    }

    fn of_part(part: FilePart) -> Self {
        Self::File(part)
    }
}

/// A message of the agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum HostMessage {
    /// The first message of a connection, before [`PlannerMessage::Open`].
    Facts(HostFacts),
    /// The agent is ready.
    Welcome {
        /// Identifies the process of the agent.
        agent: String,
        /// The attempts that run, and the ended attempts that the planner has not recorded.
        held: Vec<String>,
        /// True if the host shares the folder of the run.
        shares: bool,
    },
    /// The host cannot run tasks, for this reason.
    Unfit(String),
    /// A sign of life, which the planner returns.
    Beat(u64),
    /// A part of a file that an ended attempt has written, before [`HostMessage::Ended`]. The files are standard output,
    /// standard error, the status, and the files in [`crate::engine::Staging::writes`]. Sent only if the host does not
    /// share the folder of the run.
    File(FilePart),
    /// An attempt has ended.
    Ended(String, AttemptEnd),
    /// Information for the user.
    Told(String),
}

impl FileMessage for HostMessage {
    fn part(&mut self) -> Option<&mut FilePart> {
        if let Self::File(part) = self { Some(part) } else { None }
    }

    fn of_part(part: FilePart) -> Self {
        Self::File(part)
    }
}

/// Properties of a host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct HostFacts {
    /// The name that the host has for itself.
    pub host: String,
    /// Number of cores that processes of the user may use.
    pub cores: u32,
    /// Memory in bytes, if known.
    pub memory: Option<u64>,
    /// Number of GPUs, if known.
    pub gpus: Option<u64>,
}

/// The run and the folders for which a connection is opened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Opening {
    /// A text that identifies the run.
    pub run: String,
    /// The name of the host in the plan.
    pub host: String,
    /// The folder of the run on the machine of the planner.
    pub folder: String,
    /// The working folder of tasks, if the user stated one for this host.
    pub directory: Option<String>,
    /// The working folder of the planner, where tasks run without a stated folder.
    pub here: String,
    /// True if tasks run in their own folders (`--scratch`).
    pub is_scratch: bool,
    /// True if the host shares the folder of the run. Set on the host.
    #[serde(default)]
    pub shares: bool,
}
