//! Specs that state all parameters.

use super::{CATALOGUE, Spec, scheduler};
use crate::scheduler::Budget;

/// Returns a spec with all parameters, so that the spec does not depend on defaults or on the machine. `spec` is the
/// name of a scheduler ([`crate::Scheduler::name`]), and `threads` is the number of threads of its searches. The name
/// of a scheduler that is not in the catalogue is returned unchanged. Parameters that the stated parameters make
/// ineffective are omitted. For example, `time-limit` has no effect if `steps` is stated.
pub fn resolved(spec: &str, threads: u32) -> String {
    let Ok(stated) = Spec::parse(spec) else { return spec.to_owned() };
    let Some(entry) = CATALOGUE.iter().find(|entry| entry.name == stated.name()) else { return spec.to_owned() };
    let has = |key: &str| stated.get(key).is_some();
    let is_used = |key: &str| match key {
        "time-limit" => !has("steps"),
        "deadline" => entry.name != "optimise" || stated.get("objective") == Some("cost") && !has("makespan-at-most"),
        _ => true,
    };
    let value = |key: &'static str, default: &'static str| match stated.get(key).unwrap_or(default) {
        "none" => None,
        "auto" if key == "searches" => {
            // Only the kind of the budget matters.
            let budget = if has("steps") { Budget::Steps(1) } else { Budget::Time(std::time::Duration::ZERO) };
            Some(format!("{key}={}", budget.searches(threads)))
        }
        value => is_used(key).then(|| format!("{key}={value}")),
    };
    let parts = entry.parameters.iter().filter_map(|parameter| value(parameter.name, parameter.default));
    let parts: Vec<String> = parts.collect();
    let full = if parts.is_empty() { entry.name.to_owned() } else { format!("{}[{}]", entry.name, parts.join(",")) };
    // A default in words, which no spec can state, leaves the spec as it is.
    if scheduler(&full).is_ok() { full } else { spec.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resolved_spec_states_all_parameters_and_names_the_same_scheduler() {
        let of_steps = "optimise[objective=weighted-completion,steps=9,searches=2]";
        assert_eq!([1, 8].map(|threads| resolved("optimise[steps=9]", threads)), [of_steps; 2]);
        let timed = resolved("optimise[objective=makespan]", 8);
        assert_eq!(timed, "optimise[objective=makespan,time-limit=1s,searches=8]");
        assert!(resolved("optimise[objective=cost,steps=9]", 1).contains("cost,deadline=1.5,steps=9"));
        assert_eq!(resolved("a scheduler of my own", 1), "a scheduler of my own");
        for spec in CATALOGUE.iter().flat_map(|entry| entry.kind.representatives) {
            let full = resolved(spec, 3);
            assert_eq!(resolved(&full, 1), full, "{spec}");
            let without_searches = |text: &str| text.replace(",searches=3", "");
            let name = |spec: &str| scheduler(spec).unwrap().name();
            assert_eq!(name(&without_searches(&full)), name(spec));
        }
    }
}
