//! Measures a command at several allotments, and fits speed-up laws to the times.
//!
//! [`measure`] runs the command, [`fit()`] turns the times into laws, best first. The best law and its sequential time
//! make the entry of a job in an instance file.

mod downey;
mod fit;
mod laws;
mod measure;
mod search;

pub use fit::{Fit, Residual, advice, fit};
pub use measure::{MeasureError, MeasureOptions, MeasureProgress, Measurement, measure};

#[cfg(test)]
mod tests;
