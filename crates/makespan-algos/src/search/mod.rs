//! The parts that all searches share: budgets, threads, random numbers and annealing. A search is a `Neighbourhood`: it
//! changes a current solution and keeps the best solution found. `anneal` makes steps of the search along a
//! `SearchCourse`. A `Portfolio` runs several searches in parallel. Each kind of instance defines its own changes.

mod annealing;
mod budget;
mod portfolio;

pub use budget::Budget;

pub(crate) use annealing::{Cooling, Neighbourhood, anneal, heat};
pub(crate) use budget::SearchCourse;
pub(crate) use portfolio::Portfolio;
