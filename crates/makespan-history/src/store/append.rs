//! Appends records.

use makespan_core::Time;
use rusqlite::{Error, OptionalExtension, Transaction, TransactionBehavior, params};

use super::History;
use crate::{HistoryError, MemoryRequest, RunRecord};

impl History {
    /// Appends a record.
    ///
    /// # Errors
    /// [`HistoryError`]. On an error, nothing was added.
    pub fn append(&mut self, record: &RunRecord) -> Result<(), HistoryError> {
        self.append_all(std::slice::from_ref(record))
    }

    /// Adds either all records or none.
    ///
    /// # Errors
    /// [`HistoryError`]. On an error, nothing was added.
    pub fn append_all(&mut self, records: &[RunRecord]) -> Result<(), HistoryError> {
        let begun = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let added = begun.and_then(|transaction| {
            records.iter().try_for_each(|record| add(&transaction, record))?;
            transaction.commit()
        });
        added.map_err(|error| HistoryError::of(&self.path, error))
    }
}

fn add(transaction: &Transaction<'_>, record: &RunRecord) -> Result<(), Error> {
    let command = &record.command;
    let words = json(command.words());
    let id = match find(transaction, &words)? {
        Some((id, stated)) => {
            // The latest stated template replaces an earlier one.
            if let Some(template) = command.stated_template().filter(|template| stated.as_deref() != Some(template)) {
                let mut update = transaction.prepare_cached("UPDATE commands SET stated = ?2 WHERE id = ?1")?;
                update.execute(params![id, template])?;
            }
            id
        }
        None => {
            let template = command.template();
            let mut insert = transaction.prepare_cached(
                "INSERT INTO commands (words, line, template, arguments, stated) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            let arguments = json(&template.arguments);
            insert.insert(params![words, command.line(), template.text, arguments, command.stated_template()])?
        }
    };
    let (ending, status) = record.ending.parts();
    let bytes = |bytes: Option<u64>| bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
    let mut insert = transaction.prepare_cached(
        "INSERT INTO runs (command, folder, host, processors, wall, cpu, memory, ending, status, ended, inputs, explored,
         pinned, at_once, memory_kill, reserved, learned_from, attempt)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
    )?;
    insert.execute(params![
        id,
        record.folder,
        record.host,
        record.processors,
        record.wall.ticks(),
        record.cpu.map(Time::ticks),
        bytes(record.memory),
        ending,
        status,
        record.ended,
        bytes(record.inputs),
        record.explored,
        record.pinned,
        record.at_once.filter(|jobs| jobs.is_finite()),
        record.memory_kill,
        bytes(record.reserved.map(|reserved| reserved.bytes)),
        record.reserved.and_then(MemoryRequest::learned_from),
        record.attempt,
    ])?;
    Ok(())
}

/// Returns the id of a command and the template that the user stated for it.
fn find(transaction: &Transaction<'_>, words: &str) -> Result<Option<(i64, Option<String>)>, Error> {
    let mut statement = transaction.prepare_cached("SELECT id, stated FROM commands WHERE words = ?1")?;
    statement.query_row([words], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

/// Returns a list of words as JSON.
pub(super) fn json(words: &[String]) -> String {
    serde_json::Value::from(words).to_string()
}
