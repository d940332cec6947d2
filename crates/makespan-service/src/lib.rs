//! A service that runs jobs for several people: they come at any time, are kept on disk before they are acknowledged, and are run by the
//! policy loop of `run`, on this machine or on Slurm.
//!
//! [`Service`] is what it does for those who ask; [`words`] are what they say.

pub mod host;
mod keeper;
mod prepare;
mod service;
mod store;
pub mod words;

pub use host::Host;
pub use keeper::{Keeper, KeeperOptions};
pub use service::Service;

/// The policy that decides.
pub(crate) const POLICY: &str = "improve";
