//! Integration tests of this crate. They are one program, because one program links faster than several.

mod audit;
mod cluster;
mod commands;
mod doctor;
mod doubts;
mod fair_share;
mod fakes;
mod grid_engine;
mod one_future;
mod queue;
mod random_queue;
mod reading;
mod real;
mod reasons;
mod reserved;
mod rules;
mod told;
