//! The integration tests of this crate: one program, which links once.

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
