//! The integration tests of this crate: one program, which links once.

mod common;
mod http;
mod keeper;
mod late;
mod restart;
