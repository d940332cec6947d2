//! Integration tests of this crate in a single program, which links faster than several programs.

mod accounting;
mod common;
mod engine;
mod execute;
mod failures;
mod growth;
mod jobserver;
mod jobserver_kills;
mod kill;
mod orphans;
mod pinning;
mod policy;
