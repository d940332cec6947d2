//! Integration tests of this crate, in one program because several programs would take longer to link.

mod cli;
mod crate_directions;
mod file_circles;
mod language;
mod licences;
mod service;
mod slurm;
