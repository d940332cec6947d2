//! The integration tests of this crate: one program, which links once.

mod fuzz;
mod keys;
mod limits;
mod published_data;
