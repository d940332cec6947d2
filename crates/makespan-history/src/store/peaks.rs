//! Reads the peaks of memory that predictions and advice use.

use rusqlite::{Row, ToSql, params};
use rustc_hash::FxHashMap;

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
    /// the template of its command. Amounts that were guessed, learned or raised after a kill are not treated as stated.
    /// All attempts at one job are one job.
    ///
    /// # Errors
    /// [`HistoryError`].
    pub fn memory_uses(&self, filter: &Filter) -> Result<Vec<MemoryUse>, HistoryError> {
        let read = || {
            let (condition, values) = filter.condition();
            let text = format!(
                "SELECT coalesce(stated, template), memory, reserved, learned_from, wall, memory_kill, attempt, command, \
                 folder FROM runs JOIN commands ON commands.id = runs.command WHERE {condition} AND {SHOWS_MEMORY} \
                 ORDER BY runs.id"
            );
            let mut statement = self.connection.prepare(&text)?;
            let rows = statement.query_map(rusqlite::params_from_iter(values), attempt)?;
            let attempts = rows.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()?;
            Ok(merged(attempts))
        };
        read().map_err(|error| self.error(error))
    }
}

/// An attempt at a job.
struct MemoryAttempt {
    used: MemoryUse,
    /// Number of the attempt, from 1.
    number: u64,
    /// Id of the command, and the folder.
    work: (i64, String),
}

/// Merges the attempts at each job. A killed attempt and a later attempt at the same command are one job.
fn merged(attempts: Vec<MemoryAttempt>) -> Vec<MemoryUse> {
    let mut jobs: Vec<Option<MemoryUse>> = Vec::with_capacity(attempts.len());
    // Places and numbers of killed attempts without a later attempt.
    let mut open: FxHashMap<(i64, String), Vec<(usize, u64)>> = FxHashMap::default();
    for MemoryAttempt { mut used, number, work } in attempts {
        let places = open.entry(work).or_default();
        let before = places.iter().rposition(|&(_, earlier)| earlier < number).map(|at| places.remove(at).0);
        if let Some(earlier) = before.and_then(|place| jobs[place].take()) {
            used.stated = earlier.stated;
            used.peak = used.peak.max(earlier.peak);
            used.needed = used.needed.max(earlier.peak);
            used.is_killed = true;
        }
        if used.needs_more {
            places.push((jobs.len(), number));
        }
        jobs.push(Some(used));
    }
    jobs.into_iter().flatten().collect()
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

fn attempt(row: &Row<'_>) -> Result<Option<MemoryAttempt>, rusqlite::Error> {
    let (Some(peak), Some(wall)) = (amount(row, 1)?, amount(row, 4)?) else { return Ok(None) };
    let (reserved, is_killed) = (amount(row, 2)?, amount(row, 5)?.unwrap_or(0) != 0);
    let is_stated = row.get_ref(3)? == rusqlite::types::ValueRef::Null;
    let used = MemoryUse {
        user: None,
        name: row.get(0)?,
        stated: reserved.filter(|_| is_stated),
        peak,
        needed: peak.max(reserved.filter(|_| is_killed).unwrap_or(0)),
        seconds: wall as f64 / 1e9,
        is_killed,
        needs_more: is_killed,
    };
    Ok(Some(MemoryAttempt { used, number: amount(row, 6)?.unwrap_or(1), work: (row.get(7)?, row.get(8)?) }))
}
