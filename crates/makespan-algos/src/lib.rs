//! Scheduling algorithms by technique, and the catalogue that names them.
//!
//! `kernel` holds the mathematics, `scheduler` composes it into offline algorithms, `catalogue` names them by specs
//! such as `demt[shuffles=50]`, and `policy` turns any of them into an online policy.

pub mod catalogue;
pub mod kernel;
pub mod policy;
pub mod scheduler;

pub use catalogue::{Entry, SpecError, catalogue, scheduler};
