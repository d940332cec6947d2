//! Integration tests of this crate. All tests are in one program, because linking several programs would take longer.

mod cli;
mod crate_directions;
mod file_circles;
mod grid_engine;
mod language;
mod licences;
mod service;
mod slurm;
mod trusted_lines;
