//! makespan-formats

pub mod gantt;
pub mod plot;
pub mod report;
