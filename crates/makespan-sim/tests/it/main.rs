//! Integration tests of this crate, as one program that links only once.

mod common;
mod graphs;
mod properties;
mod simulate;
