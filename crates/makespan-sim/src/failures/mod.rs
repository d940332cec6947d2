//! Failures: given in a list, or drawn from a model while the simulation goes on.

mod error;
mod lifetime;
mod model;
mod outages;
#[cfg(test)]
mod tests;

pub use error::FailureModelError;
pub use lifetime::Lifetime;
pub use model::{FailureModel, FailureUnit};
pub(crate) use outages::{Outages, Turn};
