//! The shared parts of all searches: budgets, threads, random numbers and annealing.
//!
//! A search is a `Neighbourhood`: a current solution that changes, and the best one so far. `anneal` drives it along a `Course`,
//! and a `Portfolio` runs several in parallel. Each kind of instance defines its own changes.

mod annealing;
mod budget;
mod portfolio;

pub use budget::Budget;

pub(crate) use annealing::{Cooling, Neighbourhood, anneal, heat};
pub(crate) use budget::SearchCourse;
pub(crate) use portfolio::Portfolio;
