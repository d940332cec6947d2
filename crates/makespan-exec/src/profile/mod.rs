//! Measures a command at several allotments.
//!
//! [`measure`] runs the command; `makespan_history::law` turns the times into speed-up laws. The best law and its sequential
//! time make the entry of a job in an instance file.

mod measure;

pub use measure::{MeasureError, MeasureOptions, MeasureProgress, Measurement, measure};

#[cfg(test)]
mod tests;
