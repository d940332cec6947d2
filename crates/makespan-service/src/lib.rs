//! A service that runs jobs for several users. Users submit jobs at any time. The service stores each job on disk
//! before it acknowledges the submission, and runs the jobs on this machine or on Slurm with the policy loop of
//! `makespan run`.
//!
//! [`Service`] is the trait with the operations of the service, and [`words`] contains their argument and result
//! types. [`http`] is the HTTP server, [`client`] is an HTTP client, [`tokens`] authenticates users,
//! and [`backup`] copies the store.

pub mod backup;
pub mod client;
mod clock;
pub mod host;
pub mod http;
mod keeper;
mod log;
mod page;
mod prepare;
mod redact;
mod service;
mod store;
pub mod tokens;
pub mod words;

pub use host::Host;
pub use keeper::{Keeper, KeeperOptions};
pub use log::{Log, Priority, report_failed_start};
pub use service::Service;
pub use store::{StoreState, examine};

/// Name of the algorithm that plans the jobs.
pub(crate) const PLANNER: &str = "optimise";
