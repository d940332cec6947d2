//! makespan-algos
