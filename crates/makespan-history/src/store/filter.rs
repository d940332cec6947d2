//! Filters records.

use rusqlite::types::Value;

use super::History;
use crate::HistoryError;

/// Conditions on records. A record must fulfil all stated conditions. The default filter matches all records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Pattern for the whole command: `*` matches any text and `?` any character.
    pub command: Option<String>,
    /// Name of the machine on which the process ran.
    pub host: Option<String>,
    /// Instant before which the process ended, in seconds since 1970.
    pub before: Option<i64>,
}

impl Filter {
    /// Returns a condition in SQL and the values of its parameters.
    pub(super) fn condition(&self) -> (String, Vec<Value>) {
        let mut conditions = vec!["1"];
        let mut values = Vec::new();
        let mut add = |condition: &'static str, value: Option<Value>| {
            if let Some(value) = value {
                conditions.push(condition);
                values.push(value);
            }
        };
        // GLOB treats a bracket as the start of a character set. In our patterns, a bracket is an ordinary character.
        let pattern = self.command.as_ref().map(|pattern| pattern.replace('[', "[[]"));
        add("line GLOB ?", pattern.map(Value::from));
        add("host = ?", self.host.clone().map(Value::from));
        add("ended < ?", self.before.map(Value::from));
        (conditions.join(" AND "), values)
    }
}

impl History {
    /// Removes the records that match the filter, and commands without any records. If the filter states neither a command
    /// nor a machine, also removes the forecasts of starts that were made before its instant. The removed data are
    /// overwritten in the file. Returns the number of removed records of runs.
    ///
    /// # Errors
    /// [`HistoryError`]. On an error, nothing was removed.
    pub fn forget(&mut self, filter: &Filter) -> Result<u64, HistoryError> {
        self.removed(filter).map_err(|error| HistoryError::of(&self.path, error))
    }

    fn removed(&mut self, filter: &Filter) -> Result<u64, rusqlite::Error> {
        self.connection.pragma_update(None, "secure_delete", "on")?;
        let transaction = self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let (condition, values) = filter.condition();
        let text = format!(
            "DELETE FROM runs WHERE id IN
             (SELECT runs.id FROM runs JOIN commands ON commands.id = runs.command WHERE {condition})"
        );
        let removed = transaction.execute(&text, rusqlite::params_from_iter(values))?;
        // Forecasts of starts have neither a command nor a machine.
        if filter.command.is_none() && filter.host.is_none() {
            let before = filter.before.unwrap_or(i64::MAX);
            transaction.execute("DELETE FROM starts WHERE made < ?1", [before])?;
        }
        transaction.execute("DELETE FROM commands WHERE id NOT IN (SELECT command FROM runs)", [])?;
        transaction.commit()?;
        // The log still contains the removed data, and the file keeps its size. `VACUUM` and the checkpoint remove the
        // data from the log and shrink the file. If another process is reading, a later checkpoint removes the data
        // instead.
        let _ = self.connection.execute_batch("VACUUM");
        let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        Ok(removed as u64)
    }
}
