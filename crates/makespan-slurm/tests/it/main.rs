//! Integration tests of this crate, as one program that links only once.

mod cluster;
mod commands;
mod doctor;
mod doubts;
mod fakes;
mod queue;
mod reading;
mod real;
mod rules;
mod told;
