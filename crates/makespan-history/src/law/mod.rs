//! Fits speed-up laws to measured run times.
//!
//! [`fit()`] fits laws to the run times of a command at several allotments, and ranks them from best to worst. `makespan
//! profile` uses it for its measurements. [`crate::estimate`] uses the [`best`] law for the records of the history.

mod downey;
mod fit;
mod laws;
mod search;

pub use fit::{Fit, Residual, Sample, advice, best, fit};

#[cfg(test)]
mod tests;
