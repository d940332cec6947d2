//! Which algorithm plans, and how a search is watched and interrupted.

use std::process;

use clap::ValueEnum;
use indicatif::ProgressBar;
use makespan::Wishes;
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
    let wishes = Wishes { algorithm: options.algorithm.clone(), objective, time_limit, makespan_at_most };
    wishes.spec(instance).map_err(|error| miette!("{error}"))
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
