//! Which algorithms are meant for an instance when nobody names one.

use makespan_core::Instance;
use makespan_core::tree::TreeProblem;

/// What plans bags of tasks on a tree.
pub const STEADY_STATE: &str = "steady-state";

/// The algorithm that plans an instance by default: the steady state of bags of tasks on a tree, and `optimise` of all else.
pub fn default_algorithm(instance: &Instance) -> &'static str {
    if TreeProblem::is_meant(instance) { STEADY_STATE } else { "optimise" }
}

/// The specs that are compared by default: all of the catalogue, a steady state only where it is meant.
pub fn compared(instance: &Instance) -> Vec<String> {
    let rates = TreeProblem::is_meant(instance);
    let meant = crate::catalogue().iter().filter(|entry| rates || entry.name != STEADY_STATE);
    meant.flat_map(|entry| entry.kind.compared).map(ToString::to_string).collect()
}
