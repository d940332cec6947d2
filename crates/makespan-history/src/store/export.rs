//! Exports records as a table.

use std::io::Write;

use csv::Writer;

use super::entry::COLUMNS;
use super::{Filter, History, StoredRecord};
use crate::HistoryError;

/// Names of the columns.
const HEADING: [&str; 19] = [
    "id",
    "command",
    "template",
    "folder",
    "host",
    "processors",
    "wall_seconds",
    "cpu_seconds",
    "memory_bytes",
    "outcome",
    "status",
    "ended",
    "input_bytes",
    "explored",
    "pinned",
    "jobs_at_once",
    "memory_kill",
    "reserved_bytes",
    "memory_source",
];

impl History {
    /// Writes the records that match the filter as CSV, from the oldest to the latest. `guard` is applied to each text and
    /// protects spreadsheets from formulas. Times are in seconds, and `ended` is in seconds since 1970. Unknown values are empty.
    ///
    /// # Errors
    /// [`HistoryError`].
    pub fn export(
        &self,
        filter: &Filter,
        guard: &dyn Fn(&str) -> String,
        out: &mut dyn Write,
    ) -> Result<(), HistoryError> {
        let output = |error: csv::Error| HistoryError::Output(error.into());
        let fail = |error| self.error(error);
        let (condition, values) = filter.condition();
        let text = format!(
            "SELECT {COLUMNS} FROM runs JOIN commands ON commands.id = runs.command WHERE {condition} ORDER BY runs.id"
        );
        let mut table = Writer::from_writer(out);
        table.write_record(HEADING).map_err(output)?;
        let mut statement = self.connection.prepare(&text).map_err(fail)?;
        let entries = statement.query_map(rusqlite::params_from_iter(values), StoredRecord::read).map_err(fail)?;
        for entry in entries {
            table.write_record(row(&entry.map_err(fail)?, guard)).map_err(output)?;
        }
        table.flush().map_err(HistoryError::Output)
    }
}

fn row(entry: &StoredRecord, guard: &dyn Fn(&str) -> String) -> [String; 19] {
    let known = |number: Option<i64>| number.map_or(String::new(), |number| number.to_string());
    [
        entry.id.to_string(),
        guard(&entry.line),
        guard(&entry.template),
        guard(&entry.folder),
        guard(&entry.host),
        entry.processors.to_string(),
        seconds(entry.wall),
        entry.cpu.map_or(String::new(), seconds),
        known(entry.memory),
        guard(&entry.ending),
        known(entry.status),
        entry.ended.to_string(),
        known(entry.inputs),
        u8::from(entry.explored).to_string(),
        u8::from(entry.pinned).to_string(),
        entry.at_once.map_or(String::new(), |jobs| format!("{jobs:.2}")),
        u8::from(entry.memory_kill).to_string(),
        known(entry.reserved),
        entry.memory_source().unwrap_or_default(),
    ]
}

/// Formats nanoseconds as seconds, without rounding.
fn seconds(nanoseconds: i64) -> String {
    const SECOND: u64 = 1_000_000_000;
    let (sign, size) = (if nanoseconds < 0 { "-" } else { "" }, nanoseconds.unsigned_abs());
    let text = format!("{sign}{}.{:09}", size / SECOND, size % SECOND);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
