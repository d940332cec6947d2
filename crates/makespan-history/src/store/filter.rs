//! Selects records.

use rusqlite::types::Value;

use super::History;
use crate::HistoryError;

/// Selection of records that match all conditions. The default selects all records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Pattern for the whole command, in which `*` matches any text and `?` matches any character.
    pub command: Option<String>,
    /// Name of the machine.
    pub host: Option<String>,
    /// Upper limit on the end, exclusive, in seconds since 1970.
    pub before: Option<i64>,
}

impl Filter {
    /// Returns an SQL condition and the values of its parameters.
    pub(super) fn condition(&self) -> (String, Vec<Value>) {
        let mut conditions = vec!["1"];
        let mut values = Vec::new();
        let mut add = |condition: &'static str, value: Option<Value>| {
            if let Some(value) = value {
                conditions.push(condition);
                values.push(value);
            }
        };
        // In GLOB, a bracket begins a set of characters. In this filter, a bracket matches itself.
        let pattern = self.command.as_ref().map(|pattern| pattern.replace('[', "[[]"));
        add("line GLOB ?", pattern.map(Value::from));
        add("host = ?", self.host.clone().map(Value::from));
        add("ended < ?", self.before.map(Value::from));
        (conditions.join(" AND "), values)
    }
}

impl History {
    /// Removes the records that match `filter`, and the commands without remaining records. The removed content is
    /// overwritten on disk. Returns the number of removed records.
    ///
    /// # Errors
    /// [`HistoryError`]. In this case nothing is removed.
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
        transaction.execute("DELETE FROM commands WHERE id NOT IN (SELECT command FROM runs)", [])?;
        transaction.commit()?;
        // Removed content may remain in the log, and the file keeps its size. If another process is reading, a later
        // cleanup removes both.
        let _ = self.connection.execute_batch("VACUUM");
        let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        Ok(removed as u64)
    }
}
