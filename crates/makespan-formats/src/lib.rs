//! makespan-formats

pub mod gantt;
pub mod report;
