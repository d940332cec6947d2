//! Computes the period of the length that `--period` states, and the complete periodic schedule.

use std::io;
use std::path::Path;

use makespan_core::tree::{Periodic, validate_network};
use makespan_core::{Instance, Time, validate};
use makespan_formats::CsvNames;
use makespan_formats::tree_plan::write_network_csv;
use miette::{Result, miette};

use super::TreePlan;
use crate::output::write_file;

/// Parses the length that `--period` states.
pub fn length(text: &str) -> Result<Time> {
    let length = Time::parse(text).map_err(|error| miette!("--period {text}: {error}"))?;
    if length > Time::ZERO { Ok(length) } else { Err(miette!("--period {text}: the period must be longer than 0 s")) }
}

/// Returns the best rates in a period of about this length.
pub fn period(found: &TreePlan, length: Time) -> Result<Periodic> {
    Periodic::rounded(&found.problem, &found.state.rates, length).map_err(|error| miette!("--period {length}: {error}"))
}

/// Checks the schedule of all tasks and transfers, and writes it. Returns its end.
pub fn write(path: &Path, instance: &Instance, found: &TreePlan, names: CsvNames) -> Result<Time> {
    let fail = |error: &dyn std::fmt::Display| miette!("--unroll: {error}");
    let period = found.state.period.as_ref().map_err(|error| fail(error))?;
    let network = period.unroll(instance, &found.problem, None).map_err(|error| fail(&error))?;
    let defect =
        |error: String| fail(&format!("the schedule fails its own check, which is a defect of Makespan: {error}"));
    validate(instance, &network.schedule).map_err(|all| defect(first(&all)))?;
    validate_network(instance, &network).map_err(|all| defect(first(&all)))?;
    write_file(path, |out| write_network_csv(instance, &network, names, out).map_err(io::Error::from))?;
    Ok(network.schedule.placements().iter().map(|placement| placement.end).max().unwrap_or_default())
}

fn first(all: &[impl std::fmt::Display]) -> String {
    all.first().map(ToString::to_string).unwrap_or_default()
}
