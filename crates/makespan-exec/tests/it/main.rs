//! Integration tests of this crate, in one program, which is faster to link than several.

mod accounting;
mod common;
mod engine;
mod execute;
mod failures;
mod growth;
mod kill;
mod orphans;
mod pinning;
mod policy;
