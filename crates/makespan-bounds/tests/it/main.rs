//! Integration tests of this crate, as one program that links only once.

mod deductions;
mod periodic;
