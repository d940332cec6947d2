//! Fits speed-up laws to measured run times.
//!
//! [`fit()`] fits laws to the times of a command at several allotments, and sorts them from best to worst. `makespan profile`
//! uses it for measured times. [`crate::estimate`] uses [`best`] for the times in the history.

mod downey;
mod fit;
mod laws;
mod search;

pub use fit::{Fit, Residual, Sample, advice, best, fit};

#[cfg(test)]
mod tests;
