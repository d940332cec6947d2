//! Integration tests of this crate, as one program that links only once.

mod cli;
mod crate_directions;
mod file_circles;
mod language;
mod licences;
mod service;
mod slurm;
