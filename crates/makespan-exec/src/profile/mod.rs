//! Measures a command at several allotments.
//!
//! [`measure`] runs the command, and `makespan_history::law` fits speed-up laws to the times. The best law with its
//! sequential time can be written into an instance file.

mod measure;

pub use measure::{MeasureError, MeasureOptions, MeasureProgress, Measurement, measure};

#[cfg(test)]
mod tests;
