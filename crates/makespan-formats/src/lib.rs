//! makespan-formats
