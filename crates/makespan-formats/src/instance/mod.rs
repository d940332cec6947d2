//! Reads and writes native instance files of versions 1 and 2, in JSON and TOML.
//!
//! Both languages use one schema (modules `schema`, `platform` and `job`): a platform, jobs, and periods in which
//! processors are unavailable. An unknown key is an error. The error suggests the nearest known key.

pub(crate) mod command;
mod detect;
mod graph;
#[cfg(test)]
mod graph_tests;
#[cfg(test)]
mod guess_tests;
mod job;
mod platform;
mod positions;
#[cfg(test)]
mod resource_tests;
mod resources;
mod schema;
mod site;
mod submission;
#[cfg(test)]
mod tests;
mod times;
mod values;
mod write;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use makespan_core::{Instance, Job, Platform, Unavailable};

pub(crate) use detect::{foreign_json, is_json};
pub use write::{Language, write_instance};

use crate::document::{from_json, from_toml};
use crate::encoding::{DecodedText, decoded};
use crate::error::{FilePlace, FormatError};
use crate::input::open;
use crate::simgrid::{SimgridPlatform, read_simgrid};
use positions::Positions;

/// Reads a native instance in JSON. `file` is the file name for errors. If the file has no platform, the instance has
/// the platform `machine`.
///
/// # Errors
/// [`FormatError`] with line, column and field.
pub fn read_json(file: &str, bytes: &[u8], machine: Option<&Platform>) -> Result<Instance, FormatError> {
    build(file, from_json(file, bytes)?, machine)
}

/// Reads a native instance in TOML. `file` is the file name for errors. If the file has no platform, the instance has
/// the platform `machine`.
///
/// # Errors
/// [`FormatError`] with line, column and field.
pub fn read_toml(file: &str, text: &str, machine: Option<&Platform>) -> Result<Instance, FormatError> {
    build(file, from_toml(file, text)?, machine)
}

fn build(file: &str, mut document: schema::Document, machine: Option<&Platform>) -> Result<Instance, FormatError> {
    if document.platform.is_none() {
        document.platform = machine.cloned().map(platform::PlatformEntry);
    }
    if document.jobs.is_none() {
        return Err(FormatError::content(
            file,
            FilePlace::default(),
            "the key `jobs` is missing; give at least one job",
        ));
    }
    let (platform, jobs, unavailable) = parts(file, document)?;
    if jobs.is_empty() {
        return Err(FormatError::content(file, FilePlace::field("jobs"), "there are no jobs; give at least one"));
    }
    joined(file, platform, jobs, unavailable)
}

/// Machines that were read from a file.
#[derive(Clone, Debug)]
pub struct ReadMachines {
    /// The machines, and the times when processors are unavailable, as an instance without jobs.
    pub instance: Instance,
    /// Warnings about parts of the file that were ignored or changed.
    pub remarks: Vec<String>,
    /// Reason why the network of the file was ignored. `None` if the network was used, or if the file has no network.
    /// The text begins with the file name. Without a network, jobs cannot send data.
    pub lost_network: Option<String>,
    /// Number of floating-point operations in a unit of work, if the file states speeds in operations per second.
    pub unit_flops: Option<f64>,
}

/// Number of floating-point operations in a unit of work, on platforms of `SimGrid`.
const SIMGRID_UNIT: f64 = 1e6;

/// Reads only the machines of a file. The file is a native instance or a platform of `SimGrid`, and may be compressed.
/// The jobs of a native instance are omitted. With `strict`, a part of the file that would be ignored or changed is an
/// error.
///
/// # Errors
/// [`FormatError`] with line, column and field.
pub fn read_machines(path: &Path, strict: bool) -> Result<ReadMachines, FormatError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|source| FormatError::io(&name, "open", source))?;
    machines_of(file, &name, strict)
}

/// Reads machines from the bytes of a file, in the same way as [`read_machines`].
///
/// # Errors
/// The errors of [`read_machines`].
pub fn parse_machines(bytes: &[u8], file_name: &str, strict: bool) -> Result<ReadMachines, FormatError> {
    machines_of(bytes, file_name, strict)
}

fn machines_of(raw: impl Read, name: &str, strict: bool) -> Result<ReadMachines, FormatError> {
    let mut bytes = Vec::new();
    let mut input = open(raw, crate::input::MAX_BYTES).map_err(|source| FormatError::io(name, "read", source))?;
    input.read_to_end(&mut bytes).map_err(|source| FormatError::io(name, "read", source))?;
    if bytes.trim_ascii_start().first() == Some(&b'<') {
        return simgrid_machines(bytes, name, strict);
    }
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| FormatError::content(name, FilePlace::default(), "the text is not UTF-8"))?;
    let document = match text.trim_ascii_start().as_bytes().first() {
        Some(b'{') => from_json(name, &bytes)?,
        _ => from_toml(name, text)?,
    };
    let (platform, _, unavailable) = parts(name, document)?;
    let instance = joined(name, platform, Vec::new(), unavailable)?;
    Ok(ReadMachines { instance, remarks: Vec::new(), lost_network: None, unit_flops: None })
}

/// Reads the machines of a platform file of `SimGrid`. The file need not be UTF-8.
fn simgrid_machines(bytes: Vec<u8>, name: &str, strict: bool) -> Result<ReadMachines, FormatError> {
    let DecodedText { text, remark } = decoded(bytes);
    let SimgridPlatform { platform, remarks, lost } = read_simgrid(name, &text)?;
    let remarks: Vec<String> = remark.into_iter().chain(remarks).collect();
    if let Some(remark) = remarks.first().filter(|_| strict) {
        return Err(FormatError::content(
            name,
            FilePlace::default(),
            format!("{remark}; --strict does not allow this"),
        ));
    }
    let instance = joined(name, platform, Vec::new(), Vec::new())?;
    let lost_network = lost.map(|lost| format!("{name}: {lost}"));
    Ok(ReadMachines { instance, remarks, lost_network, unit_flops: Some(SIMGRID_UNIT) })
}

/// Reads the machines of a file in the same way as [`read_machines`], but discards the warnings.
///
/// # Errors
/// The errors of [`read_machines`].
pub fn read_platform(path: &Path) -> Result<Instance, FormatError> {
    read_machines(path, false).map(|machines| machines.instance)
}

fn joined(
    file: &str,
    platform: Platform,
    jobs: Vec<Job>,
    unavailable: Vec<Unavailable>,
) -> Result<Instance, FormatError> {
    Instance::new(platform, jobs, unavailable).map_err(|error| FormatError::content(file, FilePlace::default(), error))
}

type Parts = (Platform, Vec<Job>, Vec<Unavailable>);

fn parts(file: &str, document: schema::Document) -> Result<Parts, FormatError> {
    let version = document.version.0.0;
    if !(1..=2).contains(&version) {
        let problem = format!("version {version} is not known; write 2");
        return Err(FormatError::content(file, FilePlace::field("version"), problem));
    }
    let Some(platform::PlatformEntry(platform)) = document.platform else {
        return Err(FormatError::content(
            file,
            FilePlace::default(),
            "the key `platform` is missing; state the machines",
        ));
    };
    let jobs = document.jobs.map_or_else(Vec::new, |jobs| jobs.0);
    let (rows, stated) =
        jobs.iter().flat_map(job::JobEntry::rows).fold((0, 0), |(rows, all), row| (rows + 1, all + row));
    let too_many = |problem: String| FormatError::content(file, FilePlace::field("jobs"), problem);
    let positions =
        if rows > 0 { Positions::new(&platform, rows, stated).map_err(too_many)? } else { Positions::default() };
    let resolved = |(at, mut job): (usize, job::JobEntry)| {
        let wrong = |key: &str| {
            let place = FilePlace::field(format!("jobs[{at}].{key}"));
            |problem: String| FormatError::content(file, place, problem)
        };
        if version == 1 {
            job = job.of_version_1().map_err(wrong("walltime"))?;
        }
        job.resolved(&positions).map_err(wrong("time_on"))
    };
    let jobs = jobs.into_iter().enumerate().map(resolved).collect::<Result<_, _>>()?;
    let period = |period: schema::ClosedPeriod| Unavailable {
        processors: period.processors.0,
        start: period.start.0,
        end: period.end.0,
    };
    Ok((platform, jobs, document.unavailable.into_iter().map(period).collect()))
}
