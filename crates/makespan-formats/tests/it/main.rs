//! Integration tests of this crate, as one program that links only once.

mod fuzz;
mod keys;
mod limits;
mod published_data;
