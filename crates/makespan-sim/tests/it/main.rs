//! Integration tests of this crate. They form a single program, because linking several programs would take longer.

mod common;
mod graphs;
mod properties;
mod simulate;
