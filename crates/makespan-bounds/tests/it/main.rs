//! The integration tests of this crate: one program, which links once.

mod deductions;
mod periodic;
