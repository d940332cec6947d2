//! The integration tests of this crate: one program, which links once.

mod cli;
mod crate_directions;
mod file_circles;
mod language;
mod licences;
mod service;
mod slurm;
