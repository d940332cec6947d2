//! Selects the planning algorithm, shows the progress of its search, and interrupts it.

use std::process;

use clap::ValueEnum;
use indicatif::ProgressBar;
use makespan::PlanWishes;
use makespan_core::{Instance, Stop};
use miette::{Result, miette};

use crate::args::{PlanOptions, SearchOptions};
use crate::output::{INTERRUPTED, complain};
use crate::progress::clock;

/// Returns the algorithm that the options select, as an algorithm spec.
pub fn spec(options: &PlanOptions, instance: &Instance) -> Result<String> {
    let SearchOptions { objective, time_limit, makespan_at_most } = &options.search;
    let objective = objective.and_then(|name| name.to_possible_value()).map(|name| name.get_name().to_owned());
    let time_limit = time_limit.as_ref().map(|limit| limit.text().to_owned());
    let makespan_at_most = makespan_at_most.clone();
    let wishes = PlanWishes { algorithm: options.algorithm.clone(), objective, time_limit, makespan_at_most };
    wishes.spec(instance).map_err(|error| miette!("{error}"))
}

/// Handles Ctrl-C and SIGTERM. The first signal ends the search with the best plan so far. The second signal ends the
/// program at once. Output files are never incomplete, because each is replaced by a complete temporary file.
pub fn stop_on_signals() -> Result<Stop> {
    let stop = Stop::default();
    let requested = stop.clone();
    let handler = move || {
        if requested.is_requested() {
            process::exit(INTERRUPTED);
        }
        requested.request();
        complain("stopping with the best plan so far; press Ctrl-C again to stop immediately");
    };
    ctrlc::set_handler(handler).map_err(|error| miette!("cannot listen for Ctrl-C: {error}"))?;
    Ok(stop)
}

/// Returns a clock that shows the elapsed time of the search on a terminal.
pub fn watch(spec: &str) -> ProgressBar {
    clock(format!("searching by {spec}; Ctrl-C ends the search with the best plan so far"))
}
