//! Measures a command at several allotments.
//!
//! [`measure`] measures the command, and `makespan_history::law` fits speed-up laws to the times. The best law and its sequential
//! time can be used for a job in an instance file.

mod measure;

pub use measure::{MeasureError, MeasureOptions, MeasureProgress, Measurement, measure};

#[cfg(test)]
mod tests;
