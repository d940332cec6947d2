//! A stored job, as a row of the table of jobs.

use std::collections::BTreeMap;

use rusqlite::{Connection, Error, OptionalExtension, Row};

use crate::words::{JobNumber, JobSummary, State};

/// A stored job.
#[derive(Clone, Debug)]
pub struct JobRow {
    /// The entry of the queue, without expected instants.
    pub summary: JobSummary,
    /// The job as an instance in the native format.
    pub spec: String,
    /// The working directory of the commands.
    pub directory: Option<String>,
    /// Additional environment variables of the commands.
    pub environment: BTreeMap<String, String>,
    /// The earliest start, in seconds since 1970.
    pub begin: Option<f64>,
    /// The reason why the job did not succeed.
    pub reason: Option<String>,
    /// The jobs for which this job waits.
    pub after: Vec<JobNumber>,
}

/// The columns of the entry of a job in the queue.
pub(super) const SUMMARY: &str = "number, name, user, state, submitted, started, ended, processors, weight, priority, deadline, tasks, \
                       succeeded + failed + timed_out + not_started";

/// Returns a column that contains a number of a job, a round or the like.
pub(super) fn number(row: &Row<'_>, at: usize) -> Result<u64, Error> {
    Ok(row.get::<_, i64>(at)? as u64)
}

/// Returns the entry of a job in the queue, from the columns [`SUMMARY`].
pub(super) fn summary(row: &Row<'_>) -> Result<JobSummary, Error> {
    Ok(JobSummary {
        number: JobNumber(number(row, 0)?),
        name: row.get(1)?,
        user: row.get(2)?,
        state: state_of(&row.get::<_, String>(3)?),
        submitted: row.get(4)?,
        expected_start: None,
        expected_end: None,
        longer_than: None,
        behind: None,
        blocked: None,
        started: row.get(5)?,
        ended: row.get(6)?,
        processors: row.get(7)?,
        weight: row.get(8)?,
        priority: row.get(9)?,
        deadline: row.get(10)?,
        tasks: number(row, 11)?,
        tasks_ended: number(row, 12)?,
    })
}

/// Returns a job with its predecessors, or `None` if there is no such job.
pub(super) fn job_row(connection: &Connection, job: JobNumber) -> Result<Option<JobRow>, Error> {
    let sql = format!("SELECT {SUMMARY}, spec, directory, environment, begin, reason FROM jobs WHERE number = ?1");
    let row = connection.prepare_cached(&sql)?.query_row([job.0 as i64], |row| {
        let environment: String = row.get(15)?;
        Ok(JobRow {
            summary: summary(row)?,
            spec: row.get(13)?,
            directory: row.get(14)?,
            environment: serde_json::from_str(&environment).unwrap_or_default(),
            begin: row.get(16)?,
            reason: row.get(17)?,
            after: Vec::new(),
        })
    });
    let Some(row) = row.optional()? else { return Ok(None) };
    let sql = "SELECT before FROM waits WHERE job = ?1 ORDER BY before";
    let mut select = connection.prepare_cached(sql)?;
    let after = select.query_map([job.0 as i64], |row| Ok(JobNumber(number(row, 0)?)))?.collect::<Result<_, _>>()?;
    Ok(Some(JobRow { after, ..row }))
}

/// Returns the state with the given name, or [`State::Failed`] if the name is unknown.
pub(super) fn state_of(name: &str) -> State {
    State::of_name(name).unwrap_or(State::Failed)
}
