//! `makespan wait`

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use makespan_service::client::{Client, ClientError};
use makespan_service::words::{JobNumber, JobSummary, State};
use miette::Result;

use super::{connect, fail};
use crate::args::JobsOptions;
use crate::output::{complain, emit};

/// Time after which a service that cannot be reached is an error.
const AWAY: Duration = Duration::from_mins(10);
/// Interval between two attempts to reach the service.
const AGAIN: Duration = Duration::from_secs(1);

pub fn wait(options: &JobsOptions) -> Result<ExitCode> {
    let client = connect(&options.connection)?;
    let jobs: Vec<JobNumber> = options.jobs.iter().copied().map(JobNumber).collect();
    wait_for(&client, &jobs)
}

/// Waits until all jobs have ended, even if the service restarts. Returns exit status 1 if a job did not succeed.
pub(super) fn wait_for(client: &Client, jobs: &[JobNumber]) -> Result<ExitCode> {
    let mut ends: BTreeMap<JobNumber, Option<State>> = jobs.iter().map(|&job| (job, None)).collect();
    let mut lost: Option<Instant> = None;
    while ends.values().any(Option::is_none) {
        match watched(client, &mut ends) {
            Ok(()) => lost = None,
            Err(error) if error.is_passing() => {
                if lost.is_none() {
                    complain("note: the service does not respond; waiting until it responds");
                }
                if lost.get_or_insert_with(Instant::now).elapsed() > AWAY {
                    return Err(fail(error));
                }
                std::thread::sleep(AGAIN);
            }
            Err(error) => return Err(fail(error)),
        }
    }
    let all = ends.values().all(|&end| end == Some(State::Succeeded));
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Reads the events of the service until all jobs have ended or the stream ends. The stream is opened before the
/// states are requested, so that no end of a job is missed.
fn watched(client: &Client, ends: &mut BTreeMap<JobNumber, Option<State>>) -> Result<(), ClientError> {
    let mut events = client.events(None)?;
    let begun = events.begin();
    begun.map_err(|error| ClientError::Unreachable { url: client.url().to_owned(), message: error.to_string() })?;
    let open: Vec<JobNumber> = ends.iter().filter(|(_, end)| end.is_none()).map(|(&job, _)| job).collect();
    for job in open {
        let summary: JobSummary = client.get(&format!("jobs/{job}"))?;
        ended(ends, job, summary.state);
    }
    while ends.values().any(Option::is_none) {
        // The stream has ended. The caller opens a new stream and requests the states again.
        let Ok(happening) = events.following() else { return Ok(()) };
        if ends.contains_key(&happening.job) {
            ended(ends, happening.job, happening.state);
        }
    }
    Ok(())
}

fn ended(ends: &mut BTreeMap<JobNumber, Option<State>>, job: JobNumber, state: State) {
    let is_new = ends.get(&job) == Some(&None) && state.is_final();
    if is_new {
        ends.insert(job, Some(state));
        // Write errors are ignored, because the exit status also states the result.
        let _ = emit(&format!("job {job} {}\n", state.words()));
    }
}
