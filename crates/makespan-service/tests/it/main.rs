//! Integration tests of this crate, as one program that links only once.

mod common;
mod http;
mod keeper;
mod late;
mod restart;
