//! The integration tests of this crate: one program, which links once.

mod examples;
mod within_nodes;
