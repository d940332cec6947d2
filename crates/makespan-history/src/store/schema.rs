//! The tables, and how older ones become them.

use rusqlite::{Connection, Error, TransactionBehavior};

/// Marks the database as ours in its header: `Mksp`.
pub(super) const APPLICATION: i64 = 0x4d6b_7370;

/// What makes version `k + 1` of version `k`, beginning with an empty database. A step never changes: what becomes different is
/// another step behind it.
pub(super) const STEPS: [&str; 1] = [
    // A command is stored once. Its words are a JSON array; times are nanoseconds, sizes bytes, `ended` seconds since 1970.
    // No value is trusted when it is read (`estimate`), so nothing here refuses one.
    "CREATE TABLE commands (
         id INTEGER PRIMARY KEY,
         words TEXT NOT NULL UNIQUE,
         line TEXT NOT NULL,
         template TEXT NOT NULL,
         arguments TEXT NOT NULL,
         stated TEXT
     ) STRICT;
     CREATE INDEX commands_by_template ON commands (template);
     CREATE INDEX commands_by_stated ON commands (stated) WHERE stated IS NOT NULL;
     CREATE TABLE runs (
         id INTEGER PRIMARY KEY AUTOINCREMENT,
         command INTEGER NOT NULL REFERENCES commands (id),
         folder TEXT NOT NULL,
         host TEXT NOT NULL,
         processors INTEGER NOT NULL,
         wall INTEGER NOT NULL,
         cpu INTEGER,
         memory INTEGER,
         ending TEXT NOT NULL,
         status INTEGER,
         ended INTEGER NOT NULL,
         inputs INTEGER,
         explored INTEGER NOT NULL
     ) STRICT;
     CREATE INDEX runs_by_command ON runs (command);",
];

/// What a database is.
pub(super) enum Kind {
    /// Ours, of this version; 0 where it is empty.
    Ours(i64),
    /// Another program's.
    Foreign,
}

/// Asks a database what it is.
pub(super) fn kind(connection: &Connection) -> Result<Kind, Error> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match application {
        APPLICATION => Kind::Ours(version),
        0 if version == 0 && tables == 0 => Kind::Ours(0),
        _ => Kind::Foreign,
    })
}

/// Takes the steps that are missing, all or none. Of two processes that come at once the second waits, and finds nothing to do.
pub(super) fn migrate(connection: &mut Connection, steps: &[&str]) -> Result<(), Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // What it is may have changed before the lock was ours.
    if let Kind::Ours(version) = kind(&transaction)? {
        for step in steps.iter().skip(usize::try_from(version).unwrap_or(0)) {
            transaction.execute_batch(step)?;
        }
        if version < steps.len() as i64 {
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", steps.len() as i64)?;
        }
    }
    transaction.commit()
}
