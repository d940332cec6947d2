//! Integration tests of this crate. All tests are in one program, because linking several programs would take longer.

mod deductions;
mod periodic;
