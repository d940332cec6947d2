//! makespan-exec
