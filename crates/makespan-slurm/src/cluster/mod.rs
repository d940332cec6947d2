//! A cluster as Slurm describes it.

mod config;
mod job;
mod json;
mod node;
mod nodes_json;
mod partition;
mod read;
mod state;

pub use config::Config;
pub use job::{Job, Share};
pub use node::Node;
pub use partition::Partition;
pub use read::QueryReading;
pub use state::{JobState, NodeState};

#[doc(hidden)]
pub use json::jobs_of_json;
pub(crate) use json::{plain, version_of_json};
pub(crate) use nodes_json::nodes_of_json;
pub(crate) use read::{read_all, read_records, shown};
