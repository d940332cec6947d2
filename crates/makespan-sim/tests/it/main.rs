//! The integration tests of this crate: one program, which links once.

mod common;
mod graphs;
mod properties;
mod simulate;
