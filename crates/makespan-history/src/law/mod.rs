//! Speed-up laws from measured times.
//!
//! [`fit()`] turns the times of a command at several allotments into laws, best first. `makespan profile` gives it what it
//! measured; [`crate::estimate`] asks for the [`best`] of what the history has.

mod downey;
mod fit;
mod laws;
mod search;

pub use fit::{Fit, Residual, Sample, advice, best, fit};

#[cfg(test)]
mod tests;
