//! Integration tests of this crate, in one program, which is faster to link than several.

mod common;
mod graphs;
mod properties;
mod simulate;
