//! makespan
