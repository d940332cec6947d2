//! makespan-bounds
