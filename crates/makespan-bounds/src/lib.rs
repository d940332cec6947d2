//! Lower bounds with certificates.
//!
//! A bound is found here with whatever helps, floating point and a cone solver included; what it is worth is decided
//! by its certificate, which `makespan-core` checks in integers. This is the only crate that calls a solver.

pub mod dual;
mod makespan;
mod minsum;

pub use makespan::makespan;
pub use minsum::{Grid, printed_minsum_estimate, weighted_completion, weighted_completion_on};

use makespan_core::{Bound, Instance};

/// The standard bounds, one an objective, in the order of `Objective::ALL`.
pub fn standard(instance: &Instance) -> Vec<Bound> {
    vec![makespan(instance), weighted_completion(instance)]
}
