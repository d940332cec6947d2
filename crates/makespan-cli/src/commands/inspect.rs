//! `makespan job` and `makespan logs`, for a job of a service or for a run.

use std::process::ExitCode;

use miette::{Result, miette};

use super::run::{show_job, show_logs};
#[cfg(feature = "service")]
use super::service::{job as job_of_service, logs as logs_of_service};
use crate::args::{Format, JobOptions, JobTarget, LogsOptions};

/// Shows a job of a service, or a job of a run.
pub fn job(options: &JobOptions) -> Result<ExitCode> {
    match (&options.target, &options.job) {
        (JobTarget::Number(number), None) => job_of_service(*number, options),
        (JobTarget::Number(number), Some(job)) => Err(miette!(
            "the first of two arguments must be the folder of a run, but {number} is a number; for job {job} of the run \
             in ./{number}, write: makespan job ./{number} {job}; for a job of the service, write only its number"
        )),
        (JobTarget::Folder(_), _) if options.format == Format::Json => {
            Err(miette!("--format json is only for jobs of a service; remove it for a job of a run"))
        }
        (JobTarget::Folder(folder), job) => show_job(folder, job.as_deref()),
    }
}

/// Prints the output of a job of a service, or the outputs of all jobs of a run.
pub fn logs(options: &LogsOptions) -> Result<ExitCode> {
    match &options.target {
        JobTarget::Number(number) => logs_of_service(*number, options),
        JobTarget::Folder(_) if options.follow || options.task.is_some() => {
            Err(miette!("--follow and --task are only for jobs of a service; remove them for the folder of a run"))
        }
        JobTarget::Folder(folder) => show_logs(folder, options.err),
    }
}

/// Returns an error: this build cannot connect to a service.
#[cfg(not(feature = "service"))]
fn job_of_service(number: u64, _: &JobOptions) -> Result<ExitCode> {
    Err(without_service(number))
}

/// Returns an error: this build cannot connect to a service.
#[cfg(not(feature = "service"))]
fn logs_of_service(number: u64, _: &LogsOptions) -> Result<ExitCode> {
    Err(without_service(number))
}

#[cfg(not(feature = "service"))]
fn without_service(number: u64) -> miette::Report {
    miette!(
        "job {number} of a service needs the feature `service`, but this makespan was built without it; build makespan with the default \
         features, or name the folder of a run, such as ./{number}"
    )
}
