//! Records out, to be shown.

use rusqlite::Row;

use super::{Filter, History};
use crate::HistoryError;

/// A record as the history has it: nothing is checked, so that odd records can be seen and forgotten.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its number: later records have larger ones.
    pub id: i64,
    /// The command as one would type it.
    pub line: String,
    /// The template that the user wrote, else the command with holes.
    pub template: String,
    /// The folder in which it ran.
    pub folder: String,
    /// The machine.
    pub host: String,
    /// The allotment.
    pub processors: i64,
    /// Nanoseconds from start to end.
    pub wall: i64,
    /// Nanoseconds on processors.
    pub cpu: Option<i64>,
    /// Most bytes of memory at a time.
    pub memory: Option<i64>,
    /// How it ended: `succeeded`, `failed`, `timed-out` or `interrupted`.
    pub ending: String,
    /// Its exit status.
    pub status: Option<i64>,
    /// Seconds since 1970.
    pub ended: i64,
    /// Bytes of the files among its arguments.
    pub inputs: Option<i64>,
    /// Whether it ran to learn how it speeds up.
    pub explored: bool,
    /// True if it was pinned to its processors.
    pub pinned: bool,
    /// Mean number of jobs that ran at once while it ran.
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
    /// The latest records that the filter lets through, at most `limit`, the latest first.
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

    /// How many records the filter lets through.
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
