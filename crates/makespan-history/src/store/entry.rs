//! Reads records for display.

use rusqlite::Row;

use super::{Filter, History};
use crate::HistoryError;

/// A record as the database stores it. Its values are not checked, so that users can see and remove
/// invalid records.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Number of the record. Later records have larger numbers.
    pub id: i64,
    /// Command as a user would type it.
    pub line: String,
    /// Template that the user wrote, or else the command with holes.
    pub template: String,
    /// Working folder of the process.
    pub folder: String,
    /// Name of the machine.
    pub host: String,
    /// Number of processors.
    pub processors: i64,
    /// Time from start to end, in nanoseconds.
    pub wall: i64,
    /// CPU time in nanoseconds.
    pub cpu: Option<i64>,
    /// Peak memory in bytes.
    pub memory: Option<i64>,
    /// Outcome: `succeeded`, `failed`, `timed-out` or `interrupted`.
    pub ending: String,
    /// Exit status.
    pub status: Option<i64>,
    /// End, in seconds since 1970.
    pub ended: i64,
    /// Total size of the input files in bytes.
    pub inputs: Option<i64>,
    /// True if the run was a trial to learn a speed-up.
    pub explored: bool,
    /// True if the process was pinned to its processors.
    pub pinned: bool,
    /// Mean number of jobs that ran at the same time.
    pub at_once: Option<f64>,
}

pub(super) const COLUMNS: &str = "runs.id, line, coalesce(stated, template), folder, host, processors, wall, cpu, memory, ending, \
                                  status, ended, inputs, explored, pinned, at_once";

impl Entry {
    pub(super) fn read(row: &Row<'_>) -> Result<Self, rusqlite::Error> {
        Ok(Self {
            id: row.get(0)?,
            line: row.get(1)?,
            template: row.get(2)?,
            folder: row.get(3)?,
            host: row.get(4)?,
            processors: row.get(5)?,
            wall: row.get(6)?,
            cpu: row.get(7)?,
            memory: row.get(8)?,
            ending: row.get(9)?,
            status: row.get(10)?,
            ended: row.get(11)?,
            inputs: row.get(12)?,
            explored: row.get::<_, i64>(13)? != 0,
            pinned: row.get::<_, i64>(14)? != 0,
            at_once: row.get(15)?,
        })
    }
}

impl History {
    /// Returns up to `limit` records that match `filter`, from latest to earliest.
    ///
    /// # Errors
    /// [`HistoryError`].
    pub fn entries(&self, filter: &Filter, limit: usize) -> Result<Vec<Entry>, HistoryError> {
        let read = || {
            let (condition, values) = filter.condition();
            let text = format!(
                "SELECT {COLUMNS} FROM runs JOIN commands ON commands.id = runs.command WHERE {condition} \
                 ORDER BY runs.id DESC LIMIT {limit}"
            );
            let mut statement = self.connection.prepare(&text)?;
            let entries = statement.query_map(rusqlite::params_from_iter(values), Entry::read)?;
            entries.collect::<Result<Vec<_>, _>>()
        };
        read().map_err(|error| self.error(error))
    }

    /// Returns the number of records that match `filter`.
    ///
    /// # Errors
    /// [`HistoryError`].
    pub fn count(&self, filter: &Filter) -> Result<u64, HistoryError> {
        let (condition, values) = filter.condition();
        let text = format!("SELECT count(*) FROM runs JOIN commands ON commands.id = runs.command WHERE {condition}");
        let count = self.connection.query_row(&text, rusqlite::params_from_iter(values), |row| row.get::<_, i64>(0));
        count.map(i64::unsigned_abs).map_err(|error| self.error(error))
    }
}
