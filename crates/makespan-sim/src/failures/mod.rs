//! Failures: given in a list, or drawn from a model while the simulation goes on.

mod lifetime;
mod model;
mod outages;
#[cfg(test)]
mod tests;

pub use lifetime::Lifetime;
pub use model::{FailureModel, FailureModelError, FailureUnit};
pub(crate) use outages::{Outages, Turn};
