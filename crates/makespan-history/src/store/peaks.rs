//! Reads the peaks of memory that predictions and advice use.

use rusqlite::{Row, ToSql, params};

use super::{Filter, History};
use crate::HistoryError;
use crate::memory::{MemoryRun, MemoryUse};

/// The peak of a run that predictions may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RecalledPeak {
    pub run: MemoryRun,
    /// True if the process ran in the given folder.
    pub in_folder: bool,
}

/// Condition for runs that show the memory of their command. A run that failed for another reason may have used less
/// memory.
const SHOWS_MEMORY: &str = "memory > 0 AND (ending = 'succeeded' OR memory_kill <> 0)";

impl History {
    /// Returns the peaks of the latest runs of the command with this id, from the latest to the earliest.
    pub(crate) fn peaks_of_command(
        &self,
        number: i64,
        folder: &str,
        limit: usize,
    ) -> Result<Vec<RecalledPeak>, HistoryError> {
        let text = format!(
            "SELECT memory, inputs, memory_kill, reserved, folder = ?2 FROM runs WHERE command = ?1 AND {SHOWS_MEMORY} \
             ORDER BY id DESC LIMIT {limit}"
        );
        self.recalled_peaks(&text, number, folder)
    }

    /// Returns the peaks of the latest runs of all commands of a template. `stated` is true for templates that users
    /// stated, and false for templates with holes.
    pub(crate) fn peaks_of_template(
        &self,
        template: &str,
        stated: bool,
        folder: &str,
        limit: usize,
    ) -> Result<Vec<RecalledPeak>, HistoryError> {
        let column = if stated { "stated" } else { "template" };
        let text = format!(
            "SELECT memory, inputs, memory_kill, reserved, folder = ?2 FROM commands \
             JOIN runs ON runs.command = commands.id WHERE {column} = ?1 AND {SHOWS_MEMORY} \
             ORDER BY runs.id DESC LIMIT {limit}"
        );
        self.recalled_peaks(&text, template, folder)
    }

    fn recalled_peaks(&self, text: &str, key: impl ToSql, folder: &str) -> Result<Vec<RecalledPeak>, HistoryError> {
        let read = || {
            let mut statement = self.connection.prepare_cached(text)?;
            let rows = statement.query_map(params![key, folder], recalled)?;
            rows.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()
        };
        read().map_err(|error| self.error(error))
    }

    /// Returns the memory of the ended jobs that match the filter, from the oldest to the latest. The name of a job is
    /// the template of its command. Amounts that were guessed or learned are not treated as stated.
    ///
    /// # Errors
    /// [`HistoryError`].
    pub fn memory_uses(&self, filter: &Filter) -> Result<Vec<MemoryUse>, HistoryError> {
        let read = || {
            let (condition, values) = filter.condition();
            let text = format!(
                "SELECT coalesce(stated, template), memory, reserved, learned_from, wall, memory_kill FROM runs \
                 JOIN commands ON commands.id = runs.command WHERE {condition} AND {SHOWS_MEMORY} ORDER BY runs.id"
            );
            let mut statement = self.connection.prepare(&text)?;
            let uses = statement.query_map(rusqlite::params_from_iter(values), memory_use)?;
            uses.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()
        };
        read().map_err(|error| self.error(error))
    }
}

/// Returns the number in a column, if it is a number that is not negative.
fn amount(row: &Row<'_>, column: usize) -> Result<Option<u64>, rusqlite::Error> {
    Ok(row.get_ref(column)?.as_i64().ok().and_then(|number| u64::try_from(number).ok()))
}

/// Returns the peak that this table row contains, unless the peak is impossible.
fn recalled(row: &Row<'_>) -> Result<Option<RecalledPeak>, rusqlite::Error> {
    let Some(peak) = amount(row, 0)? else { return Ok(None) };
    let is_killed = amount(row, 2)?.unwrap_or(0) != 0;
    let least = amount(row, 3)?.filter(|_| is_killed).unwrap_or(0);
    let run = MemoryRun { peak: peak.max(least), inputs: amount(row, 1)?, is_killed };
    Ok(Some(RecalledPeak { run, in_folder: amount(row, 4)? == Some(1) }))
}

fn memory_use(row: &Row<'_>) -> Result<Option<MemoryUse>, rusqlite::Error> {
    let (Some(peak), Some(wall)) = (amount(row, 1)?, amount(row, 4)?) else { return Ok(None) };
    let (reserved, is_killed) = (amount(row, 2)?, amount(row, 5)?.unwrap_or(0) != 0);
    let is_stated = row.get_ref(3)? == rusqlite::types::ValueRef::Null;
    Ok(Some(MemoryUse {
        user: None,
        name: row.get(0)?,
        stated: reserved.filter(|_| is_stated),
        peak: peak.max(reserved.filter(|_| is_killed).unwrap_or(0)),
        seconds: wall as f64 / 1e9,
        is_killed,
    }))
}
