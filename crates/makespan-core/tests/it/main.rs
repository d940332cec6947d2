//! The integration tests of this crate: one program, which links once.

mod certificates;
mod rooms;
