//! Reads records for display.

use makespan_core::counted;
use rusqlite::Row;

use super::{Filter, History};
use crate::HistoryError;

/// A record as it is stored. Its values are not checked, so that invalid records can be listed and removed.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRecord {
    /// The id of the record. Later records have larger ids.
    pub id: i64,
    /// The command as a user would type it in a shell.
    pub line: String,
    /// The template that the user wrote, or else the command with holes.
    pub template: String,
    /// The working folder of the process.
    pub folder: String,
    /// Name of the machine.
    pub host: String,
    /// Number of processors.
    pub processors: i64,
    /// Time from start to end in nanoseconds.
    pub wall: i64,
    /// CPU time in nanoseconds.
    pub cpu: Option<i64>,
    /// Peak memory in bytes.
    pub memory: Option<i64>,
    /// The outcome: `succeeded`, `failed`, `timed-out` or `interrupted`.
    pub ending: String,
    /// The exit status.
    pub status: Option<i64>,
    /// Instant of the end, in seconds since 1970.
    pub ended: i64,
    /// Size in bytes of the files among the arguments.
    pub inputs: Option<i64>,
    /// True if the run was a trial.
    pub explored: bool,
    /// True if the process was pinned to its processors.
    pub pinned: bool,
    /// Mean number of the run's jobs that ran at the same time.
    pub at_once: Option<f64>,
    /// True if the process was killed for lack of memory.
    pub memory_kill: bool,
    /// Memory in bytes that was reserved for the process.
    pub reserved: Option<i64>,
    /// Number of runs from which the reserved amount was learned, or 0 for a guess. `None` for a stated amount.
    pub learned_from: Option<i64>,
}

pub(super) const COLUMNS: &str = "runs.id, line, coalesce(stated, template), folder, host, processors, wall, cpu, memory, ending, \
                                  status, ended, inputs, explored, pinned, at_once, memory_kill, \
                                  reserved, learned_from";

impl StoredRecord {
    /// Returns the source of the reserved memory in words, or `None` if no memory was reserved.
    pub fn memory_source(&self) -> Option<String> {
        self.reserved?;
        Some(match self.learned_from {
            None => "stated".to_owned(),
            Some(0) => "guessed".to_owned(),
            Some(runs) => format!("learned from {}", counted(runs.unsigned_abs(), "run")),
        })
    }

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
            memory_kill: row.get::<_, i64>(16)? != 0,
            reserved: row.get(17)?,
            learned_from: row.get(18)?,
        })
    }
}

impl History {
    /// Returns up to `limit` of the latest records that match the filter, from the latest to the earliest.
    ///
    /// # Errors
    /// [`HistoryError`].
    pub fn entries(&self, filter: &Filter, limit: usize) -> Result<Vec<StoredRecord>, HistoryError> {
        let read = || {
            let (condition, values) = filter.condition();
            let text = format!(
                "SELECT {COLUMNS} FROM runs JOIN commands ON commands.id = runs.command WHERE {condition} \
                 ORDER BY runs.id DESC LIMIT {limit}"
            );
            let mut statement = self.connection.prepare(&text)?;
            let entries = statement.query_map(rusqlite::params_from_iter(values), StoredRecord::read)?;
            entries.collect::<Result<Vec<_>, _>>()
        };
        read().map_err(|error| self.error(error))
    }

    /// Returns the number of records that match the filter.
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
