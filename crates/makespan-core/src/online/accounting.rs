//! Resource usage of a run, as counted by the operating system.

use serde::{Deserialize, Serialize};

use crate::model::Time;

/// Resource usage of a run, as counted by the operating system for all processes of the run together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accounting {
    /// User and system CPU time.
    pub cpu: Time,
    /// Peak resident memory in bytes: of all processes together if a control group measures memory, otherwise of the
    /// largest process.
    pub peak_memory: u64,
    /// Mean number of threads that ran or were ready to run, rounded. `None` if the run was too short to count its
    /// threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Memory in bytes that was reserved for the run: the amount that its task needs, or more after a lack of memory.
    /// `None` if no memory was reserved. The operating system does not count this value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_memory: Option<u64>,
    /// Evidence that the run was killed for lack of memory, if there is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_kill: Option<MemoryKill>,
}

/// The evidence that a run was killed for lack of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKill {
    /// The control group of the run reports that a process was killed for lack of memory.
    Certain,
    /// The run was killed by a SIGKILL that this program did not send, and during the run, the system killed some
    /// process for lack of memory.
    Likely,
}
