//! Integration tests of this crate, in one program, which is faster to link than several.

mod common;
mod http;
mod keeper;
mod late;
mod restart;
