//! The queue of a cluster at an instant: what waits and what runs, with all that decides when a job starts.
//!
//! [`Queue::read`] asks a running Slurm, [`Queue::from_folder`] reads what its commands printed at another time. Both only read: no
//! command is run that changes anything.

mod array;
mod barred;
mod beside;
mod dependency;
mod doubts;
mod grown;
mod holding;
mod job;
mod limits;
mod listed;
mod now;
mod parts;
mod past;
mod present;
mod read;
mod request;
mod reservation;
mod saved;
mod site;
mod waits;

pub use array::{Member, members};
pub use barred::Bar;
pub use dependency::{Condition, Dependency};
pub use holding::Holding;
pub use job::{QueueJob, Run};
pub use limits::{Association, Budget, JobLimits, Limits, Qos};
pub use makespan_core::{FeatureChoice, Features};
pub use parts::{Part, Texts};
pub use past::PastRun;
pub use present::{Present, PresentError};
pub use request::{Memory, Request};
pub use reservation::{Licence, Reservation};
pub use saved::SavedError;

use crate::{Config, Node, Partition};

/// A cluster's queue at an instant. It may be changed before it is used, to ask what would be if.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// The instant, in seconds after 1970.
    pub now: i64,
    /// Settings; empty where they could not be read.
    pub config: Config,
    /// All nodes, those that are away too.
    pub nodes: Vec<Node>,
    /// All partitions.
    pub partitions: Vec<Partition>,
    /// Reservations of nodes and licences, those of the future too.
    pub reservations: Vec<Reservation>,
    /// Licences that the cluster counts.
    pub licences: Vec<Licence>,
    /// Limits by quality of service; empty where the cluster keeps no accounts.
    pub qos: Vec<Qos>,
    /// Limits of accounts and of their users; empty where the cluster keeps no accounts.
    pub associations: Vec<Association>,
    /// Jobs that wait or run, each task of an array by itself, in Slurm's order.
    pub jobs: Vec<QueueJob>,
    /// What is held by jobs that this user may not see.
    pub hidden: Vec<Holding>,
    /// Jobs that ended, from which times are learned.
    pub past: Vec<PastRun>,
    /// Why it has no more of these than the controller remembers, in a sentence; `None` where accounts were read.
    pub past_missing: Option<String>,
    /// What is missing or strange, in sentences.
    pub remarks: Vec<String>,
}

impl Queue {
    /// A partition by its name.
    pub fn partition(&self, name: &str) -> Option<&Partition> {
        self.partitions.iter().find(|partition| partition.name == name)
    }

    /// A word of `SchedulerParameters`, such as `bf_interval`, with its value if it has one.
    pub fn scheduler_parameter(&self, name: &str) -> Option<&str> {
        let words = self.config.get("SchedulerParameters")?.split(',');
        words
            .filter_map(|word| word.trim().split_once('=').or(Some((word.trim(), ""))))
            .find_map(|(known, value)| known.eq_ignore_ascii_case(name).then_some(value))
    }

    /// The same as a number.
    pub fn scheduler_number(&self, name: &str) -> Option<i64> {
        self.scheduler_parameter(name)?.parse().ok()
    }

    /// Whether memory is given out, as processors are. Where the settings are missing it is if some job holds memory.
    pub fn counts_memory(&self) -> bool {
        match self.config.get("SelectTypeParameters") {
            Some(text) => text.to_uppercase().contains("MEMORY"),
            None if self.config.settings().is_empty() => {
                let held = self.jobs.iter().filter_map(|job| job.run.as_ref()).flat_map(|run| &run.holds);
                held.map(|holding| holding.memory).any(|memory| memory > 0)
            }
            None => false,
        }
    }

    /// Whether whole cores are given out, of all their hardware threads.
    pub fn gives_whole_cores(&self) -> bool {
        self.config.get("SelectTypeParameters").is_some_and(|text| text.to_uppercase().contains("CR_CORE"))
    }

    /// Whether whole nodes are given out.
    pub fn gives_whole_nodes(&self) -> bool {
        self.config.get("SelectType").is_some_and(|text| text == "select/linear")
    }
}
