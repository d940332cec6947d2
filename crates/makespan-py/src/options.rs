//! Options for reading files.

use std::path::PathBuf;

use makespan::formats::{Estimates, NextflowTrace, ReadOptions, ReplayOptions, SpeedupSpec, parse_bandwidth};
use makespan::{Link, Platform, Time};
use makespan_core::{Resource, Resources};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::{document, errors};

/// Keyword arguments of the package's functions that read files.
#[derive(FromPyObject)]
pub struct Reading<'py> {
    #[pyo3(item)]
    processors: Option<u32>,
    /// Platform as a dict, or None.
    #[pyo3(item)]
    platform: Option<Bound<'py, PyDict>>,
    #[pyo3(item)]
    bandwidth: Option<Bound<'py, PyAny>>,
    #[pyo3(item)]
    storage: Option<String>,
    #[pyo3(item)]
    trace: Option<PathBuf>,
    #[pyo3(item)]
    speedup: Option<String>,
    #[pyo3(item)]
    seed: u64,
    #[pyo3(item)]
    strict: bool,
    #[pyo3(item)]
    estimates: String,
    #[pyo3(item)]
    queues: Vec<u32>,
}

impl Reading<'_> {
    /// Returns the options for reading an instance.
    pub fn of_instance(&self, py: Python<'_>) -> PyResult<ReadOptions> {
        Ok(ReadOptions {
            processors: self.processors,
            platform: self.platform(py)?,
            network: self.network(py)?,
            storage: self.storage.clone(),
            trace: self.trace.as_ref().map(trace_of).transpose()?,
            speedup: self.speedup(py)?,
            seed: self.seed,
            strict: self.strict,
            machine: machine(py)?,
            ..ReadOptions::default()
        })
    }

    /// Returns the options for reading a log.
    pub fn of_log(&self, py: Python<'_>) -> PyResult<ReplayOptions> {
        let estimates = if self.are_unknown() { "clairvoyant" } else { &self.estimates };
        let estimates = estimates.parse::<Estimates>().map_err(|problem| {
            let problem = problem.replace("user or clairvoyant", "user, clairvoyant or unknown");
            errors::at(py, "estimates", problem)
        })?;
        Ok(ReplayOptions {
            processors: self.processors,
            platform: self.platform(py)?,
            network: self.network(py)?,
            storage: self.storage.clone(),
            estimates,
            speedup: self.speedup(py)?,
            seed: self.seed,
            queues: self.queues.clone(),
            strict: self.strict,
            machine: machine(py)?,
            ..ReplayOptions::default()
        })
    }

    /// Returns true if policies see the actual run times, or the same time for every job.
    pub fn is_clairvoyant(&self) -> bool {
        self.are_unknown() || self.estimates == "clairvoyant"
    }

    /// Returns true if policies know no run times. Policies then see the same time for every job.
    pub fn are_unknown(&self) -> bool {
        self.estimates == "unknown"
    }

    fn platform(&self, py: Python<'_>) -> PyResult<Option<Platform>> {
        self.platform.as_ref().map(|stated| platform(py, stated)).transpose()
    }

    fn network(&self, py: Python<'_>) -> PyResult<Option<Link>> {
        let Some(stated) = &self.bandwidth else { return Ok(None) };
        let text = stated.str()?.to_string();
        let bandwidth = parse_bandwidth(&text).map_err(|problem| errors::at(py, "bandwidth", problem))?;
        Ok(Some(Link { bandwidth, latency: Time::ZERO }))
    }

    fn speedup(&self, py: Python<'_>) -> PyResult<Option<SpeedupSpec>> {
        let parsed = self.speedup.as_ref().map(|text| text.parse::<SpeedupSpec>()).transpose();
        parsed.map_err(|error| errors::at(py, "speedup", error))
    }
}

/// Converts a dict to a platform.
///
/// # Errors
/// `InputError` with the invalid field.
pub fn platform(py: Python<'_>, stated: &Bound<'_, PyDict>) -> PyResult<Platform> {
    // The reader requires at least one job, so add a job.
    let text = document::json(stated.as_any())?;
    let text = format!(r#"{{"version":2,"platform":{text},"jobs":[{{"name":"any","time":1}}]}}"#);
    let read = makespan::formats::parse_instance(text.as_bytes(), "platform", &ReadOptions::default());
    Ok(read.map_err(|error| errors::of_document(py, &error))?.instance.platform().clone())
}

/// Reads a trace of Nextflow.
fn trace_of(path: &PathBuf) -> PyResult<NextflowTrace> {
    Ok(NextflowTrace { file: path.display().to_string(), text: std::fs::read_to_string(path)? })
}

/// Returns this machine as a platform, for files without machines.
fn machine(py: Python<'_>) -> PyResult<Option<Platform>> {
    let Ok(cores) = makespan_exec::cores() else { return Ok(None) };
    let memory = makespan_exec::memory().map(|bytes| (Resource::MEMORY.to_owned(), bytes));
    let flat = Platform::flat(cores.len() as u32);
    let machine = match Resources::new(memory) {
        Ok(resources) => flat.and_then(|flat| flat.with_node_resources(&resources)),
        Err(_) => flat,
    };
    machine.map(Some).map_err(|error| errors::input(py, error))
}
