//! Which algorithms are meant for an instance when nobody names one.

pub use makespan_algos::scheduler::STEADY_STATE;

use makespan_core::tree::TreeProblem;
use makespan_core::{Instance, Scheduler};

use makespan_algos::SpecError;

/// The scheduler that a spec names: `demt`, `demt[shuffles=50]` ([`makespan_algos::scheduler()`]).
///
/// # Errors
/// [`SpecError`] names what is unknown and what would be right; of a policy it says that it is one.
pub fn scheduler(spec: &str) -> Result<Box<dyn Scheduler>, SpecError> {
    let is_policy = |name: &str| makespan_algos::policy::policies().iter().any(|entry| entry.name == name);
    let hint = "a policy, for `simulate` and `run --policy`";
    makespan_algos::scheduler(spec).map_err(|error| error.unless(is_policy, hint))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_told_to_be_one() {
        let refused = |spec: &str| scheduler(spec).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(refused("easy").contains("unknown algorithm `easy`; it is a policy"));
        assert!(refused("dmet").contains("did you mean `demt`"));
    }
}
