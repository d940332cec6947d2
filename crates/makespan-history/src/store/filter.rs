//! Which records.

use rusqlite::types::Value;

use super::History;
use crate::HistoryError;

/// Which records are meant: those that fulfil all that is stated. The default means all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The whole command is like this, where `*` stands for any text and `?` for any character.
    pub command: Option<String>,
    /// They ran on this machine.
    pub host: Option<String>,
    /// They ended before this instant, seconds since 1970.
    pub before: Option<i64>,
}

impl Filter {
    /// A condition of SQL, and the values of its parameters.
    pub(super) fn condition(&self) -> (String, Vec<Value>) {
        let mut conditions = vec!["1"];
        let mut values = Vec::new();
        let mut add = |condition: &'static str, value: Option<Value>| {
            if let Some(value) = value {
                conditions.push(condition);
                values.push(value);
            }
        };
        // A bracket is a set of characters to GLOB, and only itself to us.
        let pattern = self.command.as_ref().map(|pattern| pattern.replace('[', "[[]"));
        add("line GLOB ?", pattern.map(Value::from));
        add("host = ?", self.host.clone().map(Value::from));
        add("ended < ?", self.before.map(Value::from));
        (conditions.join(" AND "), values)
    }
}

impl History {
    /// Removes the records that the filter lets through, and commands of which none is left. What they said is overwritten.
    /// Returns how many records were removed.
    ///
    /// # Errors
    /// [`HistoryError`]; then nothing was removed.
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
        // The log still has what was removed, and the file its room. Where another process reads, they go at another time.
        let _ = self.connection.execute_batch("VACUUM");
        let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        Ok(removed as u64)
    }
}
