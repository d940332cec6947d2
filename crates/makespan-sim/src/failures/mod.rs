//! Failures from a list, or drawn from a model during the simulation.

mod error;
mod lifetime;
mod model;
mod outages;
#[cfg(test)]
mod tests;

pub use error::FailureModelError;
pub use lifetime::Lifetime;
pub use model::{FailureModel, FailureUnit};
pub(crate) use outages::{OutageChange, Outages};
