//! Measures a command on different numbers of processors.
//!
//! [`measure`] measures the command, and `makespan_history::law` fits speed-up laws to the times. An instance file can
//! state the best law and its sequential time for a job.

mod measure;

pub use measure::{MeasureError, MeasureOptions, MeasureProgress, Measurement, measure};

#[cfg(test)]
mod tests;
