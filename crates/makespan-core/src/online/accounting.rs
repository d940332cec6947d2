//! What a run used, as the operating system counted it.

use serde::{Deserialize, Serialize};

use crate::model::Time;

/// What the operating system counted of a run: of all its processes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accounting {
    /// Time on processors, as a user and in the system.
    pub cpu: Time,
    /// Most bytes of memory that were resident at a time: of the processes together where a control group counts them, else of the
    /// largest process.
    pub peak_memory: u64,
    /// Mean number of threads that ran or were ready to run, rounded. `None` of a run that was too short to count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Whether lack of memory ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_kill: Option<MemoryKill>,
}

/// How it is known that lack of memory ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKill {
    /// Its control group says so.
    Certain,
    /// It was killed by a SIGKILL that nobody here sent, and the system killed some process for memory in that time.
    Likely,
}
