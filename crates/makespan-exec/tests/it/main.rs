//! Integration tests of this crate, as one program that links only once.

mod accounting;
mod common;
mod engine;
mod execute;
mod failures;
mod growth;
mod kill;
mod orphans;
mod policy;
