//! Integration tests of this crate, in one program, which is faster to link than several.

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
