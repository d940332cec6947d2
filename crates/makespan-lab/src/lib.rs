//! makespan-lab
