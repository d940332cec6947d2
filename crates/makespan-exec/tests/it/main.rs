//! The integration tests of this crate: one program, which links once.

mod accounting;
mod common;
mod engine;
mod execute;
mod failures;
mod growth;
mod kill;
mod orphans;
mod policy;
