//! Integration tests of this crate. They are one program, because one program links faster than several.

mod common;
mod graphs;
mod properties;
mod simulate;
