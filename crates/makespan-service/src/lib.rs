//! A service that runs jobs for several people: they come at any time, are kept on disk before they are acknowledged, and are run by the
//! policy loop of `run`, on this machine or on Slurm.
//!
//! [`Service`] is what it does for those who ask; [`words`] are what they say; [`http`] is the server through which they ask, [`client`]
//! the other end of it, and [`tokens`] tell who they are.

pub mod client;
pub mod http;
mod page;
mod service;
pub mod tokens;
pub mod words;

pub use service::Service;
