//! Integration tests of this crate. A single program links faster than several.

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
