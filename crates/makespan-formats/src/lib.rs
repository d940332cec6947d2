//! makespan-formats

pub mod gantt;
