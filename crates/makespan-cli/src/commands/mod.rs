//! The commands, each in its own file.

pub mod agent;
pub mod algorithms;
pub mod bound;
pub mod compare;
pub mod convert;
mod findings;
pub mod generate;
pub mod history;
pub mod inspect;
pub mod plan;
pub mod profile;
pub mod queue;
pub mod report;
pub mod run;
#[cfg(feature = "service")]
pub mod serve;
#[cfg(feature = "service")]
mod serve_check;
#[cfg(feature = "service")]
mod serve_machines;
#[cfg(feature = "service")]
pub mod service;
pub mod setup;
pub mod shards;
pub mod simulate;
pub mod slurm;
#[cfg(feature = "service")]
mod unit;
pub mod verify;
pub mod where_first;
