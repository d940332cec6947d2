//! Resource usage of a run, as counted by the operating system.

use serde::{Deserialize, Serialize};

use crate::model::Time;

/// Resource usage of a run, as counted by the operating system for all processes of the run together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accounting {
    /// User and system CPU time.
    pub cpu: Time,
    /// Peak resident memory in bytes: of all processes together if a control group counts it, otherwise of the largest
    /// process.
    pub peak_memory: u64,
    /// Mean number of threads that ran or were ready to run, rounded. `None` of a run that was too short to count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Evidence that lack of memory ended the run, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_kill: Option<MemoryKill>,
}

/// The evidence that lack of memory ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKill {
    /// The control group of the run reports it.
    Certain,
    /// A SIGKILL ended the run that this program did not send, and the system killed some process for lack of memory
    /// during the run.
    Likely,
}
