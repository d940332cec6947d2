//! Instances from files, with what the user should know about them.

use std::fs;
use std::path::Path;

use makespan_core::{Instance, Link, Platform, Time, Unavailable};
use makespan_formats::simgrid::read_simgrid;
use makespan_formats::{FormatError, ReadInstance, ReadOptions, parse_bandwidth, read_instance, read_platform};
use miette::{Result, miette};

use crate::args::InstanceOptions;

/// An instance and its remarks.
pub struct Loaded {
    pub instance: Instance,
    pub remarks: Vec<String>,
}

/// Reads the instance that the options name.
pub fn load(options: &InstanceOptions) -> Result<Loaded> {
    let InstanceOptions { processors, speedup, speedup_seed, strict, .. } = *options;
    let machines = options.platform.as_deref().map(machines).transpose()?;
    let (platform, closed) = machines.unzip();
    let bandwidth = options.bandwidth.as_deref().map(parse_bandwidth).transpose();
    let bandwidth = bandwidth.map_err(|problem| miette!("--bandwidth: {problem}"))?;
    let network = bandwidth.map(|bandwidth| Link { bandwidth, latency: Time::ZERO });
    let seed = speedup_seed;
    let read = ReadOptions { processors, platform, network, speedup, seed, strict, ..ReadOptions::default() };
    let mut loaded = from_file(read_instance(&options.instance, &read))?;
    if let Some(closed) = closed.filter(|closed| !closed.is_empty()) {
        let (platform, jobs) = (loaded.instance.platform().clone(), loaded.instance.jobs().to_vec());
        loaded.instance = Instance::new(platform, jobs, closed).map_err(|error| miette!("{error}"))?;
    }
    Ok(loaded)
}

/// The machines of a native file, with the times when they are not open, or of a `SimGrid` platform.
fn machines(path: &Path) -> Result<(Platform, Vec<Unavailable>)> {
    let name = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| miette!("{name}: cannot read: {error}"))?;
    if bytes.trim_ascii_start().starts_with(b"<") {
        let platform = read_simgrid(&name, &String::from_utf8_lossy(&bytes)).map_err(|error| miette!("{error}"))?;
        return Ok((platform, Vec::new()));
    }
    let machines = read_platform(path).map_err(|error| miette!("{error}"))?;
    Ok((machines.platform().clone(), machines.unavailable().to_vec()))
}

/// Reads a native instance for `run`.
pub fn load_plain(path: &std::path::Path) -> Result<Loaded> {
    from_file(read_instance(path, &ReadOptions::default()))
}

fn from_file(read: Result<ReadInstance, FormatError>) -> Result<Loaded> {
    let ReadInstance { instance, mut remarks, .. } = read.map_err(|error| miette!("{error}"))?;
    remarks.extend(instance.notes().iter().map(|note| note.describe(&instance)));
    Ok(Loaded { instance, remarks })
}
