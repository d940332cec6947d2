//! The laboratory: campaigns of many runs, their statistics, and one module for each paper
//! whose experiments are reproduced.
//!
//! Everything that is drawn follows from a seed: the same seed gives the same bytes whatever the number of threads.

#![warn(missing_docs)]

pub mod campaign;
pub mod critical_jobs;
pub mod demt;
mod error;
pub mod hierarchical;
pub mod mapping;
pub mod optimiser;
pub mod parallel_graphs;
pub mod ptfs;
pub mod rcpsp;
pub mod statistics;
pub mod trees;

pub use error::LabError;
