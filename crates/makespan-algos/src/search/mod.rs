//! What all searches share: how long they go on, their threads and random numbers, and annealing.
//!
//! A search is a `Neighbourhood`: a present solution that changes, and the best one so far. `anneal` drives it along a
//! `Course`, and a `Portfolio` runs several side by side. What a change is, each kind of instance has for itself.

mod annealing;
mod budget;
mod portfolio;

pub use budget::Budget;

pub(crate) use annealing::{Cooling, Neighbourhood, anneal, heat};
pub(crate) use budget::Course;
pub(crate) use portfolio::Portfolio;
