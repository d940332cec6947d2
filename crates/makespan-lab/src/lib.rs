//! The laboratory: campaigns of many runs, their statistics, and one module for each paper with experiments that this
//! crate repeats.
//!
//! All random numbers follow from a seed. Equal seeds give equal bytes, with any number of threads.

#![warn(missing_docs)]

pub mod campaign;
mod critical_jobs;
mod demt;
mod domains;
mod error;
mod hierarchical;
mod mapping;
mod optimiser;
mod parallel_graphs;
mod ptfs;
mod rcpsp;
mod statistics;
mod strategies;
mod trees;

use error::LabError;
pub use rcpsp::{BoundsOptions, CheckedPage};
