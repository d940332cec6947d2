//! Which algorithm plans, and how a search is watched and interrupted.

use std::process;

use clap::ValueEnum;
use indicatif::ProgressBar;
use makespan::{STEADY_STATE, default_algorithm};
use makespan_core::{Instance, Stop};
use miette::{Result, miette};

use crate::args::{PlanOptions, SearchOptions};
use crate::output::{INTERRUPTED, complain};
use crate::progress::clock;

/// The spec of the algorithm: the one asked for, or the default with what it shall look for. On machines that differ
/// that is the makespan, which is what is searched for there, and of graphs of tasks, whose last one is waited for.
pub fn spec(options: &PlanOptions, instance: &Instance) -> String {
    if let Some(algorithm) = &options.algorithm {
        return algorithm.clone();
    }
    let SearchOptions { objective, time_limit, makespan_at_most } = &options.search;
    let objective = objective.and_then(|name| name.to_possible_value()).map(|name| name.get_name().to_owned());
    let mapped = !instance.has_equal_processors() || instance.has_compound_jobs();
    let objective = objective.or_else(|| mapped.then(|| "makespan".to_owned()));
    let parts = [("objective", &objective), ("time-limit", time_limit), ("makespan-at-most", makespan_at_most)];
    let parts: Vec<String> =
        parts.iter().filter_map(|(key, value)| value.as_ref().map(|value| format!("{key}={value}"))).collect();
    let name = default_algorithm(instance);
    if parts.is_empty() || name == STEADY_STATE { name.into() } else { format!("{name}[{}]", parts.join(",")) }
}

/// The first Ctrl-C or SIGTERM lets a search end with the best plan that it has, the second ends the program at once:
/// no file is half written, since each takes its place whole.
pub fn stop_on_signals() -> Result<Stop> {
    let stop = Stop::default();
    let requested = stop.clone();
    let handler = move || {
        if requested.is_requested() {
            process::exit(INTERRUPTED);
        }
        requested.request();
        complain("stopping with the best plan so far; press Ctrl-C again to give up at once");
    };
    ctrlc::set_handler(handler).map_err(|error| miette!("cannot listen for Ctrl-C: {error}"))?;
    Ok(stop)
}

/// How long the search has gone on; on a terminal only.
pub fn watch(spec: &str) -> ProgressBar {
    clock(format!("searching by {spec}; Ctrl-C takes the best plan so far"))
}
