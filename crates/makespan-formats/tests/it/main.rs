//! Integration tests of this crate, in one program, which is faster to link than several.

mod fuzz;
mod keys;
mod limits;
mod published_data;
