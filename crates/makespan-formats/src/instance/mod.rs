//! The native instance file, version 1, in JSON and TOML.
//!
//! Both languages share one schema (`schema`, `platform`, `job`): a platform, jobs, and periods when processors are
//! unavailable. Unknown keys are errors that name the nearest known key.

mod graph;
#[cfg(test)]
mod graph_tests;
mod job;
mod platform;
mod schema;
#[cfg(test)]
mod tests;
mod write;

use makespan_core::{Instance, Unavailable};

pub use write::{Language, write_instance};

use crate::document::{from_json, from_toml};
use crate::error::{FormatError, Place};

/// Reads a native instance in JSON; `file` names it in errors.
///
/// # Errors
/// [`FormatError`] with line, column and field.
pub fn read_json(file: &str, bytes: &[u8]) -> Result<Instance, FormatError> {
    build(file, from_json(file, bytes)?)
}

/// Reads a native instance in TOML; `file` names it in errors.
///
/// # Errors
/// [`FormatError`] with line, column and field.
pub fn read_toml(file: &str, text: &str) -> Result<Instance, FormatError> {
    build(file, from_toml(file, text)?)
}

fn build(file: &str, document: schema::Document) -> Result<Instance, FormatError> {
    let wrong = |field: &str, problem: &dyn std::fmt::Display| FormatError::content(file, Place::field(field), problem);
    if document.version.0.0 != 1 {
        return Err(wrong("version", &format!("version {} is not known; write 1", document.version.0.0)));
    }
    if document.jobs.is_empty() {
        return Err(wrong("jobs", &"there are no jobs; give at least one"));
    }
    let nodes = document.platform.0.nodes().iter().enumerate();
    let positions: job::Positions<'_> = nodes.map(|(at, node)| (node.name.as_str(), at)).collect();
    let resolved = |(at, job): (usize, job::JobEntry)| {
        job.resolved(&positions).map_err(|problem| wrong(&format!("jobs[{at}].time_on"), &problem))
    };
    let jobs = document.jobs.into_iter().enumerate().map(resolved).collect::<Result<_, _>>()?;
    let period = |period: schema::Period| Unavailable {
        processors: period.processors.0,
        start: period.start.0,
        end: period.end.0,
    };
    let unavailable = document.unavailable.into_iter().map(period).collect();
    Instance::new(document.platform.0, jobs, unavailable)
        .map_err(|error| FormatError::content(file, Place::default(), error))
}
