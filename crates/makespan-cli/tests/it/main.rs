//! Integration tests of this crate, in one program, which is faster to link than several.

mod cli;
mod crate_directions;
mod file_circles;
mod language;
mod licences;
mod service;
mod slurm;
