//! A service that runs jobs for several people: they come at any time, are kept on disk before they are acknowledged, and are run by the
//! policy loop of `run`, on this machine or on Slurm.
//!
//! [`Service`] is what it does for those who ask; [`words`] are what they say; [`http`] is the server through which they ask, [`client`]
//! the other end of it, and [`tokens`] tell who they are.

pub mod client;
mod clock;
pub mod host;
pub mod http;
mod keeper;
mod page;
mod prepare;
mod service;
mod store;
pub mod tokens;
pub mod words;

pub use host::Host;
pub use keeper::{Keeper, KeeperOptions};
pub use service::Service;

/// The policy that decides.
pub(crate) const POLICY: &str = "improve";
