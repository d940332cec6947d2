//! Scheduling of tasks that hold amounts of cumulative resources. Each resource is one pool: equal processors,
//! licences, resources of a single node, and consumables. A list is an order of the tasks with a *mode* (an allotment
//! and its demands) for each task. A scheme turns a list into a schedule.
//!
//! This is the resource-constrained project scheduling problem (RCPSP). If tasks have several modes, it is the
//! multi-mode problem (MRCPSP). See S. Hartmann and D. Briskorn, "An updated survey of variants and extensions of the
//! resource-constrained project scheduling problem", EJOR 297, 2022, DOI 10.1016/j.ejor.2021.05.004. Graphs of
//! moldable tasks on equal processors are a special case.
//!
//! A [`CumulativeProblem`] contains the instance in flat arrays. [`SerialScheme`] inserts tasks into gaps, forward or
//! backward in time. [`ParallelScheme`] starts tasks event by event. Both schemes store the free amounts of all
//! resources of a period in one machine word ([`word`]), and stop early if the caller rejects a partial schedule.

mod free;
mod lagged;
mod make;
mod parallel;
mod problem;
mod schedule;
mod serial;
mod slots;
mod steps;
#[cfg(test)]
pub(crate) mod tests;
pub mod word;

pub use lagged::{LagPaths, LaggedScheme};
pub use parallel::ParallelScheme;
pub use problem::{CumulativeProblem, Mode};
pub use serial::SerialScheme;
