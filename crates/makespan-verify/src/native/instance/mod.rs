//! Reads native instances of versions 1 and 2.
//!
//! A native file contains a platform, jobs, and periods in which processors are unavailable. A native file is a JSON or
//! TOML document with the same schema. This crate reads JSON, and `makespan-formats` also reads TOML. An unknown key is
//! an error. The error suggests the nearest known key.

pub mod command;
mod graph;
mod job;
mod penalty;
mod platform;
mod positions;
mod resources;
mod schema;
mod site;
mod submission;
mod times;
mod values;

use makespan_core::{Instance, Job, Platform, Unavailable};
use serde::Deserialize;

use crate::native::document::from_json;
use crate::native::error::{FilePlace, FormatError};
use crate::native::milestones::without;
use positions::Positions;

pub use job::usual_weight;
pub use resources::{AmountOut, PER_PROCESSOR, ResourcesOut};
pub use site::SiteEntry;
pub use submission::SubmissionEntry;

/// Reads a native instance in JSON. `file` is the file name for errors. If the file has no platform, the instance has
/// the platform `machine`.
///
/// # Errors
/// [`FormatError`] with line, column and field.
pub fn read_json(file: &str, bytes: &[u8], machine: Option<&Platform>) -> Result<Instance, FormatError> {
    from_json::<InstanceDocument>(file, bytes)?.instance(file, machine)
}

/// Content of a native file in JSON or TOML. Deserialising the content checks every key and value, but not the
/// relations between values.
#[derive(Deserialize)]
pub struct InstanceDocument(schema::Document);

impl InstanceDocument {
    /// Returns the instance of the document. `file` is the file name for errors. If the document has no platform, the
    /// instance has the platform `machine`.
    ///
    /// # Errors
    /// [`FormatError`] with the field.
    pub fn instance(self, file: &str, machine: Option<&Platform>) -> Result<Instance, FormatError> {
        let Self(mut document) = self;
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
            return Err(FormatError::content(
                file,
                FilePlace::field("jobs"),
                "there are no jobs; give at least one job",
            ));
        }
        joined(file, platform, jobs, unavailable)
    }

    /// Returns the machines of the document, and the times when processors are unavailable, as an instance without
    /// jobs. `file` is the file name for errors.
    ///
    /// # Errors
    /// [`FormatError`] with the field.
    pub fn machines(self, file: &str) -> Result<Instance, FormatError> {
        let (platform, _, unavailable) = parts(file, self.0)?;
        joined(file, platform, Vec::new(), unavailable)
    }
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
        let problem = format!("version {version} is not supported; write 2");
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
    let wrong_jobs = |problem: String| FormatError::content(file, FilePlace::field("jobs"), problem);
    let positions =
        if rows > 0 { Positions::new(&platform, rows, stated).map_err(wrong_jobs)? } else { Positions::default() };
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
    let is_milestone: Vec<bool> = jobs.iter().map(job::JobEntry::is_milestone).collect();
    let mut jobs = jobs.into_iter().enumerate().map(resolved).collect::<Result<Vec<Job>, _>>()?;
    if is_milestone.contains(&true) {
        // This instance checks the names in `after`.
        let whole = joined(file, platform.clone(), jobs.clone(), Vec::new())?;
        jobs = without(&whole, jobs, &is_milestone).map_err(wrong_jobs)?;
    }
    let period = |period: schema::ClosedPeriod| Unavailable {
        processors: period.processors.0,
        start: period.start.0,
        end: period.end.0,
    };
    Ok((platform, jobs, document.unavailable.into_iter().map(period).collect()))
}
