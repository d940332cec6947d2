//! Tasks that hold amounts of cumulative resources, each of which is one pool: equal processors, licences, what a single node
//! has, and consumables. Their schedules follow from a list: an order of the tasks and an allotment, or mode, for each.
//!
//! This is the resource-constrained project scheduling problem (RCPSP) and, where tasks have several modes, the multi-mode
//! problem (MRCPSP); see S. Hartmann and D. Briskorn, "An updated survey of variants and extensions of the
//! resource-constrained project scheduling problem", EJOR 297, 2022, DOI 10.1016/j.ejor.2021.05.004. Graphs of moldable tasks on
//! equal processors are a special case.
//!
//! A [`CumulativeProblem`] is the instance in flat arrays. [`SerialScheme`] inserts tasks into gaps, forward or backward in
//! time; [`ParallelScheme`] starts them event by event. Both hold the free amounts of all resources in one machine word
//! ([`word`]) for each period, and stop early when a partial schedule cannot be of use.

mod free;
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

pub use parallel::ParallelScheme;
pub use problem::{CumulativeProblem, Mode};
pub use serial::SerialScheme;
