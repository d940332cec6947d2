//! Integration tests of this crate. They are one program, because one program links faster than several.

mod backup;
mod common;
mod damage;
mod http;
mod keeper;
mod late;
mod log;
mod restart;
mod upgrade;
