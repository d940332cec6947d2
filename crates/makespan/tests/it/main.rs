//! Integration tests of this crate. They are one program, because one program links faster than several.

mod examples;
mod optimal;
mod threads;
mod unproved;
mod within_nodes;
